// swift-format-ignore-file
// Made by scripts/make-page from clients/. Do not edit.

extension PageFile {
    /// The inspector and the JavaScript client.
    static let all: [PageFile] = [
        PageFile("copy.js", ###"""
// Texts to paste elsewhere: a Swift test, commands, a patch.
import { element, json } from './format.js'
import { Cut } from './statecast.js'

/** Writes to the clipboard, which browsers offer in secure contexts only. */
export async function write(text) {
  try { return await navigator.clipboard.writeText(text) } catch { /* The older way follows. */ }
  const area = document.body.appendChild(element('textarea', { class: 'sr', 'aria-hidden': true }))
  area.value = text; area.select()
  document.execCommand('copy'); area.remove()
}

const quoted = text => /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Commands that show a revision, on the machine with the journal. */
export const journalCommands = (journal, at) =>
  [`statecast-journal state ${quoted(journal)} --at ${at}`, `statecast-journal actions ${quoted(journal)} --to ${at}`]
export const replicaCommand = (store, path) => `statecast-replica --store ${quoted(store)} --select ${quoted(path)}`
export const sendCommand = (store, row) => `statecast-send --store ${[store, row.action, json(row.payload)].map(quoted).join(' ')}`
export const curl = (store, route) =>
  `curl -H "Authorization: Bearer $TOKEN" ${quoted(String(new URL(`v1/stores/${encodeURIComponent(store)}/${route}`, location.href)))}`

/** The whole patch, up to 10,000 operations. */
export async function jsonPatch(app, range) {
  const patch = []
  let after = null
  do {
    const answer = await app.get('diff', { ...range, limit: 1000, whole: true, after })
    patch.push(...answer.patch.map(({ op, path, value }) => op === 'remove' ? { op, path } : { op, path, value }))
    const large = answer.patch.find(({ value }) => value instanceof Cut)
    if (large) throw Error(`The value at ${large.path} is too large: use statecast-journal diff`)
    after = answer.next
  } while (after !== null && patch.length < 10_000)
  if (after !== null) throw Error('The patch has more than 10,000 operations: use statecast-journal diff')
  return json(patch, '', '  ')
}

/** A test of the actions of one batch, with the states before and after it from the journal. */
export function swiftTest(store, journal, actions) {
  const [{ batch, status }] = actions, names = [...new Set(actions.map(each => each.action))].join(', ')
  const type = store.replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => next?.toUpperCase() ?? '').replace(/^./, first => first.toUpperCase())
  const literal = text => {
    const marks = '#'.repeat(1 + Math.max(0, ...(text.match(/"#*/g) ?? []).map(match => match.length - 1)))
    return `${marks}"${text}"${marks}`
  }
  const step = ({ action, payload, time, session, user }) => `        .at(Timestamp(milliseconds: ${time}))
        .from(session: ${session ? `"${session}"` : 'nil'}, user: ${user ? literal(user) : 'nil'})
        .when(decoded(${action}.self, ${literal(json(payload))}))`
  return `// The states, from the journal of the store ${store}:
//   statecast-journal state ${quoted(journal)} --at ${batch.from} > before.json
//   statecast-journal state ${quoted(journal)} --at ${batch.to} > after.json
import Foundation
import StatecastCore
import StatecastTesting
import Testing

@Test func \`${names} ${status === 'rejected' ? 'is rejected at' : 'leads to'} revision ${batch.to}\`() throws {
    struct Saved: Decodable { let state: ${type} }
    func state(_ file: String) throws -> ${type} {
        try JSONDecoder().decode(Saved.self, from: Data(contentsOf: URL(filePath: file))).state
    }
    func decoded<A: Decodable>(_ type: A.Type, _ json: String) throws -> A {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }
    try ReducerSpec(${type}.reducer)
        .given(state("before.json"))
        .ignoringEffects()
${actions.map(step).join('\n')}
        .then(state("after.json"))
}
`
}
"""###),
        PageFile("detail.js", ###"""
// The panes Change and Blame: what an action changed, and which actions changed a path.
import { url, view } from './view.js'
import * as format from './format.js'
import { curl, jsonPatch, sendCommand, swiftTest } from './copy.js'

const { $, button, child, clock, duration, element, group, json, keysOf, note, pairs, preview, printable, section } = format
const ROWS = 80, PAUSE = 1000

export class Detail {
  constructor(app) { this.app = app }
  reset() { this.key = null }
  /** Shows the pane that the view names. It asks the gateway only if the pane shows something else than before. */
  refresh() {
    for (const tab of document.querySelectorAll('[data-pane]')) tab.setAttribute('aria-selected', tab.dataset.pane === view.pane)
    if (!this.app.store) return
    const id = view.selected ?? this.app.log.newest(), now = performance.now()
    const subject = { change: [id, view.span, view.span === 'live' && view.at], blame: [view.path, view.at], send: [] }[view.pane]
    const key = [view.pane, ...subject].join(), isNewest = view.pane === 'change' && !view.selected && this.key?.startsWith('change')
    if (key === this.key || (isNewest && now - this.drawnAt < PAUSE)) return
    Object.assign(this, { key, drawnAt: now })
    const make = { change: () => this.change(id), blame: () => this.blame(), send: () => this.app.send.content() }[view.pane]
    this.draw(view.pane === 'send' || this.app.has('history') ? make : () => this.noJournal())
  }
  noJournal() { return section(null, note(`Actions, changes and earlier revisions are not known: ${this.app.noHistory}`)) }
  /** Shows what `make` returns, or its error, unless the view has moved on. */
  async draw(make) {
    const { key } = this
    let content
    try { content = await make() } catch (error) {
      const again = button('Try again', () => { this.reset(); this.refresh() })
      const oldest = error.oldest != null && button(`Go to revision ${group(error.oldest)}`, () => this.app.go(error.oldest))
      content = section(null, note(error.message, 'error'), oldest || again)
    }
    if (key === this.key) $('detail').replaceChildren(...[content].flat())
  }
  async change(id) {
    if (!id) return section(null, note('Select an action to see what it changed.'))
    const [row] = (await this.app.get('actions', { id })).actions
    const isLive = view.span === 'live' && view.at != null, range = isLive ? { from: view.at } : row.batch
    const isEmpty = range.from === range.to
    const diff = isEmpty ? { ...range, patch: [], next: null } : await this.app.get('diff', { ...range, limit: ROWS })
    return [this.action(row), this.difference(row, diff, isLive), this.copies(row, diff)]
  }
  action(row) {
    const ids = this.app.log.batchOf(row.id), { rows } = this.app.log, delay = rows.delay[rows.find(row.id)]
    const place = ids.length > 1 ? `${ids.indexOf(row.id) + 1} of ${ids.length} in its batch` : 'alone in its batch'
    const isRejected = row.status === 'rejected'
    const outcome = isRejected ? [element('span', { class: 'red' }, `rejected ${row.code}`), element('br'), printable(row.message ?? '')]
      : row.status && `applied, revision ${group(row.revision)}`
    const { session, number } = row, user = session && printable(row.user ?? 'no user')
    const origin = session && element('span', { title: session }, `session ${session.slice(0, 8)}…, number ${group(number)}`)
    const payload = row.cut ? `${format.bytes(row.cut)}, which the gateway does not send whole` : json(row.payload ?? null, '', '  ')
    const arrival = delay >= 0 ? `, here ${duration(delay)} later` : ''
    return section([printable(row.action ?? row.kind ?? '(not decoded)'), element('span', { class: 'dim' }, place)],
      pairs([['outcome', outcome], ['from', origin], ['user', user], ['recorded', format.instant(row.time) + arrival]]),
      row.action !== null && element('pre', { tabindex: 0, 'aria-label': 'Payload' }, payload.split('\n').map(printable).join('\n')))
  }
  difference(row, { from, to, patch, next }, isLive) {
    const choose = (span, text, disabled) => element('button', { 'aria-pressed': view.span === span, disabled,
      title: disabled ? 'Go to a revision first' : null, onclick: () => { view.span = span; this.app.refresh() } }, text)
    const widths = element('colgroup', {}, ['path', '', 'sign', ''].map(name => element('col', { class: name })))
    const table = element('table', { class: 'diff' }, widths), count = this.app.log.batchOf(row.id).length
    const shown = (value, limit) => value !== undefined && preview(value, limit)
    const cell = (kind, value) => element('td', { class: kind, title: shown(value, 500) }, shown(value, 60))
    let above = null
    for (const { op, path, old, value } of patch) {
      const keys = keysOf(path), depth = Math.min(2, keys.length - 1), head = keys.slice(0, depth).reduce(child, '')
      if (head !== above) table.append(element('tr', { class: 'p' }, element('th', { colspan: 4 }, printable(head || '/'))))
      above = head
      const name = printable(keys.slice(depth).join('/') || '(the whole state)'), sign = { add: '+', remove: '−', replace: '→' }[op]
      table.append(element('tr', {}, element('td', { title: name }, name), cell('old', old),
        element('td', { class: 'ar', title: op }, sign), cell('new', value)))
    }
    const spans = element('span', { class: 'seg' }, choose('batch', 'batch', false), choose('live', 'to live', view.at == null))
    return section(['Change', element('span', { class: 'dim grow' }, `${group(from)} → ${group(to)}`), spans],
      patch.length ? table : note('Nothing changed.'), next && note(`Only the first ${group(patch.length)} are shown.`),
      count > 1 && !isLive && note(`This is the change of the whole batch of ${count}: the journal has no state in between.`))
  }
  copies(row, { from, to, patch }) {
    const { app, key } = this, copy = (name, make) => button(name, () => { hold(); app.copying(make, name) })
    // The pane stays at this action: between pressing a button and releasing it, too.
    const hold = () => { this.key = key; Object.assign(view, { selected: row.id, follow: false }); app.refresh() }
    const place = () => ({ at: row.batch.to, selected: row.id, path: view.path || patch.find(each => each.op !== 'remove')?.path })
    const link = () => new URL(url(place()), location.href).href
    // The actions that make the state after the batch, and the shown one: others that were rejected may not be decodable.
    const batch = async () => {
      const { from, to } = row.batch
      if (from === to) return [row]
      const isPart = ({ batch, status, id }) => batch.from === from && batch.to === to && (status === 'applied' || id === row.id)
      const all = (await app.get('actions', { at: to, limit: 500 })).actions.filter(isPart).reverse()
      if (all.filter(({ status }) => status === 'applied').length < to - from) throw Error('The batch has too many actions: use statecast-journal actions')
      for (const [index, { cut, id }] of all.entries()) if (cut) [all[index]] = (await app.get('actions', { id })).actions
      return all
    }
    return section('Copy as', element('div', { class: 'copy', onpointerdown: hold },
      row.action && copy('Swift test', async () => swiftTest(view.store, app.journal, await batch())),
      row.action && copy('statecast-send', () => sendCommand(view.store, row)), copy('JSON Patch', () => jsonPatch(app, { from, to })),
      copy('curl', () => curl(view.store, `diff?from=${from}&to=${to}`)), copy('link', link),
      row.session && copy('session', () => row.session)))
  }
  async blame() {
    const where = pairs([['path', printable(view.path || '/')], ['at', view.at == null ? 'live' : `revision ${group(view.at)}`]])
    const rows = element('tbody'), text = note(''), more = element('div'), query = { path: view.path, limit: 10, at: view.at }
    let isExact = true
    const extend = async before => {
      const { changes, searchedTo, boundary, complete, next } = await this.app.get('blame', { ...query, before })
      rows.append(...changes.map(change => this.changed(change)))
      // Fails with a sentence if the state does not have the path.
      if (!rows.children.length && view.at == null) await this.app.get('state', { path: view.path, limit: 1 })
      const first = { initial: 'the state with which the store began', snapshot: 'the oldest kept snapshot', restored: 'a restored state' }
      const end = next && !complete ? `Searched back to revision ${group(searchedTo)}.`
        : `The whole kept history was searched${first[boundary] ? `; before it is ${first[boundary]}` : ''}.`
      isExact &&= changes.every(each => each.exact || !each.actions.length)
      text.textContent = `${rows.children.length ? 'Newest first.' : 'No change was found.'} ${end}`
        + (isExact ? '' : ' “1 of 3”: the batch has three actions, and the journal does not tell which of them made the change.')
      const failed = error => more.replaceChildren(note(error.message, 'error'), further)
      const further = button('Search further back', () => extend(next).catch(failed))
      more.replaceChildren(...next ? [further] : [])
    }
    await extend()
    const column = name => element(name ? 'th' : 'td', { scope: name && 'col' }, name)
    const head = element('tr', {}, ['revision', 'time', 'action', 'from', 'value', ''].map(column))
    const table = element('table', { class: 'blame' }, element('thead', {}, head), rows)
    return [section('What last changed this', where), section(null, table, text, more),
      section(null, button('Show its actions in the log', () => this.app.showActions(view.path)))]
  }
  changed({ revision, batch, time, kind, value, summary, actions, exact }) {
    const [first] = actions, go = () => { view.pane = 'change'; this.app.go(batch.to, first?.id) }
    const all = actions.map(each => `${each.session ?? each.kind} ${each.action} ${json(each.payload ?? null)}`).join('\n').slice(0, 2000)
    const shown = kind === 'removed' ? kind : summary ?? preview(value, 40), verb = shown === format.UNKNOWN ? 'changed' : 'set'
    const remarks = [!exact && (actions.length ? `1 of ${group(batch.to - batch.from)}` : 'no action'),
      kind === 'replaced-above' && verb + ' with a part that contains it'].filter(Boolean).join(', ')
    const cells = [group(revision), clock(time).slice(0, 8), first?.action ?? first?.kind ?? kind,
      first?.user ?? first?.session?.slice(0, 8) ?? '', shown, remarks]
    return element('tr', { tabindex: 0, title: all, onclick: go, onkeydown: event => { if (event.key === 'Enter') go() } },
      cells.map((text, index) => element('td', { class: ['r', '', '', '', '', 'dim remark'][index] }, printable(text))))
  }
}
"""###),
        PageFile("filter.js", ###"""
// The language of the filter: words joined by and; "-" negates; user: outcome: session: path: delay:>20 name: code:
export function parse(text) {
  const terms = []
  for (const word of text.trim().split(/\s+/)) {
    const [, minus, key, rest] = word.match(/^(-?)(?:(\w+):)?(.*)$/s)
    const known = key === undefined || (key !== 'undefined' && Object.hasOwn(TESTS, key)), value = known ? rest : key + ':' + rest
    const isWrong = VALUES[key]?.test(rest) === false
    const problem = !known ? `no term ${key}: – searched as a text` : isWrong ? `${key}: has no such value` : null
    if (value) terms.push({ not: minus === '-', key: known ? key : undefined, text: value, problem })
  }
  return terms
}

const VALUES = { outcome: /^(applied|rejected)$/i, session: /^[0-9a-f]+$/i, delay: /^[<>]?=?\d+(\.\d+)?$/ }
/** Tests of row `i`, by key. `path:` is answered by the gateway: a row in memory does not say what it changed. */
const TESTS = {
  path: () => () => true,
  user: text => matching(text, rows => rows.user),
  name: text => matching(text, rows => rows.action),
  code: text => matching(text, rows => rows.code),
  session: text => (rows, i) => rows.session[i].startsWith(text.toLowerCase().slice(0, 8)),
  outcome: text => (rows, i) => rows.isRejected[i] === Number(text.toLowerCase() === 'rejected'),
  delay(text) {
    const [, sign, number] = text.match(/^([<>]?)=?([\d.]*)/), limit = Number(number)
    return (rows, i) => sign === '<' ? rows.delay[i] < limit : rows.delay[i] > limit
  },
  undefined: text => matching(text, rows => rows.action, rows => rows.text, rows => rows.code, rows => rows.user),
}
function matching(text, ...columns) {
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i')
  return (rows, i) => columns.some(column => pattern.test(column(rows)[i]))
}

/** The conjunction of all terms, without hidden types; null if everything passes. Rows whose delay is unknown pass no `delay:`. */
export function compile(terms, hide) {
  const tests = terms.filter(({ key, problem }) => key !== 'path' && !(key && problem)).map(term => {
    const test = TESTS[term.key](term.text)
    if (term.key === 'delay') return (rows, i) => !Number.isNaN(rows.delay[i]) && test(rows, i) !== term.not
    return term.not ? (rows, i) => !test(rows, i) : test
  })
  if (hide.size) tests.push((rows, i) => rows.isRejected[i] === 1 || !hide.has(rows.action[i]))
  return tests.length ? (rows, i) => tests.every(test => test(rows, i)) : null
}

/** The parameters with which the gateway can search the journal for the terms, or null. */
export function journalQuery(terms, searched) {
  const query = {}
  for (const { not, key, text, problem } of terms) {
    if (key && searched.includes(key) && !not && !problem && !(key in query)) query[key] = key in VALUES ? text.toLowerCase() : text
  }
  return Object.keys(query).length ? query : null
}
"""###),
        PageFile("format.js", ###"""
// Text of numbers, times and values, and elements that show it. Data reaches the page as text nodes only.
import { Cut, encodeValue } from './statecast.js'

const digits = new Intl.NumberFormat('en')
export const UNKNOWN = '–'
export const group = number => number == null || Number.isNaN(number) ? UNKNOWN : digits.format(number)
/** The time of day in UTC, as `statecast-journal` prints it. */
export const clock = ms => new Date(ms).toISOString().slice(11, 23)
export const instant = ms => new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')

export function duration(ms) {
  if (ms == null || Number.isNaN(ms)) return UNKNOWN
  if (ms < 10) return ms.toFixed(1) + ' ms'
  if (ms < 1000) return Math.round(ms) + ' ms'
  if (ms < 120_000) return (ms / 1000).toFixed(1) + ' s'
  return ms < 7_200_000 ? Math.round(ms / 60_000) + ' min' : Math.round(ms / 3_600_000) + ' h'
}
export function bytes(number) {
  if (number == null) return UNKNOWN
  if (number < 1024) return number + ' B'
  return number < 1_048_576 ? (number / 1024).toFixed(1) + ' KiB' : (number / 1_048_576).toFixed(1) + ' MiB'
}

/** Escapes what would hide or reorder text: controls and marks of direction. */
export const printable = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  character => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'))

const isBytes = value => value instanceof Uint8Array
const isContainer = value => value !== null && typeof value === 'object' && !isBytes(value) && !(value instanceof Cut)

/** JSON of a decoded value. Integers keep all digits, bytes become base64. */
export function json(value, indent = '', step = '') {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value)
  if (isBytes(value)) return JSON.stringify(encodeValue(value).$bytes)
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null'
  const inner = indent + step, isArray = Array.isArray(value)
  const items = Object.keys(value).map(key => (isArray ? '' : JSON.stringify(key) + (step ? ': ' : ':')) + json(value[key], inner, step))
  const [open, close] = isArray ? '[]' : '{}'
  const isFlat = !step || !items.length
  return isFlat ? open + items.join(',') + close : `${open}\n${inner}${items.join(',\n' + inner)}\n${indent}${close}`
}
const cutText = ({ type, count }) =>
  type === 'array' ? `[${group(count)}]` : type === 'object' ? `{${group(count)}}` : `${type} of ${bytes(count)}`
/** A value in one line. */
export function preview(value, limit = 200) {
  let text
  if (value instanceof Cut) text = cutText(value)
  else if (isBytes(value)) text = `${value.length} bytes ${json(value).slice(1, -1)}`
  else text = value === undefined ? UNKNOWN : json(typeof value === 'string' ? value.slice(0, limit + 1) : value)
  return printable(text.length > limit ? text.slice(0, limit) + '…' : text)
}

/** The key fields of a payload: its first values, short texts without their names. */
export function summary(payload, limit = 100) {
  const parts = []
  let length = 0
  const visit = (value, name, depth) => {
    if (length > limit) return
    if (isContainer(value) && depth < 3) return Object.keys(value).forEach(key => visit(value[key], key, depth + 1))
    const isName = typeof value === 'string' && !/\s/.test(value)
    const text = isName ? printable(value.slice(0, limit)) : preview(value, limit)
    parts.push(typeof value === 'string' || !name ? text : name + ' ' + text); length += text.length
  }
  visit(payload, '', 0)
  return parts.join(' ').slice(0, limit)
}
export const keysOf = path => path.split('/').slice(1).map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
export const child = (path, key) => path + '/' + String(key).replaceAll('~', '~0').replaceAll('/', '~1')
export const parentOf = path => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const $ = id => document.getElementById(id)
const SVG = new Set(['svg', 'path', 'rect'])

/** `element('button', { class: 'small', onclick: run }, 'text')`: strings become text nodes, empty children nothing. */
export function element(tag, attributes = {}, ...children) {
  const made = SVG.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made[name] = value
    else if (name.startsWith('aria-')) made.setAttribute(name, value)
    else if (value !== false && value != null && value !== '') made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.flat(Infinity).filter(item => item != null && item !== false))
  return made
}
/** A term list of pairs; a pair without a value is left out. */
export const pairs = list => element('dl', { class: 'meta' },
  list.filter(([, value]) => value != null).map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]))
export const section = (title, ...content) => element('section', { class: 'sec' }, title && element('h3', {}, title), content)
export const button = (text, onclick, attributes = {}) => element('button', { type: 'button', class: 'btn', onclick, ...attributes }, text)
/** A paragraph; an error is announced. */
export const note = (text, kind = '') => element('p', { class: `note ${kind}`, role: kind && 'alert' }, printable(text))
export const setText = (node, text) => { if (node.textContent !== text) node.textContent = text }
"""###),
        PageFile("index.html", ###"""
<!doctype html><html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Statecast inspector</title><link rel="icon" href="data:,"><link rel="stylesheet" href="style.css">
<script type="module" src="main.js"></script>
</head><body><header class="bar">
  <span class="mark" aria-hidden="true"></span><b class="brand">statecast</b>
  <label class="store"><span class="sr">Store</span><select id="store"></select></label>
  <div class="tabs" role="tablist" aria-label="View">
    <button role="tab" id="tab-state" aria-controls="view-state" aria-selected="true">State</button>
    <button role="tab" id="tab-peers" aria-controls="view-peers" aria-selected="false">Peers and health
      <span id="alarm" class="count" hidden></span></button></div>
  <dl class="facts" aria-label="Position">
    <div><dt>revision</dt><dd id="f-rev">–</dd></div><div><dt>epoch</dt><dd id="f-epoch">–</dd></div>
    <div><dt>lineage</dt><dd id="f-lineage">–</dd></div><div><dt>actions/s</dt><dd id="f-rate">–</dd></div>
    <div><dt>lag</dt><dd id="f-lag">–</dd></div><div><dt>digest</dt><dd id="f-digest">–</dd></div></dl>
  <span class="grow"></span><span id="live" class="live stale" role="status">connecting</span>
  <span id="mode" class="tag" title="A gateway sends actions only with --allow-send">read only</span>
  <button id="help" class="icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button></header>
<div class="banners"><div id="notice" class="notice" role="alert" hidden></div>
  <div id="history" class="history" role="status" aria-label="History" hidden>
    <span id="viewed" class="grow"></span><span id="commands" class="commands"></span><button id="history-live">Back to live (Esc)</button>
  </div></div>
<main id="view-state" role="tabpanel" aria-labelledby="tab-state" class="state">
  <section class="pane" aria-label="Action log">
    <div class="head"><h2>Actions</h2><span id="log-count" class="dim grow"></span>
      <button id="follow" class="small" aria-pressed="true" title="Follow the newest action (f)">follow</button></div>
    <div class="find"><input id="log-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Filter actions"
      title="terms: outcome: user: session: path: name: code: delay:>20, words, and - before one to negate it"
      placeholder="filter: note  outcome:rejected  user:ana  path:/hosts/web-1"><kbd aria-hidden="true">/</kbd></div>
    <div id="types" class="chips" role="group" aria-label="Action types shown"></div>
    <div class="cols log" aria-hidden="true"><span>revision</span><span>time (UTC)</span><span>action</span><span>from</span>
      <span>delay</span></div>
    <div id="log" class="list" role="listbox" aria-label="Actions" tabindex="0"></div>
  </section><section class="pane" aria-label="State">
    <div class="head"><h2>State</h2><nav id="crumbs" class="crumbs grow" aria-label="Path"></nav>
      <span id="tree-count" class="dim"></span></div>
    <div class="find"><input id="tree-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Search the state"
      placeholder="search keys and values, or a path: /hosts/web-1/latest"><kbd aria-hidden="true">s</kbd></div>
    <div class="cols tree" aria-hidden="true"><span>key and value</span><span>last changed by</span></div>
    <div id="tree" class="list" role="tree" aria-label="State" tabindex="0"></div>
  </section><aside class="pane" aria-label="Details">
    <div class="head tabs2" role="tablist" aria-label="Details">
      <button role="tab" id="tab-change" data-pane="change" aria-controls="detail" aria-selected="true">Change</button>
      <button role="tab" id="tab-blame" data-pane="blame" aria-controls="detail" aria-selected="false">Blame</button>
      <button role="tab" id="tab-send" data-pane="send" aria-controls="detail" aria-selected="false" hidden>Send</button></div>
    <div id="detail" class="scroll" role="tabpanel" aria-label="Details" tabindex="0"></div></aside></main>
<main id="view-peers" role="tabpanel" aria-labelledby="tab-peers" class="peers" hidden>
  <section class="pane" aria-label="Peers">
    <div class="head"><h2>Peers</h2><span id="peer-count" class="dim grow"></span>
      <span id="peer-kinds" class="seg" role="group" aria-label="Kinds shown"></span></div>
    <div class="find"><input id="peer-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Filter peers"
      placeholder="filter: name, kind, user or address"><kbd aria-hidden="true">/</kbd></div>
    <p id="peer-why" class="note why" role="status"></p>
    <div id="peers" class="grid" role="grid" aria-label="Peers" tabindex="0">
      <div class="cols peer" role="row" id="peer-cols"></div><div id="peer-list" class="list" role="rowgroup"></div></div>
  </section><section class="pane" aria-label="Health">
    <div class="head"><h2>Health</h2><span id="health-sum" class="dim" role="status"></span></div>
    <div id="health" class="scroll" tabindex="0" role="region" aria-label="Checks"></div></section></main>
<footer id="time" class="time" aria-label="Time"><div class="steps">
    <button id="step-first" aria-label="Oldest revision" title="Oldest revision">⇤</button>
    <button id="step-back" aria-label="Previous batch" title="Previous batch ([)">‹</button>
    <button id="step-on" aria-label="Next batch" title="Next batch (])">›</button>
    <button id="golive" class="golive" aria-pressed="true" title="Back to live (Esc)">live</button></div>
  <div class="track"><canvas id="track" role="slider" tabindex="0" aria-label="Revision" aria-valuenow="0"></canvas></div>
  <label class="goto"><span>revision</span><input id="goto" inputmode="numeric" autocomplete="off" title="Go to revision (g)"></label>
</footer>
<div id="menu" class="menu" role="menu" aria-label="Path" hidden></div><div id="toast" class="toast" role="status" hidden></div>
<dialog id="keys" aria-labelledby="keys-title"></dialog>
<dialog id="token-dialog" aria-labelledby="token-title"><form id="token-form" class="form" method="dialog">
    <h2 id="token-title">Token</h2><p id="token-why" class="note" role="alert"></p>
    <label for="token">token</label><input id="token" type="password" autocomplete="off" required>
    <button class="btn main" type="submit">Continue</button></form></dialog></body></html>
"""###),
        PageFile("input.js", ###"""
// Keys, buttons, and the menu of a row of the state.
import { view } from './view.js'
import { json, $, element, printable } from './format.js'
import { replicaCommand } from './copy.js'

const KEYS = [
  ['/', 'filter actions, or peers'], ['s', 'search the state'], ['↑ ↓  or  k j', 'move in the focused list'], ['?', 'this list'],
  ['← →', 'close, open a subtree'], ['Enter', 'go to the revision; open or close a subtree'], ['[  ]', 'previous, next batch'],
  ['b', 'blame the path'], ['g', 'go to a revision or a time'], ['f', 'follow the newest action'], ['1  2', 'state; peers and health'],
  ['Esc', 'back to live; clear a filter; close a menu'], ['Shift F10', 'menu of the selected path'],
]
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 25, PageUp: -25, Home: -1e9, End: 1e9 }

export function listen(app) {
  const timers = new Map()
  const later = (id, run) => $(id).addEventListener('input', () => {
    clearTimeout(timers.get(id))
    timers.set(id, setTimeout(() => run($(id).value), id === 'log-filter' && !/path:/.test($(id).value) ? 40 : 250))
  })
  later('log-filter', text => app.setFilter(text))
  later('tree-filter', text => app.find(text))
  $('tree-filter').addEventListener('keydown', async ({ key, target }) => {
    if (key !== 'Enter') return
    clearTimeout(timers.get(target.id)); await app.find(target.value)
    const [first] = app.tree.found?.rows ?? [view]
    if (first) { $('tree').focus(); app.tree.select(first.path) }
  })
  $('goto').addEventListener('keydown', event => {
    if (event.key !== 'Enter') return
    const text = $('goto').value.trim(), [time, hours, minutes, seconds = 0] = text.match(/^(\d\d?):(\d\d)(?::(\d\d))?$/) ?? []
    if (time) app.timeline.goTo(hours * 3600 + minutes * 60 + Number(seconds))
    else if (/^\d[\d,. ]*$/.test(text)) app.go(Number(text.replace(/\D/g, '')))
    else app.toast('expected a revision, or a time such as 14:05')
    $('goto').blur()
  })
  const pane = name => () => { view.pane = name; app.refresh() }
  const clicks = {
    'tab-state': () => app.show('state'), 'tab-peers': () => app.show('peers'), help: showKeys, golive: () => app.go(null),
    'step-first': () => app.timeline.first(), 'step-back': () => app.step(-1), 'step-on': () => app.step(1),
    'history-live': () => app.go(null), 'tab-change': pane('change'), 'tab-blame': pane('blame'), 'tab-send': pane('send'),
    follow: () => { if (!view.follow) app.go(null); else { view.follow = false; app.heads() } },
  }
  for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run)
  $('tree').addEventListener('contextmenu', event => {
    event.preventDefault()
    const row = app.tree.row(app.tree.list.indexOf(event.target))
    if (row?.path !== undefined) app.menu.open(event.clientX, event.clientY, row.path)
  })
  document.addEventListener('pointerdown', event => { if (!event.target.closest('#menu')) app.menu.close() })
  document.addEventListener('keydown', event => pressed(app, event))
}

function pressed(app, event) {
  const { key, target } = event, isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName), isTree = document.activeElement === $('tree')
  if (document.querySelector('dialog[open]')) return
  if (app.menu.isOpen) return app.menu.key(event)
  if (key === 'Escape' && isTyping) {
    if (target.type === 'search') target.value = ''
    target.dispatchEvent(new Event('input'))
    return target.blur()
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const keys = {
    '/': () => $(view.name === 'state' ? 'log-filter' : 'peer-filter').focus(), s: () => $('tree-filter').focus(), f: () => app.go(null),
    g: () => $('goto').select(), b: () => app.blame(), '[': () => app.step(-1), ']': () => app.step(1), '?': showKeys,
    Escape: () => app.go(null), 1: () => app.show('state'), 2: () => app.show('peers'), Enter: () => app.log.enter(),
  }
  const isMenuKey = key === 'ContextMenu' || (key === 'F10' && event.shiftKey)
  const run = MOVES[key] ? () => (view.name === 'peers' ? app.peers : isTree ? app.tree : app.log).move(MOVES[key])
    : isTree && isMenuKey ? () => app.menu.openSelected()
    : isTree && /^(ArrowLeft|ArrowRight|Enter)$/.test(key) ? () => app.tree.key(key)
    : key === 'Enter' && /^(BUTTON|TR)$/.test(target.tagName) ? null : keys[key]
  if (!run) return
  event.preventDefault(); run()
}

function showKeys() {
  const list = element('dl', {}, KEYS.map(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]))
  const close = element('button', { onclick: () => $('keys').close() }, 'Close')
  $('keys').replaceChildren(element('h2', { id: 'keys-title' }, 'Keyboard'), list, close)
  $('keys').showModal()
}

export class Menu {
  constructor(app) { this.app = app }
  get isOpen() { return !$('menu').hidden }
  open(x, y, path) {
    const { app } = this, menu = $('menu'), copy = (name, make) => item('Copy ' + name, () => app.copying(make, name))
    const item = (text, run, key) => element('button', { role: 'menuitem', tabindex: -1, onclick: () => { this.close(); run() } },
      text, key && element('kbd', {}, key))
    const value = async () => json((await app.get('state', { path, whole: true, at: view.at })).value, '', '  ')
    app.tree.select(path)
    menu.replaceChildren(element('div', { class: 'path', role: 'presentation' }, printable(path)),
      item('What last changed this', () => app.blame(path), 'b'), item('Show its actions in the log', () => app.showActions(path)),
      element('hr', { role: 'separator' }), copy('path', () => path), copy('value as JSON', value),
      copy('statecast-replica --select', () => replicaCommand(app.store, path)), copy('link to this view', () => location.href))
    menu.hidden = false
    menu.style.left = Math.max(0, Math.min(x, innerWidth - menu.offsetWidth - 4)) + 'px'
    menu.style.top = Math.max(0, Math.min(y, innerHeight - menu.offsetHeight - 4)) + 'px'
    menu.querySelector('button').focus()
  }
  openSelected() {
    const box = $('tree').querySelector('[aria-selected=true]')?.getBoundingClientRect()
    if (box) this.open(box.left + 40, box.bottom, view.path)
  }
  close() {
    if (this.isOpen) $('tree').focus()
    $('menu').hidden = true
  }
  key(event) {
    const items = [...$('menu').querySelectorAll('button')], at = items.indexOf(document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) items.at(to % items.length).focus()
    else if (event.key === 'Escape' || event.key === 'Tab') this.close()
    else return
    event.preventDefault()
  }
}
"""###),
        PageFile("log.js", ###"""
// The log of actions: filters, selection, and loading of what is not in memory.
import { ActionRows, bisect } from './rows.js'
import { VirtualList } from './virtual.js'
import { compile, journalQuery, parse } from './filter.js'
import { view } from './view.js'
import { $, clock, duration, element, group, setText } from './format.js'

const MEMORY = 50_000, FOUND = 10_000, PAGE = 500, CHIPS = 12, SLOW = 20, PAUSE = 70
/** The terms for which the journal is searched; those of names only by the whole name. */
const EXACT = 'path session outcome', ALL = EXACT + ' name user'

export class Log {
  memory = new ActionRows(MEMORY)
  /** The rows that the journal finds for a filter which memory cannot answer. */
  found = null
  /** The entries that pass the filter. */
  shown = new Int32Array(MEMORY + 10_000)
  chips = new Map()
  cursors = new Map()
  constructor(app) {
    this.app = app
    this.list = new VirtualList($('log'), {
      role: 'option', className: 'log', count: () => this.count, active: () => this.activeIndex(),
      build: () => ['r', 't', 'a', 'w', 'd'].map(name => element('span', { class: name })),
      draw: (row, cells, index) => this.draw(row, cells, this.shown[index], index),
      drawn: (first, end) => this.loadVisibleGaps(first, end),
    })
    $('log').addEventListener('mousedown', event => this.select(this.list.indexOf(event.target)))
    $('log').addEventListener('dblclick', () => this.enter())
    $('log').addEventListener('scroll', () => this.scrolled(), { passive: true }); this.reset()
  }
  reset() {
    this.memory.clear(); this.found = this.query = null
    this.isNew = this.app.has('history')
    if (this.isNew) this.memory.setGap(this.memory.count++, -1)
    this.applyFilter(); this.loadNewest()
  }
  append(actions, skipped) {
    this.memory.append(actions, this.isReconnected ? -1 : skipped); this.isReconnected = false
    if (this.rows === this.memory) this.judge()
    const viewed = view.follow || this.found ? this.memory.count : this.shown[this.list.top]
    if (this.memory.isFull) this.keepView(() => this.memory.evict(viewed, this.app.has('history')))
    this.timer ??= setTimeout(() => { this.timer = null; this.draws() }, PAUSE)
  }
  /** The stream began anew: actions may be missing. */
  reconnected() { this.isReconnected = this.memory.count > 1 }
  draws() { view.follow ? this.list.scrollToEnd() : this.list.schedule() }
  /** The journal's search follows the live state, too. */
  async poll() {
    const { found } = this, last = found ? found.count - 1 : -1
    if (!found || (last >= 0 && found.gap[last]) || view.at != null || this.loading) return
    try {
      const { actions } = await this.app.get('actions', { ...this.query, limit: PAGE, after: last < 0 ? null : found.idOf(last) })
      if (found !== this.found) return
      found.append(actions.reverse(), 0); this.judge()
      this.draws()
    } catch (error) { this.fail(error) }
  }
  /** `path:` asks the journal; other terms do if `searched`, which names them. */
  applyFilter(searched = '') {
    const terms = parse(view.q), wanted = this.app.has('history') ? journalQuery(terms, searched || EXACT) : null
    const query = wanted && ('path' in wanted || searched) ? wanted : null, [wrong] = terms.filter(term => term.problem)
    const paths = terms.filter(term => term.key === 'path')
    const isWrong = paths.length > 1 || paths.some(term => term.not || !query)
    this.problem = isWrong ? 'path: needs a journal, can be there once, and cannot be negated' : wrong?.problem
    this.test = compile(terms, view.hide); this.error = null; this.searched = searched
    if (JSON.stringify(query) !== JSON.stringify(this.query) || !query) {
      this.query = query; this.cursors.clear()
      this.searchedTo = undefined; this.found = query && new ActionRows(FOUND)
      this.found?.setGap(this.found.count++, -1)
    }
    this.rows = this.found ?? this.memory; this.judgeAll()
    if (this.app.store) this.drawChips()
    if (!view.follow && view.selected) this.reveal()
    this.draws()
  }
  judgeAll() { this.count = this.judged = 0; this.judge() }
  judge() {
    const { rows, test, shown } = this
    for (; this.judged < rows.count; this.judged++) {
      const i = this.judged, passes = rows.gap[i] ? !this.count || !rows.gap[shown[this.count - 1]] : !test || test(rows, i)
      if (passes) shown[this.count++] = i
    }
  }
  /** Changes entries in the middle, and keeps the same ones in view. */
  keepView(change) {
    let index = this.list.top
    while (index < this.count - 1 && this.rows.gap[this.shown[index]]) index++
    const anchor = index < this.count ? this.rows.idOf(this.shown[index]) : null
    change(); this.judgeAll()
    if (anchor && !view.follow) this.list.shift(this.indexOf(anchor) - index)
    this.draws()
  }
  /** The position of an entry among the shown ones, or where it would be. */
  indexOf(id) {
    const i = this.rows.lowerBound(id)
    return bisect(this.count, index => this.shown[index] < i)
  }
  activeIndex() {
    const i = view.selected ? this.rows.find(view.selected) : -1, index = i < 0 ? -1 : this.indexOf(view.selected)
    return this.shown[index] === i && index < this.count ? index : -1
  }
  loadVisibleGaps(first, end) {
    if (this.loading || this.error || this.loadNewest()) return
    if (this.test && !this.found) {
      // Nothing that is loaded passes.
      const isEmpty = this.count === 1 && this.rows.gap[this.shown[0]]
      if (isEmpty && !this.problem && journalQuery(parse(view.q), ALL)) this.applyFilter(ALL)
      return
    }
    for (let index = first; index < end; index++) {
      const i = this.shown[index], missing = this.rows.gap[i]
      if (missing && (!view.follow || missing < 0)) return void this.load(i, index <= this.list.top)
    }
  }
  /** The newest page comes first, also for the chips when a filter or a search needs other rows. */
  loadNewest() { return this.isNew && (this.load(0, true, null, this.memory), true) }
  /** Loads a page into a gap, from its newer side if `isUpward`, otherwise from its older one, or the rows up to a revision. */
  async load(g, isUpward = true, at, rows = this.rows) {
    if (!this.app.has('history') || this.loading) return
    const older = g > 0 ? rows.idOf(g - 1) : null, newer = g + 1 < rows.count ? rows.idOf(g + 1) : null
    const isAfter = at == null && older !== null && (!isUpward || !newer), next = isAfter ? older : newer
    const place = at != null ? { at } : { [isAfter ? 'after' : 'before']: this.cursors.get(next) ?? next }
    const isFound = rows === this.found
    this.loading = true
    try {
      const answer = await this.app.get('actions', { ...isFound && this.query, limit: PAGE, ...place })
      const found = answer.actions.reverse(), isOpen = answer.next !== null
      g = older !== null ? rows.find(older) + 1 : newer !== null ? rows.find(newer) - 1 : 0
      if (rows === this.memory) this.isNew = false
      if ((rows !== this.memory && rows !== this.found) || !rows.gap[g]) return
      const cursor = (isAfter ? found.at(-1) : found[0])?.id ?? next
      if (isOpen) this.cursors.set(cursor, answer.next)
      if (isFound) this.searchedTo = isOpen ? answer.searchedTo?.revision : null
      this.keepView(() => {
        rows.fill(g, found, !isAfter && isOpen, isAfter ? isOpen : at != null)
        if (rows.isFull) rows.evict(g, true)
      })
    } catch (error) { this.fail(error) } finally { this.loading = false; this.list.schedule() }
  }
  fail(error) {
    this.error = error; clearTimeout(this.retry)
    if (error.isTemporary) this.retry = setTimeout(() => { this.error = null; this.list.schedule() }, 1000 * (error.retryAfter ?? 5))
  }
  async loadNow(...place) {
    while (this.loading) await new Promise(done => setTimeout(done, 20))
    await this.load(...place)
  }
  /** The entry of the last action at or before a revision, or -1; loads it if necessary. */
  async locate(revision) {
    for (let tries = 0; ; tries++) {
      const i = this.rows.after(revision) - 1
      if (i < 0 || !this.rows.gap[i]) return i
      // The rows that were loaded for this revision end where the gap begins.
      if (tries && i > 0 && !this.rows.gap[i - 1]) return i - 1
      if (tries === 3 || this.error) return -1
      await this.loadNow(i, true, revision)
    }
  }
  /** The end of the batch before (-1) or after (1) a revision; null if there is none. */
  async neighbour(revision, direction) {
    for (let tries = 0; tries < 3; tries++) {
      const i = direction > 0 ? this.rows.after(revision) : bisect(this.rows.count, j => this.rows.to[j] < revision) - 1
      if (i < 0 || i >= this.rows.count || this.error) return null
      if (!this.rows.gap[i]) return this.rows.to[i]
      await this.loadNow(i, direction < 0)
    }
    return null
  }
  select(index) {
    if (index < 0 || index >= this.count) return
    const i = this.shown[index]
    if (this.rows.gap[i]) return this.openGap(i)
    Object.assign(view, { selected: this.rows.idOf(i), follow: false, pane: 'change' })
    this.list.reveal(index)
    if (view.at != null) this.enter()
    else this.app.refresh()
  }
  openGap(i) {
    this.error = null
    if (this.test && !this.found && i === 0 && journalQuery(parse(view.q), EXACT)) this.applyFilter(EXACT)
    else this.load(i, false)
  }
  move(step) {
    const from = this.activeIndex()
    this.select(Math.max(0, Math.min(this.count - 1, (from < 0 ? this.count : from) + step)))
  }
  enter() {
    const i = view.selected ? this.rows.find(view.selected) : -1
    if (i >= 0) this.app.go(this.rows.to[i], view.selected)
  }
  reveal() { this.list.reveal(Math.min(this.indexOf(view.selected), Math.max(0, this.count - 1)), true) }
  newest() { return this.memory.gap[this.memory.count - 1] === 0 ? this.memory.idOf(this.memory.count - 1) : null }
  /** The actions in memory of the same batch, in order. */
  batchOf(id) {
    const { rows } = this, i = rows.find(id), ids = []
    for (let j = rows.lowerBound(parseInt(id) + '.0'); i >= 0 && j < rows.count && rows.isSameBatch(i, j); j++) ids.push(rows.idOf(j))
    return ids.length ? ids : [id]
  }
  scrolled() {
    const { scrollTop } = $('log'), follows = view.at == null && this.list.atEnd && (view.follow || scrollTop > this.lastTop)
    this.lastTop = scrollTop
    if (follows === view.follow) return
    view.follow = follows; this.heads()
  }
  draw(row, cells, i, index) {
    const { rows } = this, [revision, time, action, user, delay] = cells
    const previous = index ? this.shown[index - 1] : -1, next = index + 1 < this.count ? this.shown[index + 1] : -1
    const isFuture = view.at != null && rows.to[i] > view.at, isGap = rows.gap[i] !== 0
    const joins = [previous, next].map(other => other >= 0 && rows.isSameBatch(other, i))
    revision.className = 'r' + (joins[0] && joins[1] ? ' mid' : joins[1] ? ' top' : joins[0] ? ' end' : '')
    const kinds = { gap: isGap, rejected: rows.isRejected[i] === 1, future: isFuture, boundary: isFuture && rows.to[previous] <= view.at }
    for (const [name, applies] of Object.entries(kinds)) row.classList.toggle(name, applies)
    const key = isGap ? this.gapText(i) : rows.idOf(i)
    if (row.key === key) return
    row.key = key
    const texts = isGap ? ['', '', key, '', ''] : [group(rows.revision[i]), clock(rows.time[i]), rows.action[i],
      rows.user[i] || rows.session[i], Number.isNaN(rows.delay[i]) ? '' : duration(rows.delay[i])]
    texts.forEach((text, cell) => setText(cells[cell], text))
    if (!isGap) action.append(element('em', {}, (rows.isRejected[i] ? `rejected ${rows.code[i]} ` : '') + rows.text[i]))
    delay.classList.toggle('slow', rows.delay[i] > SLOW)
  }
  gapText(i) {
    const missing = this.rows.gap[i], what = i === 0 ? 'Older actions' : missing > 0 ? `${group(missing)} actions` : 'Actions'
    if (!this.app.has('history')) return `${what} are missing here: ${this.app.noHistory}`
    if (this.error) return `${what} could not be loaded: ${this.error.message}`
    if (this.loading) return `${what}: loading…`
    if (this.found) return `Searched back to revision ${group(this.searchedTo)}; press to search further`
    return this.test ? `${what} are not loaded, and not filtered; press to load` : `${what} are not loaded`
  }
  heads() {
    const all = this.rows.count - (this.rows.gap[0] ? 1 : 0), count = this.count && this.count - (this.rows.gap[this.shown[0]] ? 1 : 0)
    const names = Object.keys(this.query ?? {}).filter(key => !EXACT.includes(key)).join(', ')
    setText($('log-count'), this.problem ? this.problem
      : this.found ? `${group(count)} found${this.searchedTo === null ? '' : ' so far'}${names && `, by the whole ${names}`}`
      : this.test ? `${group(count)} of ${group(all)}` : `last ${group(all)}`)
    $('follow').setAttribute('aria-pressed', view.follow)
  }
  drawChips() {
    const counted = [...this.memory.names].sort((a, b) => b[1] - a[1]).slice(0, CHIPS)
    const names = [...new Set([...counted.map(([name]) => name), ...view.hide])].sort()
    if (names.join('\n') !== [...this.chips.keys()].slice(0, -1).join('\n') || !this.chips.size) {
      const title = 'Click: hide or show; Alt-click: only this', count = () => element('span', { class: 'n' })
      const rejected = () => this.app.setFilter(view.q === 'outcome:rejected' ? '' : 'outcome:rejected')
      this.chips = new Map(names.map(name =>
        [name, element('button', { title, onclick: event => this.toggle(name, event.altKey) }, name, count())]))
      this.chips.set(null, element('button', { class: 'red', title: 'Show only rejected actions', onclick: rejected }, 'rejected', count()))
      $('types').replaceChildren(...this.chips.values())
    }
    for (const [name, chip] of this.chips) {
      setText(chip.lastChild, group(name === null ? this.memory.rejected : this.memory.names.get(name) ?? 0))
      chip.setAttribute('aria-pressed', name === null ? view.q === 'outcome:rejected' : !view.hide.has(name))
    }
  }
  toggle(name, isOnly) {
    const others = [...this.chips.keys()].filter(other => other !== null && other !== name)
    if (isOnly) view.hide = new Set(others.every(other => view.hide.has(other)) ? [] : others)
    else if (!view.hide.delete(name)) view.hide.add(name)
    this.applyFilter(this.found ? this.searched : ''); this.app.refresh()
  }
}
"""###),
        PageFile("main.js", ###"""
// The inspector: connects the panes with the gateway, the URL, and the keyboard.
import { Statecast } from './statecast.js'
import { readURL, saveURL, view } from './view.js'
import { Log } from './log.js'
import { Tree } from './tree.js'
import { Detail } from './detail.js'
import { Send } from './send.js'
import { Timeline } from './timeline.js'
import { Peers } from './peers.js'
import { journalCommands, write } from './copy.js'
import { listen, Menu } from './input.js'
import { $, button, clock, duration, element, group, printable, setText, UNKNOWN } from './format.js'

const TOKEN = 'statecast token', TICK = 500, RATE_WINDOW = 3000
const REFUSED = "This token is not the gateway's. Use the link that it prints at its start, or the content of its --token-file; "
  + 'without that file each start makes another one.'

class Inspector {
  view = view
  features = []
  live = { revision: null, epoch: null, lineage: null }
  status = { status: 'connecting', why: null }
  arrivals = []
  ticks = 0
  constructor() {
    Object.assign(this, { log: new Log(this), tree: new Tree(this), detail: new Detail(this), send: new Send(this) })
    Object.assign(this, { timeline: new Timeline(this), peers: new Peers(this), menu: new Menu(this) })
    listen(this)
    $('store').addEventListener('change', () => { location.hash = `#/${encodeURIComponent($('store').value)}` })
    addEventListener('hashchange', () => this.begin())
    $('token-dialog').addEventListener('close', () => { sessionStorage.setItem(TOKEN, $('token').value.trim()); this.begin() })
    setInterval(() => this.tick(), TICK)
    this.begin()
  }
  /** Takes the token from the URL, and opens the store that the URL names. */
  async begin() {
    const [found, token] = location.hash.match(/[#&?]token=([^&]*)/) ?? []
    if (token) {
      sessionStorage.setItem(TOKEN, decodeURIComponent(token))
      history.replaceState(null, '', location.hash.replace(found, '') || location.pathname)
    }
    clearTimeout(this.retry)
    const problem = readURL()
    $('log-filter').value = view.q; $('tree-filter').value = view.find; $('peer-filter').value = view.peers
    const saved = sessionStorage.getItem(TOKEN)
    if (!saved) return this.askToken('This gateway needs a token. It prints a link with it when it starts.')
    if (saved !== this.token) this.client = new Statecast(new URL('.', location.href), { token: this.token = saved })
    try {
      const { stores } = await this.client.stores(), chosen = stores.find(({ store }) => store === view.store)
      if (!stores.length) throw Error('The gateway follows no store')
      this.notice(view.store && !chosen ? `This gateway has no store “${view.store}”.` : problem)
      $('store').replaceChildren(...stores.map(({ store }) => element('option', { value: store }, printable(store))))
      await this.open(chosen ?? stores[0])
    } catch (error) {
      if (error.status === 401) return this.refused()
      this.notice(`${error.message}. The page tries again.`)
      this.retry = setTimeout(() => this.begin(), 1000 * (error.retryAfter ?? 2))
    }
  }
  refused() { this.askToken(REFUSED) }
  askToken(message) {
    this.following?.close()
    this.token = null; setText($('token-why'), message)
    if (!$('token-dialog').open) $('token-dialog').showModal()
  }
  async open({ store, features, position, status, why, journal, noHistory = 'the gateway has no journal' }) {
    if (store !== this.store) this.live = { revision: null, epoch: null, lineage: null }
    view.store = this.store = $('store').value = store
    document.title = `${printable(store)} – Statecast inspector`
    Object.assign(this, { features, journal, noHistory, status: { status, why }, linked: view.lineage })
    $('tab-send').hidden = !this.has('send')
    if (!this.has('send') && view.pane === 'send') view.pane = 'change'
    this.reset()
    if (position) this.seen(position)
    this.follow(); this.tree.restore(view.open)
    this.refresh(); this.peers.refresh()
    if (view.at != null) await this.go(view.at, view.selected)
    if (view.path) await this.tree.focus(view.path)
    if (view.find) await this.tree.search()
  }
  reset() {
    for (const pane of [this.log, this.tree, this.timeline, this.peers, this.send, this.detail]) pane.reset()
    this.arrivals = []
  }
  follow() {
    this.following?.close()
    let wasOffline = false
    this.following = this.client.follow(this.store, [], null, {
      onLog: (actions, { skipped }) => this.arrived(actions, skipped),
      onStatus: (status, { why, error }) => {
        if (error?.status === 401) return this.refused()
        if (wasOffline) this.log.reconnected()
        wasOffline = status === 'offline'
        this.status = { status, why: why ?? error?.message }; this.heads()
        // The primary may have begun a new epoch or lineage, which the log does not say.
        if (status === 'live') this.get('state', { path: '', limit: 1 }).then(({ position }) => this.seen(position), () => {})
      },
    })
  }
  /** A journal that could not be read may be readable now. */
  async awaitHistory() {
    if (this.has('history') || !this.journal) return
    const { stores } = await this.client.stores().catch(() => ({ stores: [] }))
    if (stores.some(({ store, features }) => store === this.store && features.includes('history'))) this.begin()
  }
  has(feature) { return this.features.includes(feature) }
  async get(route, params) {
    const { store } = this
    try {
      const answer = await this.client.get(store, route, params)
      if (store !== this.store) throw Error('The page shows another store now')
      return answer
    } catch (error) {
      if (error.status === 401) this.refused()
      error.isTemporary = error.status == null || error.status === 429 || error.status >= 500
      throw error
    }
  }
  arrived(actions, skipped) {
    this.log.append(actions, skipped)
    const last = actions.at(-1)
    this.live.revision = Math.max(last?.update?.to ?? last?.revision ?? 0, this.live.revision)
    this.delay = last?.delay; this.arrivals.push([performance.now(), actions.length + skipped])
    this.headsSoon()
  }
  /** The live position in an answer. */
  seen(position) {
    const before = this.live.lineage, isSame = before === position.lineage
    const revision = isSame && position.epoch === this.live.epoch ? Math.max(position.revision, this.live.revision) : position.revision
    this.live = { ...position, revision }; view.lineage = position.lineage
    if (this.linked && !position.lineage.startsWith(this.linked)) {
      const shown = view.at == null ? '' : ` Revision ${group(view.at)} of the link is not shown.`
      this.notice(`This link is of another history, ${this.linked.slice(0, 8)}: the store now has ${position.lineage.slice(0, 8)}.${shown}`)
      Object.assign(view, { at: null, selected: null, follow: true })
    }
    this.linked = null
    if (before !== null && !isSame) {
      this.notice(`The store has begun a new history, ${position.lineage.slice(0, 8)}: the log was cleared.`)
      this.reset(); this.go(null)
    }
    this.headsSoon()
  }
  /** The position of a state of history: the end of a batch. */
  shown(position) { this.at = position.revision; this.headsSoon() }
  pruned(error) {
    const go = () => { this.notice(''); this.go(error.oldest) }
    this.notice(error.message, error.oldest != null && button(`Go to revision ${group(error.oldest)}`, go))
  }
  tick() {
    if (document.hidden || !this.store) return
    this.ticks += 1; this.tree.refresh()
    if (this.ticks % 2) return
    this.log.drawChips(); this.log.poll()
    this.detail.refresh(); this.timeline.refresh()
    this.headsSoon()
    if (this.ticks % 20 === 0) this.awaitHistory()
    if (this.ticks % 20 === 0 || (view.name === 'peers' && this.ticks % 4 === 0)) this.peers.refresh()
  }
  /** Shows the state at the end of the last batch at or before a revision; null shows the live state. */
  async go(revision, id = null) {
    const isBeyond = revision > (this.live.revision ?? Infinity)
    if (isBeyond) this.toast(`There is no revision ${group(revision)} yet; showing live`)
    if (revision == null || isBeyond) {
      Object.assign(view, { at: null, selected: null, follow: true, span: 'batch' }); this.refresh()
      return this.log.list.scrollToEnd()
    }
    if (!this.has('history')) return this.toast(`Only the live state is known: ${this.noHistory}`)
    const { rows, memory } = this.log, known = rows === memory ? rows.after(revision) - 1 : -1
    const at = known >= 0 && !rows.gap[known] ? rows.to[known] : revision
    Object.assign(view, { at, selected: id, follow: false })
    this.at = this.atTime = null; this.refresh()
    const i = await this.log.locate(at)
    if (at !== view.at) return
    if (i >= 0) {
      if (rows === memory) view.at = rows.to[i]
      view.selected ??= rows.idOf(i); this.atTime = rows.time[i]
    }
    if (view.selected) this.log.reveal()
    this.refresh()
  }
  async step(direction) {
    if (view.at == null && direction > 0) return
    const next = await this.log.neighbour(view.at ?? this.live.revision, direction)
    if (next !== null || direction > 0) this.go(next)
    else this.toast('No earlier batch is known')
  }
  setFilter(text) {
    view.q = $('log-filter').value = text; this.log.applyFilter()
    this.refresh()
  }
  find(text) { view.find = $('tree-filter').value = text; this.refresh(); return this.tree.search() }
  showActions(path) { this.setFilter('path:' + path) }
  blame(path = view.path) { Object.assign(view, { path, pane: 'blame' }); this.refresh() }
  show(name) { view.name = name; this.refresh(); this.peers.refresh() }
  async copying(make, name) {
    try {
      this.copied = await make(); await write(this.copied)
      this.toast('copied ' + name)
    } catch (error) { this.notice(`${name}: ${error.message}`) }
  }
  toast(text) {
    setText($('toast'), text); $('toast').hidden = false
    clearTimeout(this.toastTimer)
    this.toastTimer = setTimeout(() => { $('toast').hidden = true }, 2500)
  }
  notice(text, more) {
    $('notice').hidden = !text
    const close = button('Close', () => this.notice(''))
    $('notice').replaceChildren(element('span', { class: 'grow' }, printable(text)), ...[more].filter(Boolean), close)
  }
  refresh() {
    for (const name of ['state', 'peers']) {
      $('view-' + name).hidden = view.name !== name
      $('tab-' + name).setAttribute('aria-selected', view.name === name)
    }
    $('time').hidden = view.name !== 'state'; this.heads()
    this.detail.refresh()
    for (const list of [this.log.list, this.tree.list, this.peers.list, this.timeline]) list.schedule()
    saveURL()
  }
  /** At most 15 times a second. */
  headsSoon() { this.headsTimer ??= setTimeout(() => { this.headsTimer = null; this.heads() }, 66) }
  heads() {
    const { revision, epoch, lineage } = this.live, { status, why } = this.status, isHistory = view.at != null, now = performance.now()
    this.arrivals = this.arrivals.filter(([time]) => now - time < RATE_WINDOW)
    const rate = this.arrivals.reduce((sum, [, count]) => sum + count, 0) * 1000 / RATE_WINDOW
    const texts = { 'f-rev': group(revision), 'f-epoch': group(epoch), 'f-lineage': lineage?.slice(0, 8) ?? UNKNOWN,
      'f-rate': status !== 'live' ? UNKNOWN : rate < 10 ? rate.toFixed(1) : group(Math.round(rate)), 'f-lag': duration(this.delay),
      mode: this.has('send') ? 'sending allowed' : 'read only',
      live: [isHistory && 'history', !(isHistory && status === 'live') && status].filter(Boolean).join(', ') }
    for (const [id, text] of Object.entries(texts)) setText($(id), text)
    $('live').className = 'live' + (isHistory ? ' hist' : status === 'live' ? '' : ' stale')
    $('live').title = why ?? ''; $('mode').classList.toggle('on', this.has('send'))
    if (document.activeElement !== $('goto')) $('goto').value = group(view.at ?? revision)
    $('golive').setAttribute('aria-pressed', !isHistory)
    for (const pane of [this.log, this.tree]) pane.heads()
    $('history').hidden = !isHistory
    if (isHistory) this.banner(this.at ?? view.at)
  }
  banner(at) {
    const time = this.atTime ? ` of ${clock(this.atTime)} UTC` : ''
    setText($('viewed'), `Viewing revision ${group(at)}${time}, ${group(Math.max(0, this.live.revision - at))} before live`)
    if (this.commandsAt === at) return
    this.commandsAt = at
    const title = 'Copy this command, for the machine with the journal'
    const copy = command => element('button', { title, onclick: () => this.copying(() => command, command) }, command)
    $('commands').replaceChildren(...journalCommands(this.journal, at).map(copy))
  }
}

window.inspector = new Inspector()
"""###),
        PageFile("peers.js", ###"""
// Peers sorted by lag, and health: checks with a fixed meaning, series, and the gateway itself.
import { VirtualList } from './virtual.js'
import { saveURL, view } from './view.js'
import { $, bytes, element, group, instant, note, pairs, printable, section, setText, UNKNOWN } from './format.js'

const number = value => value == null ? UNKNOWN : value.toFixed(1)
const COLUMNS = [['name', 'name', String], ['kind', 'kind', String], ['user', 'user', String], ['address', 'address', String],
  ['status', 'status', String], ['lag', 'lag in revisions', group], ['rate', 'actions/s', number]]
/** Sums of each interval are shown as rates; lag is that at its end. */
const SERIES = [['actions', 'actions a second', number], ['rejected', 'rejected a second', number],
  ['updateBytes', 'update bytes a second', rate => bytes(Math.round(rate))], ['lag', 'lag of this gateway in revisions', group]]
const MARKS = { ok: '✓', warn: '!', bad: '✕', unknown: '?' }
export class Peers {
  rows = []
  active = -1
  constructor(app) {
    this.app = app
    const bar = () => [element('b'), element('svg', { preserveAspectRatio: 'none', viewBox: '0 0 100 6' }, element('rect', { height: 6 }))]
    this.list = new VirtualList($('peer-list'), {
      role: 'row', className: 'peer', host: $('peers'), count: () => this.rows.length, active: () => this.active,
      build: () => COLUMNS.map(([key]) => element('span', { role: 'gridcell', class: key }, key === 'lag' && bar())),
      draw: (row, cells, index) => this.draw(row, cells, this.rows[index]),
    })
    $('peer-filter').addEventListener('input', ({ target }) => { view.peers = target.value; this.arrange() })
    $('peer-kinds').append(...['all', 'replica', 'sender'].map(kind =>
      element('button', { onclick: () => { view.kind = kind; this.arrange() } }, kind)))
    $('peer-list').addEventListener('mousedown', event => { this.active = this.list.indexOf(event.target); this.list.schedule() })
    $('peer-cols').replaceChildren(...COLUMNS.map(([key, text]) =>
      element('span', { role: 'columnheader', class: key, 'aria-sort': key === 'lag' ? 'descending' : 'none' }, text)))
  }
  reset() { this.answer = this.error = null }
  /** Health is also read for the number in the tab. */
  async refresh() {
    const isShown = view.name === 'peers'
    try {
      if (isShown) this.answer = await this.app.get('peers', { sort: 'lag' })
      this.error = null
    } catch (error) { this.error = error }
    this.arrange()
    try { this.health(await this.app.get('health'), isShown) } catch (error) {
      if (isShown) $('health').replaceChildren(section(null, note(error.message, 'error')))
    }
  }
  /** Filters. The gateway sorts by lag. */
  arrange() {
    const { peers = [], reported, why } = this.answer ?? {}, words = view.peers.toLowerCase()
    this.rows = peers.filter(({ name, kind, user, address }) => (view.kind === 'all' || kind === view.kind)
      && [name, kind, user, address].join(' ').toLowerCase().includes(words))
    for (const chip of $('peer-kinds').children) chip.setAttribute('aria-pressed', chip.textContent === view.kind)
    const count = status => peers.filter(peer => peer.status === status).length
    const counts = `${group(this.rows.length)} of ${group(peers.length)}: ${count('slow')} slow, ${count('stale')} stale`
    setText($('peer-count'), this.answer ? counts : '')
    setText($('peer-why'), this.error?.message ?? (reported === false ? `Replicas and senders are not reported: ${why ?? UNKNOWN}` : ''))
    this.list.schedule(); saveURL()
  }
  draw(row, cells, peer) {
    row.classList.toggle('warn', peer.status === 'slow'); row.classList.toggle('bad', peer.status === 'stale')
    COLUMNS.forEach(([key, , format], index) => {
      setText(key === 'lag' ? cells[index].firstChild : cells[index], peer[key] == null ? UNKNOWN : printable(format(peer[key])))
    })
    row.querySelector('rect').setAttribute('width', peer.lag ? Math.min(100, Math.log10(peer.lag + 1) * 20) : 0)
  }
  move(step) { this.list.reveal(this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + step))) }
  health({ checks, series, gateway }, isShown) {
    const bad = checks.filter(check => check.status === 'warn' || check.status === 'bad').length
    setText($('alarm'), `${bad}`)
    Object.assign($('alarm'), { hidden: !bad, title: `${bad} checks are not good` })
    const digest = checks.find(check => check.id === 'digest')?.status
    setText($('f-digest'), { ok: 'equal', warn: 'different', bad: 'different' }[digest] ?? UNKNOWN)
    setText($('health-sum'), `${checks.filter(check => check.status === 'ok').length} of ${checks.length} checks are good`)
    if (isShown) $('health').replaceChildren(this.checks(checks), this.charts(series), this.gateway(gateway), this.kept())
  }
  checks(checks) {
    return section(null, element('table', { class: 'checks' }, checks.map(({ status, title, value, note: more }) => element('tr', {},
      element('td', {}, element('span', { class: 'dot ' + status, role: 'img', 'aria-label': status }, MARKS[status])),
      element('td', {}, printable(title), element('small', {}, printable(more ?? ''))), element('td', {}, printable(value ?? UNKNOWN))))))
  }
  charts(series) {
    const charts = SERIES.filter(([key]) => series[key]?.some(value => value !== null)).map(([key, title, format]) => {
      const seconds = key === 'lag' ? 1 : series.interval / 1000, values = series[key].map(value => value === null ? null : value / seconds)
      const last = format(values.findLast(value => value !== null)), label = `${title}: ${last}`
      return element('div', { class: 'chart' }, element('div', {}, element('span', {}, title), element('b', {}, last)),
        element('svg', { viewBox: '0 0 300 38', preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
          element('path', { class: 'area', d: line(values, true) }), element('path', { d: line(values) })))
    })
    return section('Last 15 minutes', charts.length ? element('div', { class: 'charts' }, charts) : 'Not known yet.')
  }
  gateway({ version, process, memory, since, connections, streams }) {
    const used = ([value, max]) => [element('meter', { value, max, 'aria-hidden': true }), ` ${group(value)} of ${group(max)}`]
    const clients = this.answer?.clients.map(({ address, streams: open, lag, bytes: sent }) =>
      element('div', {}, printable(`${address}: streams ${open}, lag ${group(lag)}, ${bytes(sent)}`))).slice(0, 20)
    return section('This gateway', pairs([['version', version], ['process', process], ['memory', bytes(memory)], ['since', instant(since)],
      ['connections', used(connections)], ['streams', used(streams)], ['clients', clients]]))
  }
  kept() {
    const { oldest, newest, snapshots, epochs } = this.app.timeline.data ?? {}, last = epochs?.at(-1)
    return oldest == null ? '' : section('History', pairs([['kept', `${group(oldest)} to ${group(newest)}`],
      ['snapshots', `${group(snapshots.length)}, the last at ${group(snapshots.at(-1))}`],
      ['epochs', `${group(epochs.length)}, the last from ${group(last?.revision)}, ${last ? instant(last.time) : UNKNOWN}`]]))
  }
}

/** The path of a series, or of the area below it; it is interrupted where a value is unknown. */
function line(values, isArea) {
  const top = Math.max(1e-9, ...values.map(value => value ?? 0)), isKnown = index => (values[index] ?? null) !== null
  return values.map((value, index) => {
    const x = (index / Math.max(1, values.length - 1) * 300).toFixed(1), [begins, ends] = [!isKnown(index - 1), !isKnown(index + 1)]
    return value === null ? '' : `${begins ? isArea ? `M${x} 38L` : 'M' : 'L'}${x} ${(36 - value / top * 33).toFixed(1)}`
      + (ends && isArea ? `L${x} 38Z` : '')
  }).join('')
}
"""###),
        PageFile("rows.js", ###"""
// Actions in memory, in the order of the journal, in columns. Where actions are missing, one row is a gap.
import { bytes, printable, summary } from './format.js'

const SLACK = 5000, NUMBERS = ['order', 'revision', 'from', 'to', 'time'], TEXTS = ['action', 'code', 'user', 'session', 'text']
const BATCH = 2 ** 20

/** An id SEQUENCE.INDEX as one number. A gap has that of the action before it and a half. */
const orderOf = id => id.split('.').map(Number).reduce((sequence, index) => sequence * BATCH + index)

/** The first of `count` integers for which `isBefore` is false. */
export function bisect(count, isBefore) {
  let low = 0, high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

export class ActionRows {
  count = 0
  rejected = 0
  /** Rows in memory by the name of the action, without rejected ones. */
  names = new Map()
  /** Columns; `gap`: 0 is an action, otherwise the number that is missing, or -1. */
  constructor(capacity) {
    const size = capacity + 2 * SLACK
    this.capacity = capacity
    for (const name of NUMBERS) this[name] = new Float64Array(size)
    for (const name of TEXTS) this[name] = new Array(size).fill('')
    this.delay = new Float32Array(size) // NaN if unknown
    this.isRejected = new Uint8Array(size); this.gap = new Int32Array(size)
    this.columns = [...NUMBERS, ...TEXTS, 'delay', 'isRejected', 'gap'].map(name => this[name])
  }
  idOf(i) { return `${this.batch(i)}.${this.order[i] % BATCH}` }
  batch(i) { return Math.floor(this.order[i] / BATCH) }
  isSameBatch(i, j) { return !this.gap[i] && !this.gap[j] && this.batch(i) === this.batch(j) }
  clear() { this.count = this.rejected = 0; this.names.clear() }
  /** The first entry at or after an id. */
  lowerBound(id) {
    const order = orderOf(id)
    return bisect(this.count, i => this.order[i] < order)
  }
  find(id) {
    const i = this.lowerBound(id)
    return i < this.count && !this.gap[i] && this.idOf(i) === id ? i : -1
  }
  /** The first entry that ends after a revision. */
  after(revision) { return bisect(this.count, i => this.to[i] <= revision) }
  /** Sets an entry from a row of the API, which is an action or, without a journal, an update. */
  set(i, row) {
    const { update } = row, batch = update ?? row.batch
    const numbers = [orderOf(update ? update.to + '.0' : row.id), update ? update.to : row.revision, batch.from, batch.to, row.time]
    NUMBERS.forEach((name, n) => { this[name][i] = numbers[n] })
    this.action[i] = update ? 'update' : row.action ?? `(${row.kind ?? 'not decoded'})`
    this.code[i] = row.code ?? ''; this.user[i] = row.user ?? ''
    this.session[i] = row.session?.slice(0, 8) ?? ''
    const payload = row.cut ? `payload of ${bytes(row.cut)}` : summary(row.payload)
    this.text[i] = update ? `${row.ops} changes` : row.action === null && row.message ? printable(row.message).slice(0, 200) : payload
    this.delay[i] = row.delay ?? NaN; this.isRejected[i] = Number(row.status === 'rejected')
    this.gap[i] = 0; this.tally(i, 1)
  }
  setGap(i, missing) {
    for (const name of TEXTS) this[name][i] = ''
    this.gap[i] = missing; this.isRejected[i] = 0
    this.order[i] = i ? this.order[i - 1] + 0.5 : -1
    this.revision[i] = this.to[i] = i ? this.to[i - 1] : 0
  }
  tally(i, sign) {
    if (this.gap[i]) return
    const name = this.action[i], left = (this.names.get(name) ?? 0) + sign
    if (this.isRejected[i]) this.rejected += sign
    else if (left) this.names.set(name, left)
    else this.names.delete(name)
  }
  /** Replaces `removed` entries at `i` by `added` unset ones. */
  splice(i, removed, added) {
    for (let j = i; j < i + removed; j++) this.tally(j, -1)
    for (const column of this.columns) column.copyWithin(i + added, i + removed, this.count)
    this.count += added - removed
  }
  /** Appends the rows that are new, after a gap if `missing` is not 0. */
  append(rows, missing) {
    const last = this.count - 1, fresh = rows.filter(row => row.update || last < 0 || this.lowerBound(row.id) > last)
    if (missing && fresh.length) {
      if (last >= 0 && this.gap[last]) this.gap[last] = Math.min(missing, this.gap[last]) < 0 ? -1 : this.gap[last] + missing
      else this.setGap(this.count++, missing)
    }
    for (const row of fresh) this.set(this.count++, row)
  }
  /** Fills the gap at `g`, which stays open where more is missing. Rows beyond the gap close it on that side. */
  fill(g, rows, isOpenBefore, isOpenAfter) {
    const missing = this.gap[g], isAfterPrevious = row => orderOf(row.id) > this.order[g]
    const isBeforeNext = row => g === this.count - 1 || orderOf(row.id) < this.order[g + 1]
    const inside = rows.filter(row => isAfterPrevious(row) && isBeforeNext(row))
    if (rows.length && !isAfterPrevious(rows[0])) isOpenBefore = false
    if (rows.length && !isBeforeNext(rows.at(-1))) isOpenAfter = false
    const left = missing > inside.length && isOpenBefore !== isOpenAfter ? missing - inside.length : -1
    this.splice(g, 1, inside.length + Number(isOpenBefore) + Number(isOpenAfter))
    if (isOpenBefore) this.setGap(g++, left)
    for (const row of inside) this.set(g++, row)
    if (isOpenAfter) this.setGap(g, left)
  }
  get isFull() { return this.count >= this.capacity + SLACK }
  /** Drops the entries farthest from the one viewed. A gap stays if they can be loaded again, or newer ones follow. */
  evict(viewed, canLoad) {
    const excess = this.count - this.capacity, dropsOld = viewed > excess + 100, start = dropsOld ? 0 : this.count - excess - 1
    const gap = Number(canLoad || !dropsOld)
    this.splice(start, excess + 1, gap)
    if (gap) this.setGap(start, -1)
  }
}
"""###),
        PageFile("send.js", ###"""
// The pane Send: a payload from the example of the schema, and the outcomes of what this tab has sent.
import { RejectedError, UnknownOutcomeError, decodeValue } from './statecast.js'
import { button, duration, element, group, json, note, printable, section } from './format.js'

export class Send {
  constructor(app) { this.app = app }
  /** Begins or continues the session of this tab with a store. */
  reset() {
    this.sender?.close()
    this.form = this.sender = null; this.outcomes = element('tbody')
    if (!this.app.has('send')) return
    const onResumed = ({ number, action }, outcome) => this.record(action, outcome, number)
    this.sender = this.app.client.sender(this.app.store, { storage: sessionStorage, onResumed })
  }
  async content() {
    if (this.form) return this.form
    const { actions } = await this.app.get('schema'), problem = note('', 'error')
    const choice = element('select', { id: 'send-action' }, actions.map(({ name }) => element('option', { value: name }, printable(name))))
    const payload = element('textarea', { id: 'send-payload', rows: 12, spellcheck: 'false', autocomplete: 'off' })
    const submit = element('button', { class: 'btn main', type: 'submit' })
    const fill = choice.onchange = () => {
      payload.value = json(actions[choice.selectedIndex]?.example ?? {}, '', '  ')
      submit.textContent = `Send ${printable(choice.value)}`; problem.textContent = ''
    }
    const onsubmit = event => {
      event.preventDefault(); problem.textContent = ''
      try { this.record(choice.value, this.sender.send(choice.value, decodeValue(JSON.parse(payload.value)))) } catch (error) {
        problem.textContent = `The payload is not JSON: ${error.message}`
      }
    }
    fill()
    const form = element('form', { class: 'form', onsubmit }, element('label', { for: 'send-action' }, 'action'), choice,
      element('label', { for: 'send-payload' }, 'payload'), payload, problem,
      element('div', { class: 'copy' }, submit, button('Reset', fill)))
    const help = note('A lost answer is safe: the page repeats an action with its number, and the gateway returns the first outcome. '
      + 'Integers beyond 2^53 are written {"$int":"…"}.')
    return this.form = [section('Send an action', form, help),
      section('Sent from this tab', element('table', { class: 'blame', id: 'sent' }, this.outcomes))]
  }
  async record(action, outcome, number = '') {
    const cells = ['r', '', '', 'r', 'r'].map(name => element('td', { class: name })), begin = performance.now()
    const show = (...texts) => texts.forEach((text, index) => { cells[index].textContent = cells[index].title = printable(text) })
    this.outcomes.prepend(element('tr', {}, cells)); show(number, action, 'waiting')
    try {
      const done = await outcome
      cells[2].className = 'green'
      show(done.number, action, 'applied', group(done.revision), duration(performance.now() - begin))
    } catch (error) {
      const isUnknown = error instanceof UnknownOutcomeError
      const status = error instanceof RejectedError ? `rejected ${error.code}` : isUnknown ? 'unknown' : error.code
      cells[2].className = 'red'
      show(error.number ?? number, action, `${status}: ${error.message}`, '', duration(performance.now() - begin))
    }
  }
}
"""###),
        PageFile("style.css", ###"""
:root {
  color-scheme: light dark; --row: 21px;
  --bg: #f4f4f2; --panel: #fff; --line: #e3e3df; --soft: #f7f7f5; --hover: #f1f2f4; --text: #1b1c1f; --dim: #565b64; --faint: #656a72;
  --accent: #2f58cd; --accent-soft: #e9eefb; --accent-text: #fff; --red: #b3261e; --red-soft: #fbeceb;
  --green: #1c7a46; --green-soft: #e9f5ee; --amber: #805300; --amber-soft: #fbf2de; --bar: #c3c6cd;
  --mono: ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --ui: system-ui, -apple-system, "Segoe UI", Inter, "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0f1012; --panel: #16171a; --line: #27292e; --soft: #1a1b1f; --hover: #1f2126; --text: #d9dbe0; --dim: #a0a5ae; --faint: #8f959e;
    --accent: #82a5ff; --accent-soft: #1e2740; --accent-text: #0d1222; --red: #ef7d73; --red-soft: #2f1b1b;
    --green: #6cbd8a; --green-soft: #17281e; --amber: #d8a548; --amber-soft: #2b2414; --bar: #464b55;
  }
}
* { box-sizing: border-box; } html, body { height: 100%; margin: 0; }
body { display: grid; grid-template-rows: auto auto minmax(0, 1fr) auto; overflow: hidden; }
body { background: var(--bg); color: var(--text); font: 12px/1.4 var(--ui); } h2, h3 { font-size: 12px; font-weight: 600; margin: 0; }
button, input, select, textarea { font: inherit; color: inherit; }
button { border: 1px solid var(--line); border-radius: 4px; background: none; padding: 1px 8px; cursor: pointer; white-space: nowrap; }
button:hover { background: var(--hover); }
input, select, textarea { border: 1px solid var(--line); border-radius: 4px; background: var(--soft); padding: 2px 7px; }
input, select, textarea, dd, .mono { font-family: var(--mono); font-size: 11.5px; } :focus { outline: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; } [hidden] { display: none !important; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); } .grow { flex: 1; }
.dim { color: var(--dim); font-weight: 400; } .red, .error { color: var(--red); } .green { color: var(--green); }
kbd { font: 10.5px var(--mono); color: var(--faint); border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; }
/* Bar */
.bar { display: flex; align-items: center; gap: 12px; min-height: 40px; padding: 0 12px; white-space: nowrap; }
.bar, .time { background: var(--panel); border-bottom: 1px solid var(--line); }
.mark { width: 14px; height: 14px; border-block: 5px double var(--accent); } .brand { font-weight: 650; margin-left: -5px; }
.tabs, .tabs2 { display: flex; align-self: stretch; }
[role=tab] { border: 0; border-radius: 0; padding: 0 10px; color: var(--dim); border-block: 2px solid transparent; }
[role=tab][aria-selected=true] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
.count { margin-left: 6px; padding: 0 5px; border-radius: 8px; background: var(--amber-soft); color: var(--amber); }
.facts { display: flex; margin: 0 0 0 4px; min-width: 0; overflow: hidden; }
.facts div { display: flex; gap: 6px; align-items: baseline; padding: 0 11px; border-left: 1px solid var(--line); }
.facts dt { color: var(--dim); } .facts dd { margin: 0; } #f-rev { min-width: 7ch; } #f-rate, #f-lag { min-width: 5ch; text-align: right; }
.live { display: flex; align-items: center; gap: 6px; color: var(--dim); }
.live::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: var(--green); }
.live.stale::before { background: var(--amber); border-radius: 0; } .live.hist::before { background: var(--accent); }
.tag { border: 1px solid var(--line); border-radius: 4px; padding: 1px 7px; color: var(--dim); }
.tag.on { color: var(--amber); border-color: currentColor; } .icon { width: 22px; height: 22px; border-radius: 50%; padding: 0; }
.history, .notice { display: flex; gap: 14px; align-items: center; min-height: 28px; padding: 2px 12px; flex-wrap: wrap; }
.history { background: var(--accent); color: var(--accent-text); } .commands { font-family: var(--mono); }
.history button { border-color: currentColor; margin-left: 6px; } .history button:hover { background: #0003; }
.notice { background: var(--amber-soft); color: var(--amber); border-bottom: 1px solid var(--line); }
/* Panes */
main { display: grid; gap: 1px; background: var(--line); min-height: 0; }
.state { grid-template-columns: minmax(430px, 36%) minmax(0, 1fr) minmax(340px, 28%); }
.peers { grid-template-columns: minmax(0, 1fr) minmax(380px, 36%); }
.pane { background: var(--panel); display: flex; flex-direction: column; min-width: 0; min-height: 0; }
.head { display: flex; align-items: center; gap: 8px; height: 32px; padding: 0 10px; flex: none; white-space: nowrap; }
.head.tabs2 { gap: 0; border-bottom: 1px solid var(--line); padding: 0 4px; align-self: auto; } .tabs2 button { height: 100%; }
.small[aria-pressed=true] { color: var(--accent); border-color: var(--accent); background: var(--accent-soft); }
.find { position: relative; padding: 0 10px 6px; flex: none; } .find input { width: 100%; height: 25px; padding-right: 26px; }
.find input::placeholder { color: var(--faint); } .find kbd { position: absolute; right: 16px; top: 5px; }
.find input:focus + kbd { display: none; }
.chips { display: flex; flex-wrap: wrap; gap: 4px; padding: 0 10px 6px; max-height: 78px; overflow: auto; flex: none; }
.chips button { padding: 0 6px; height: 20px; font: 11px var(--mono); }
.chips .n { color: var(--faint); margin-left: 6px; display: inline-block; }
.chips button[aria-pressed=false]:not(.red) { color: var(--faint); text-decoration: line-through; background: var(--soft); }
.chips .red[aria-pressed=true] { background: var(--red-soft); border-color: var(--red); }
.cols { display: grid; align-items: center; height: 21px; padding: 0 21px 0 10px; font: 11.5px var(--mono); flex: none; }
.cols > * { color: var(--faint); font: 11px var(--ui); } .cols { border-block: 1px solid var(--line); background: var(--soft); }
.crumbs { display: flex; font-family: var(--mono); font-size: 11.5px; overflow: hidden; min-width: 0; color: var(--faint); }
.crumbs button { border: 0; padding: 0 3px; color: var(--dim); } .scroll { flex: 1; overflow: auto; min-height: 0; }
/* Lists */
.list { position: relative; flex: 1; overflow: auto; min-height: 0; font: 11.5px/var(--row) var(--mono); contain: strict; }
.list { overflow-anchor: none; scrollbar-width: thin; scrollbar-gutter: stable; }
.space { position: absolute; top: 0; left: 0; width: 1px; }
.row { position: absolute; inset: 0 0 auto; height: var(--row); padding: 0 10px; display: grid; contain: strict; cursor: default; }
.row, .row > * { white-space: pre; overflow: hidden; text-overflow: ellipsis; } .row:hover { background: var(--hover); }
.row[aria-selected=true] { background: var(--accent-soft); box-shadow: inset 2px 0 var(--accent); }
.log { grid-template-columns: 8.4ch 12.4ch minmax(0, 1fr) 11ch 7ch; column-gap: 10px; }
.log > :is(:first-child, :last-child) { text-align: right; } .log .t, .log .w, .log .d, .log em { color: var(--dim); }
.log em { font-style: normal; margin-left: 8px; } .log .d.slow { color: var(--amber); font-weight: 600; }
.log.rejected, .log.rejected em { color: var(--red); } .log.future, .log.future * { color: var(--faint); font-style: italic; }
.log.boundary { border-top: 1px solid var(--accent); } .log.gap { background: var(--soft); color: var(--accent); cursor: pointer; }
.log.gap > .a { grid-column: 1 / -1; grid-row: 1; text-align: center; } .log .r { overflow: visible; position: relative; }
.log .r:is(.top, .mid, .end)::after { content: ""; position: absolute; right: -7px; top: 0; height: 100%; width: 4px; }
.log .r:is(.top, .mid, .end)::after { border: 0 solid var(--bar); border-right-width: 1px; }
.log .r.top::after { top: 50%; height: 50%; border-top-width: 1px; } .log .r.end::after { height: 50%; border-bottom-width: 1px; }
.tree { grid-template-columns: minmax(0, 1fr) 24ch; column-gap: 12px; }
.tree .tw { display: inline-block; width: 16px; color: var(--faint); text-align: center; cursor: pointer; }
.tree .pulse { display: inline-block; width: 5px; height: 5px; border-radius: 50%; background: var(--accent); margin: 0 5px 2px -1px; }
.tree .v { color: var(--dim); margin-left: 2ch; } .tree .v.str { color: var(--text); } .tree .v.lit { color: var(--accent); }
.tree .b { color: var(--faint); } .tree .b.hot { color: var(--text); } .tree.more { color: var(--accent); }
mark { background: var(--amber-soft); color: inherit; text-decoration: underline; }
/* Details */
.sec { padding: 10px 12px; border-bottom: 1px solid var(--line); }
.sec h3 { margin-bottom: 6px; display: flex; gap: 8px; align-items: center; }
.meta { display: grid; grid-template-columns: 82px minmax(0, 1fr); gap: 2px 10px; margin: 0; } .meta dt { color: var(--dim); }
.meta dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 8px 0 0; padding: 7px 9px; background: var(--soft); border: 1px solid var(--line); font: 11px/1.5 var(--mono); }
pre { overflow: auto; max-height: 180px; } .seg { display: flex; border: 1px solid var(--line); border-radius: 4px; overflow: hidden; }
.seg button { border: 0; border-radius: 0; height: 20px; color: var(--dim); }
.seg button[aria-pressed=true] { background: var(--accent-soft); color: var(--accent); } .copy { display: flex; flex-wrap: wrap; gap: 4px; }
.btn.main { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
button:disabled { opacity: .6; cursor: not-allowed; } .note { color: var(--dim); margin: 8px 0 0; }
.note.error { color: var(--red); overflow-wrap: anywhere; } .note:empty { display: none; } .why { padding: 0 10px 6px; margin: 0; }
table { font: 11.5px/19px var(--mono); width: 100%; border-collapse: collapse; }
td, th { padding: 0 5px; text-align: left; font-weight: 400; white-space: nowrap; }
td, th { overflow: hidden; text-overflow: ellipsis; max-width: 120px; } .diff { table-layout: fixed; }
.diff .p th { padding: 5px 6px 1px 0; } .diff td:first-child { padding-left: 14px; } .diff .path { width: 42%; } .diff .sign { width: 3ch; }
.diff .ar { padding: 0; text-align: center; color: var(--dim); }
.diff .old { background: var(--red-soft); color: var(--red); text-align: right; }
.diff .new { background: var(--green-soft); color: var(--green); } .blame th { color: var(--faint); font: 11px var(--ui); }
.blame tr[tabindex]:hover { background: var(--hover); cursor: pointer; } .blame .r { text-align: right; }
.blame .remark { white-space: normal; min-width: 11ch; font: 11px/1.3 var(--ui); }
.form { display: grid; grid-template-columns: 80px minmax(0, 1fr); gap: 6px 10px; align-items: start; }
.form > :is(.note, .copy, h2, button) { grid-column: 1 / -1; margin: 0; }
/* Peers */
.grid { display: flex; flex-direction: column; flex: 1; min-height: 0; }
.peer { grid-template-columns: minmax(100px, 1.3fr) 8ch minmax(70px, 1fr) 17ch 7ch minmax(110px, 1fr) 8ch; column-gap: 10px; }
.cols.peer [aria-sort=descending] { color: var(--text); font-weight: 600; } .cols.peer [aria-sort=descending]::after { content: " ↓"; }
.peer :is(.kind, .user, .address) { color: var(--dim); } .peer > .rate { text-align: right; }
.row .status { color: var(--green); } .row .lag { display: flex; align-items: center; gap: 8px; }
.lag b { font-weight: 400; width: 8ch; text-align: right; } .lag svg { flex: 1; height: 6px; fill: var(--bar); }
.warn .lag svg { fill: var(--amber); } .bad .lag svg { fill: var(--red); } .peer.warn .status { color: var(--amber); }
.peer.bad .status { color: var(--red); font-weight: 600; } .checks { font: inherit; }
.checks td { padding: 3px 6px 3px 0; vertical-align: top; white-space: normal; max-width: none; } .checks td:first-child { width: 22px; }
.checks td:last-child { color: var(--dim); font: 11.5px var(--mono); text-align: right; white-space: nowrap; }
.checks small { display: block; color: var(--dim); font-size: 11.5px; }
.dot { display: inline-block; width: 15px; height: 15px; border-radius: 50%; background: var(--green); color: var(--panel); }
.dot { font: bold 10px/15px var(--ui); text-align: center; } .dot.warn { background: var(--amber); border-radius: 3px; }
.dot.bad { background: var(--red); border-radius: 0; } .dot.unknown { background: var(--faint); }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 14px 20px; }
.chart div { display: flex; justify-content: space-between; color: var(--dim); }
.chart svg { width: 100%; height: 38px; display: block; fill: none; stroke: var(--accent); stroke-width: 1.2; }
.chart path { vector-effect: non-scaling-stroke; } .chart .area { fill: var(--accent-soft); stroke: none; }
/* Time, and what lies above the page */
.time { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 12px; align-items: center; height: 64px; padding: 0 12px; }
.steps { display: flex; gap: 3px; } .steps button { height: 24px; color: var(--dim); }
.steps .golive[aria-pressed=true] { color: var(--green); border-color: currentColor; } .track { height: 52px; }
.track canvas { width: 100%; height: 100%; display: block; cursor: col-resize; }
.goto { display: flex; gap: 6px; align-items: center; color: var(--dim); }
.goto input { width: 92px; text-align: right; color: var(--text); }
.menu, dialog { background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: 6px; }
.menu, dialog { box-shadow: 0 6px 24px #0003; } .menu { position: fixed; z-index: 9; min-width: 270px; padding: 4px; }
.menu button { display: flex; width: 100%; gap: 16px; justify-content: space-between; border: 0; padding: 3px 8px; }
.menu button:focus { background: var(--accent-soft); } .menu hr { border: 0; border-top: 1px solid var(--line); margin: 4px 0; }
.menu .path { padding: 3px 8px 5px; font: 11px var(--mono); color: var(--dim); overflow-wrap: anywhere; max-width: 400px; }
.toast { position: fixed; bottom: 76px; left: 50%; translate: -50%; background: var(--text); color: var(--panel); }
.toast { padding: 4px 12px; border-radius: 4px; } dialog { padding: 16px 20px; max-width: 480px; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 5px 16px; margin: 8px 0 12px; }
dialog dd { margin: 0; font: 12px var(--ui); } dialog::backdrop { background: #0006; }
@media (max-width: 1250px) { .facts div:nth-child(n+4) { display: none; } }
@media (max-width: 1100px) {
  .state { grid-template: minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr) minmax(0, 1fr); } .state aside { grid-column: 1 / -1; }
}
@media (max-width: 860px) {
  html, body { height: auto; } body { overflow: auto; display: block; } .bar { flex-wrap: wrap; } .state, .peers { display: block; }
  .pane { height: 75vh; min-height: 320px; border-bottom: 1px solid var(--line); } .grid { overflow-x: auto; } .peer { min-width: 760px; }
}
"""###),
        PageFile("timeline.js", ###"""
// The slider: actions per interval, rejections, snapshots, epochs, and the part of the log that is in memory.
import { view } from './view.js'
import { $, clock, group } from './format.js'

const REFRESH = 10_000, DRAG = 80
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -1000, PageDown: 1000, Home: -1e15, End: 1e15 }

export class Timeline {
  canvas = $('track')
  constructor(app) {
    this.app = app
    const on = (name, run) => this.canvas.addEventListener(name, event => { run(event); this.schedule() })
    on('pointerdown', event => { this.canvas.setPointerCapture(event.pointerId); this.drag(event) })
    on('pointermove', event => { this.hover = event.offsetX; if (event.buttons) this.drag(event) })
    on('pointerleave', () => { this.hover = null })
    on('keydown', event => this.key(event))
    new ResizeObserver(() => this.schedule()).observe(this.canvas)
  }
  reset() { this.data = this.error = null; this.nextAt = 0; this.refresh() }
  async refresh() {
    this.schedule()
    if (!this.app.has('history') || performance.now() < this.nextAt) return
    this.nextAt = performance.now() + REFRESH
    try {
      this.data = await this.app.get('timeline', { buckets: 300 })
      this.range = [this.data.oldest, Math.max(this.data.newest, this.data.oldest + 1)]
    } catch (error) { this.error = error }
    this.schedule()
  }
  /** Moves the mark at once, and the view a little later. */
  drag(event) {
    if (!this.data) return
    const [first, last] = this.range, share = Math.max(0, Math.min(1, event.offsetX / this.canvas.clientWidth))
    this.dragged = Math.round(first + share * (last - first))
    const go = () => { this.app.go(this.dragged < last ? this.dragged : null); this.timer = this.dragged = null }
    this.timer ??= setTimeout(go, DRAG)
  }
  key(event) {
    const step = STEPS[event.key]
    if (!step) return
    event.stopPropagation(); event.preventDefault()
    const [first, last] = this.range ?? [0, 0]
    if (Math.abs(step) === 1) this.app.step(step)
    else if (this.data) this.app.go(Math.max(first, Math.min(last, (view.at ?? last) + step)))
  }
  /** Goes to the interval of a time of day in UTC, of the last 24 hours. */
  goTo(seconds) {
    const now = Date.now(), today = now - now % 864e5 + seconds * 1000, time = today > now ? today - 864e5 : today
    const { buckets, newest } = this.data ?? { buckets: [] }, last = buckets.findLastIndex(([, end]) => end <= time)
    last < 0 ? this.app.toast('The history does not have this time') : this.app.go(buckets[last + 1]?.[0] ?? newest)
  }
  first() { if (this.data) this.app.go(this.data.oldest) }
  schedule() { this.pending ??= requestAnimationFrame(() => { this.pending = null; this.paint() }) }
  paint() {
    const { canvas, app } = this, { clientWidth: width, clientHeight: height } = canvas, ratio = devicePixelRatio || 1, base = height - 15
    if (!width) return
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) })
    const draw = canvas.getContext('2d'), style = getComputedStyle(document.documentElement)
    const color = name => style.getPropertyValue('--' + name).trim()
    const box = (name, ...place) => { draw.fillStyle = color(name); draw.fillRect(...place) }
    const text = (name, words, align, ...place) => { draw.fillStyle = color(name); draw.textAlign = align; draw.fillText(words, ...place) }
    draw.scale(ratio, ratio); draw.font = '10px ' + color('ui')
    const why = app.store && !app.has('history') ? `No history: ${app.noHistory}` : this.error?.message ?? ''
    if (!this.data) return text('dim', why, 'left', 4, height / 2)
    this.range[1] = Math.max(this.range[1], app.live.revision)
    const [first, last] = this.range, at = this.dragged ?? view.at ?? last, x = revision => (revision - first) / (last - first) * width
    this.bars(box, x, base, at, last)
    const { memory } = app.log, start = x(memory.revision[memory.gap[0] ? 1 : 0])
    box('line', 0, base, width, 1)
    if (memory.count > 1) box('accent', start, base, width - start, 1)
    for (const snapshot of this.data.snapshots) text('dim', '▴', 'center', x(snapshot), base + 9)
    let labelEnd = 0
    for (const { epoch, revision } of this.data.epochs) {
      for (let y = 0; y < base; y += 4) box('dim', Math.round(x(revision)), y, 1, 2)
      if (x(revision) < labelEnd) continue
      text('dim', 'epoch ' + epoch, 'left', x(revision) + 4, 8); labelEnd = x(revision) + 60
    }
    const power = 10 ** Math.floor(Math.log10(Math.max(1, (last - first) / width * 130)))
    const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= (last - first) / width * 130)
    for (let revision = Math.ceil(first / step) * step; revision < last; revision += step) {
      if (x(revision) < 30 || x(revision) > width - 40) continue
      box('faint', x(revision), base, 1, 4)
      text('faint', group(revision), 'center', x(revision), height - 2)
    }
    const mark = Math.min(width - 1, x(at))
    box('accent', mark - 1, 0, 2, base + 4); draw.beginPath()
    draw.arc(mark, base + 2, 4, 0, 7); draw.fill()
    if (this.hover != null) {
      const revision = Math.round(first + this.hover / width * (last - first))
      const [, time, , rejected] = this.data.buckets.findLast(([from]) => from <= revision) ?? []
      const rejections = rejected === null ? 'rejections not counted' : rejected ? `${group(rejected)} rejected` : ''
      const align = this.hover > width - 260 ? 'right' : 'left'
      box('dim', this.hover, 0, 1, base)
      text('text', `${group(revision)}  ${time ? clock(time).slice(0, 8) : ''}  ${rejections}`, align, this.hover + (align === 'left' ? 5 : -5), 18)
    }
    for (const [name, value] of [['min', first], ['max', last], ['now', at]]) canvas.setAttribute('aria-value' + name, value)
    canvas.setAttribute('aria-valuetext', `revision ${group(at)}${view.at == null ? ', live' : ''}`)
  }
  /** The height of a bar is the square root of the rate in its interval. */
  bars(box, x, base, at, last) {
    const { buckets } = this.data, duration = i => i ? buckets[i][1] - buckets[i - 1][1] : buckets.length > 1 ? duration(1) : 1
    const rates = buckets.map(([, , applied, rejected], i) => Math.sqrt((applied + (rejected ?? 0)) / Math.max(1, duration(i))))
    const top = Math.max(...rates, 1e-9)
    buckets.forEach(([from, , applied, rejected], i) => {
      const width = Math.max(1, x(buckets[i + 1]?.[0] ?? last) - x(from) - 1), tall = Math.max(2, rates[i] / top * (base - 12))
      box(from <= at ? 'bar' : 'line', x(from), base - tall, width, tall)
      const red = rejected ? Math.max(2, Math.min(tall, tall * rejected / (applied + rejected) * 4)) : 0
      if (red) box('red', x(from), base - red, width, red)
    })
  }
}
"""###),
        PageFile("tree.js", ###"""
// The state as a tree of pages. A node holds the pages that were opened; pages far from the viewport forget their rows.
import { VirtualList } from './virtual.js'
import { view, saveURL } from './view.js'
import { $, child, element, group, keysOf, parentOf, preview, printable, setText } from './format.js'

const PAGE = 200, KEPT = 3, MAX_LOADS = 8, RECENT = 2000, SEARCH = 100

const span = (name, inner) => element('span', { class: name }, inner)
const newPage = (after, length = 0) => ({ after, rows: null, length, next: null })
const isPresent = (node, key) => node.pages.some(page => page.rows?.some(row => row.key === key))

class Node {
  pages = [newPage()]
  /** The open subtrees, by key. */
  children = new Map()
  constructor(path, depth) { Object.assign(this, { path, depth }) }
  open(key) {
    if (!this.children.has(key)) this.children.set(key, new Node(child(this.path, key), this.depth + 1))
    return this.children.get(key)
  }
  get isPartial() { return this.pages[0].after !== undefined }
}

export class Tree {
  constructor(app) {
    this.app = app
    this.list = new VirtualList($('tree'), {
      role: 'treeitem', className: 'tree', count: () => this.layout(), active: () => this.indexOf(view.path),
      build: () => [span('kv', ['tw', 'pulse', 'k', 'v'].map(name => span(name))), span('b')],
      draw: (row, cells, index) => this.draw(row, cells, this.row(index)),
      drawn: (first, end) => this.loadVisible(first, end),
    })
    $('tree').addEventListener('mousedown', event => this.clicked(event))
    $('tree').addEventListener('dblclick', ({ target }) => target.closest('.tw') || this.toggle(this.row(this.list.indexOf(target))))
    this.reset()
  }
  reset() {
    this.root = new Node('', -1); this.found = null
    this.samples = []; this.visible = new Map()
  }
  /** The number of rows; also sets the sizes of nodes and pages. */
  layout() { return this.found ? this.found.rows.length + (this.found.next || this.found.isLoading ? 1 : 0) : this.measure(this.root) }
  measure(node) {
    node.size = Number(node.isPartial) + Number(node.pages.at(-1).next !== null)
    for (const page of node.pages) {
      page.size = page.rows ? page.rows.length : Math.max(1, page.length)
      for (const open of this.opened(node, page)) page.size += this.measure(open)
      node.size += page.size
    }
    return node.size
  }
  opened(node, page) { return page.rows && node.children.size ? page.rows.map(row => node.children.get(row.key)).filter(Boolean) : [] }
  /** The row at an index: a child (`key`), or a place where more can be loaded. */
  row(index) {
    if (index < 0) return null
    if (this.found) return this.found.rows[index] ?? { depth: 0, failure: this.found.error }
    for (let node = this.root; node;) {
      const depth = node.depth + 1
      if (node.isPartial && index-- === 0) return { node, depth, isStart: true }
      const page = node.pages.find(each => index < each.size || void (index -= each.size))
      if (!page?.rows) return { node, depth, page, isMore: !page, failure: page?.error }
      node = null
      for (const row of page.rows) {
        const parent = page.node, inner = parent.children.get(row.key)
        const isBranch = row.count !== undefined
        if (index-- === 0) return { ...row, node: parent, page, inner, depth, path: child(parent.path, row.key), isBranch }
        if (inner && index < inner.size) { node = inner; break }
        index -= inner?.size ?? 0
      }
    }
    return null
  }
  indexOf(path) {
    if (this.found || !path) return this.found ? this.found.rows.findIndex(row => row.path === path) : -1
    let node = this.root, index = -1
    for (const key of keysOf(path)) {
      if (!node || !isPresent(node, key)) return -1
      index += 1 + Number(node.isPartial)
      for (const page of node.pages) {
        const at = page.rows ? page.rows.findIndex(row => row.key === key) : -1
        if (at < 0) { index += page.size; continue }
        for (const row of page.rows.slice(0, at)) index += 1 + (node.children.get(row.key)?.size ?? 0)
        break
      }
      node = node.children.get(key)
    }
    return index
  }
  loadVisible(first, end) {
    if (!this.app.store) return
    if (this.found) return void (this.found.next && end > this.found.rows.length && this.search(true))
    this.visible = new Map()
    for (let index = first; index < end; index++) {
      const { node, page, isMore, inner } = this.row(index) ?? {}
      if (page) this.visible.set(page, node)
      // An open subtree without rows, which may get some.
      if (inner?.pages[0].rows?.length === 0) this.visible.set(inner.pages[0], inner)
      if (isMore && node.pages.at(-1).rows) {
        node.pages.push(newPage(node.pages.at(-1).next)); this.visible.set(node.pages.at(-1), node)
      }
    }
    for (const [page, node] of this.visible)
      if ((page.at !== view.at || (!page.rows && !page.error)) && this.isKnown(node)) this.load(node, page)
    this.forget(this.root)
  }
  /** Whether the viewed state has the node: parents are read first, since asking for an absent part is an error. */
  isKnown(node) {
    if (node === this.root) return true
    const keys = keysOf(node.path), key = keys.pop(), parent = keys.reduce((each, name) => each?.children.get(name), this.root)
    return Boolean(parent?.pages.some(page => page.at === view.at && page.rows?.some(row => row.key === key)))
  }
  /** Pages far from the visible ones keep their place and forget their rows. */
  forget(node) {
    const seen = [...node.pages.keys()].filter(index => this.visible.has(node.pages[index]))
    const from = (seen[0] ?? 0) - KEPT, to = (seen.at(-1) ?? 0) + KEPT
    node.pages.forEach((page, index) => { if ((index < from || index > to) && !this.opened(node, page).length) page.rows = null })
    node.children.forEach(inner => this.forget(inner))
  }
  load(node, page) { return page.loading ??= this.read(node, page).finally(() => { page.loading = null; this.list.schedule() }) }
  async read(node, page) {
    const { at } = view, isPin = page.pin !== undefined, path = isPin ? child(node.path, page.pin) : node.path
    try {
      const answer = await this.app.get('state', { path, limit: isPin ? 1 : PAGE, after: isPin ? undefined : page.after, at })
      if (at !== view.at) return
      if (isPin) page.rows = [{ key: page.pin, type: answer.type, value: answer.value, cut: answer.cut, count: answer.count }]
      else this.accept(node, page, answer)
      Object.assign(page, { at, node, revision: answer.position.revision, error: null, length: page.rows.length })
      if (at === null) this.app.seen(answer.position)
      else this.app.shown(answer.position)
    } catch (error) { if (at === view.at) this.fail(node, page, error) }
  }
  accept(node, page, answer) {
    Object.assign(node, { type: answer.type, seenFrom: answer.seenFrom })
    Object.assign(page, { rows: answer.children ?? [], next: answer.next ?? null })
    const index = node.pages.indexOf(page), following = node.pages[index + 1]
    if (page.next === null && index >= 0) node.pages.length = index + 1
    else if (following) following.after = page.next
    for (const row of page.rows) if (row.count === undefined) node.children.delete(row.key)
  }
  fail(node, page, error) {
    if (error.code === 'pruned') this.app.pruned(error)
    const parent = keysOf(parentOf(node.path)).reduce((each, key) => each?.children.get(key), this.root)
    if (error.code === 'no-such-path' && node !== this.root) return void parent?.children.delete(keysOf(node.path).at(-1))
    Object.assign(page, { error, rows: page.at === view.at ? page.rows : null, at: view.at })
    if (error.isTemporary) setTimeout(() => { page.error = null; this.list.schedule() }, 1000 * (error.retryAfter ?? 3))
  }
  /** Reads the visible pages again, if the state has changed since. */
  refresh() {
    const now = performance.now(), { revision } = this.app.live
    this.samples = [...this.samples.filter(([time]) => now - time < RECENT), [now, revision]]
    if (view.at !== null || this.found) return
    const stale = [...this.visible].filter(([page]) => page.rows && page.revision < revision).sort(([a], [b]) => a.revision - b.revision)
    for (const [page, node] of stale.slice(0, MAX_LOADS)) this.load(node, page)
  }
  toggle(row, opens = !row?.inner) {
    if (row?.isFound) return this.app.find('').then(() => this.focus(row.path))
    if (row?.isStart) row.node.pages = [newPage()]
    else if (!row?.isBranch) return
    else if (opens) row.node.open(row.key)
    else row.node.children.delete(row.key)
    this.saveOpen(); this.list.schedule()
  }
  saveOpen() {
    const leaves = node => node.children.size ? [...node.children.values()].flatMap(leaves) : [node.path]
    view.open = leaves(this.root).filter(Boolean).slice(0, 50); saveURL()
  }
  restore(paths) { for (const path of paths) keysOf(path).reduce((node, key) => node.open(key), this.root) }
  /** Opens what is above a path, and shows it. */
  async focus(path) {
    view.path = path
    let node = this.root
    try {
      for (const [level, key] of keysOf(path).entries()) {
        if (level) node = node.open(keysOf(path)[level - 1])
        await this.ensure(node, key)
      }
    } catch (error) { this.app.notice(error.message) }
    this.saveOpen(); this.layout()
    if (this.indexOf(path) >= 0) this.list.reveal(this.indexOf(path), true)
    this.app.refresh()
  }
  /** Loads a child that may be far from the pages in memory: then the node shows it and what follows it. */
  async ensure(node, key) {
    if (!node.pages[0].rows) await this.load(node, node.pages[0])
    if (isPresent(node, key) || (node.pages[0].rows && node.pages[0].next === null)) return
    const isIndex = node.type === 'array' && Number(key) > 0
    const first = isIndex ? newPage(String(Number(key) - 1)) : { ...newPage(null), pin: key, next: key }
    await this.load(node, first)
    if (!first.rows?.length) throw Error(`There is no ${child(node.path, key)} in this state`)
    node.pages = isIndex ? [first] : [first, newPage(key, PAGE)]
  }
  /** Searches keys and values, or shows a path. */
  async search(continues = false) {
    const text = view.find.trim()
    if (!text || text.startsWith('/')) {
      this.found = null; this.list.schedule()
      if (text.length > 1) await this.focus(text.replace(/\/+$/, ''))
      return
    }
    if (continues && this.found.isLoading) return
    const found = continues ? this.found : { text, rows: [], next: null, examined: 0 }
    if (!continues) $('tree').scrollTop = 0
    found.isLoading = true; this.found = found
    try {
      const answer = await this.app.get('search', { q: text, limit: SEARCH, after: found.next, at: view.at })
      const row = each => ({ ...each, isFound: true, depth: 0, key: each.path, isBranch: each.summary !== undefined })
      found.rows.push(...answer.found.map(row))
      Object.assign(found, { next: answer.next, examined: found.examined + answer.examined })
    } catch (error) { Object.assign(found, { next: null, error }) } finally {
      found.isLoading = false; this.list.schedule()
      this.app.heads()
    }
  }
  clicked(event) {
    const row = this.row(this.list.indexOf(event.target))
    if (!row || event.button) return
    if (row.isStart || (row.isBranch && !row.isFound && event.target.closest('.tw'))) this.toggle(row)
    else if (row.page?.error) { row.page.error = null; this.list.schedule() }
    else if (row.path !== undefined) this.select(row.path)
  }
  select(path) { view.path = path; this.app.refresh() }
  move(step) {
    const last = this.layout() - 1, from = this.indexOf(view.path)
    let index = Math.max(0, Math.min(last, from < 0 ? 0 : from + step))
    while (index > 0 && index < last && this.row(index).path === undefined) index += Math.sign(step)
    this.list.reveal(index)
    if (this.row(index)?.path !== undefined) this.select(this.row(index).path)
  }
  key(name) {
    const row = this.row(this.indexOf(view.path))
    if (name === 'Enter') this.toggle(row)
    else if (name === 'ArrowRight') row?.inner ? row.inner.pages[0].rows && this.move(1) : this.toggle(row, true)
    else if (row?.inner) this.toggle(row, false)
    else if (row?.depth > 0) { this.select(parentOf(row.path)); this.list.reveal(this.indexOf(view.path)) }
  }
  draw(target, [kv, changed], row) {
    const [twist, pulse, key, value] = kv.children, isTree = row.isBranch && !row.isFound, isRow = row.path !== undefined
    kv.style.paddingLeft = row.depth * 16 + 'px'; target.setAttribute('aria-level', row.depth + 1)
    target.ariaExpanded = isTree ? Boolean(row.inner) : null
    target.classList.toggle('more', !isRow); setText(twist, isTree ? row.inner ? '▾' : '▸' : '')
    const place = row.failure ? `${row.failure.message} (press to try again)` : row.isStart ? '↑ from the first key' : 'loading…'
    this.mark(key, !isRow ? place : row.key === '' ? '""' : row.key, row.match === 'key')
    const brackets = row.type === 'array' ? ['[', ']'] : ['{', '}']
    const text = row.isBranch ? row.inner ? '' : row.summary ?? brackets.join(group(row.count)) : isRow ? preview(row.value, 300) : ''
    this.mark(value, (row.cut ? `first 4 KiB of ${group(row.cut)} bytes: ` : '') + text, row.match === 'value')
    value.className = row.isBranch ? 'v' : row.type === 'string' ? 'v str' : 'v lit'
    const change = row.changed, isRecent = change && view.at === null && change.revision > (this.samples[0]?.[1] ?? Infinity)
    pulse.hidden = !isRecent; changed.className = isRecent ? 'b hot' : 'b'
    const seenFrom = isRow && row.page?.at === null ? row.node.seenFrom : null
    const before = seenFrom == null ? '' : seenFrom === 0 ? 'as at the beginning' : `at or before ${group(seenFrom)}`
    setText(changed, change ? `${group(change.revision)} ${printable(change.action ?? '')}` : before)
  }
  mark(cell, text, isMatch) {
    const shown = printable(text), query = this.found?.text ?? '', start = isMatch ? shown.toLowerCase().indexOf(query.toLowerCase()) : -1
    if (start < 0) return setText(cell, shown)
    const end = start + query.length
    cell.replaceChildren(shown.slice(0, start), element('mark', {}, shown.slice(start, end)), shown.slice(end))
  }
  heads() {
    const { found } = this, count = found && `${group(found.rows.length)}${found.next ? '+' : ''} found, ${group(found.examined)} examined`
    setText($('tree-count'), !found ? '' : found.error?.message ?? (found.isLoading && !found.rows.length ? 'searching…' : count))
    if (this.crumbs === view.path) return
    this.crumbs = view.path
    const keys = keysOf(view.path), go = index => this.app.find('').then(() => this.focus(keys.slice(0, index + 1).reduce(child, '')))
    $('crumbs').replaceChildren(...keys.flatMap((key, index) => ['/', element('button', { onclick: () => go(index) }, printable(key))]))
  }
}
"""###),
        PageFile("view.js", ###"""
// What the page shows, and its URL: #/fleet?at=176204&path=/hosts/web-1&open=/hosts&q=…
export const view = {
  store: null, name: 'state', at: null, path: '', open: ['/'], q: '', find: '', hide: new Set(), pane: 'change', span: 'batch',
  lineage: null, follow: true, selected: null, peers: '', kind: 'all',
}
let timer, known
const encode = text => encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%3A', ':')
const list = (name, items) => items.length ? `${name}=${items.map(encode).join(',')}` : null

function decode(text) { try { return decodeURIComponent(text.replaceAll('+', ' ')) } catch { return text } }

export function readURL() {
  const [, store = '', query = ''] = location.hash.match(/^#\/([^?]*)\??(.*)$/) ?? []
  const raw = new Map(query.split('&').filter(Boolean).map(part => part.split(/=(.*)/s))), text = name => decode(raw.get(name) ?? '')
  const isRevision = /^\d{1,15}$/.test(text('at'))
  const items = name => (raw.get(name) ?? '').split(',').filter(Boolean).map(decode)
  Object.assign(view, {
    store: decode(store) || null, name: text('view') === 'peers' ? 'peers' : 'state', q: text('q'), find: text('find'),
    path: text('path').startsWith('/') ? text('path') : '',
    at: isRevision ? Number(text('at')) : null, open: items('open'), hide: new Set(items('hide')),
    pane: /^(blame|send)$/.test(text('pane')) ? text('pane') : 'change', span: text('span') === 'live' ? 'live' : 'batch',
    lineage: /^[0-9a-f]{4,32}$/.test(text('lineage')) ? text('lineage') : null,
    selected: isRevision && /^\d+\.\d+$/.test(text('action')) ? text('action') : null,
    peers: text('peers'), kind: /^(replica|sender)$/.test(text('kind')) ? text('kind') : 'all',
  })
  view.follow = view.at == null; known = location.hash
  return text('at') && !isRevision ? `The link has no revision in at=${text('at')}: this is the live state.` : ''
}

/** The URL of the view, with other values of some of its members. */
export function url(changes) {
  const { store, name, at, path, open, q, find, hide, pane, span, lineage, selected, peers, kind } = { ...view, ...changes }
  const parts = [name === 'peers' && 'view=peers', at != null && 'at=' + at, at != null && selected && 'action=' + selected,
    path && 'path=' + encode(path), list('open', open), q && 'q=' + encode(q), find && 'find=' + encode(find), list('hide', [...hide]),
    pane !== 'change' && 'pane=' + pane, span !== 'batch' && 'span=' + span, peers && 'peers=' + encode(peers),
    kind !== 'all' && 'kind=' + kind, lineage && 'lineage=' + lineage]
  return `#/${encode(store ?? '')}?${parts.filter(Boolean).join('&')}`
}

/** Writes the URL soon: browsers limit how often it may change. */
export function saveURL() {
  timer ??= setTimeout(() => {
    timer = null
    // Not over a link that the page has not read yet.
    if (location.hash === known && known !== url()) { history.replaceState(null, '', url()); known = location.hash }
  }, 150)
}
"""###),
        PageFile("virtual.js", ###"""
// A list of rows of one height, of which only the visible ones exist.
import { element } from './format.js'

const HEIGHT = 21, MARGIN = 4

export class VirtualList {
  rows = new Map()
  pool = []
  /**
   * `build()` returns the cells of a new row, `draw(row, cells, index)` fills a recycled one. `active()` is the index of the
   * active row or -1; `host` (by default the scrolled element) has the focus and names the active row.
   */
  constructor(root, options) {
    Object.assign(this, { root, host: root, drawn: () => {}, ...options })
    this.space = root.appendChild(element('div', { class: 'space', role: 'presentation' }))
    root.addEventListener('scroll', () => this.schedule(), { passive: true })
    new ResizeObserver(() => this.schedule()).observe(root)
  }
  schedule() { this.pending ??= requestAnimationFrame(() => { this.pending = null; this.render() }) }
  resize() {
    const total = this.count()
    if (total !== this.total) this.space.style.height = (this.total = total) * HEIGHT + 'px'
    return total
  }
  render() {
    const { root, rows } = this
    if (!root.clientHeight) return
    const total = this.resize(), active = this.active()
    const first = Math.max(0, this.top - MARGIN), end = Math.min(total, Math.ceil((root.scrollTop + root.clientHeight) / HEIGHT) + MARGIN)
    for (const [index, row] of rows) {
      if (index >= first && index < end) continue
      rows.delete(index); row.remove()
      this.pool.push(row)
    }
    for (let index = first; index < end; index++) {
      const row = rows.get(index) ?? this.add(index)
      if (this.role !== 'row') row.setAttribute('aria-setsize', total)
      row.setAttribute('aria-selected', index === active); this.draw(row, row.cells, index)
    }
    if (rows.has(active)) this.host.setAttribute('aria-activedescendant', rows.get(active).id)
    else this.host.removeAttribute('aria-activedescendant')
    this.drawn(first, end)
  }
  add(index) {
    const row = this.pool.pop() ?? element('div', { role: this.role, class: 'row ' + this.className }, this.build())
    row.cells ??= [...row.children]; row.style.transform = `translateY(${index * HEIGHT}px)`
    row.index = index; row.id = `${this.root.id}-${index}`
    row.setAttribute(this.role === 'row' ? 'aria-rowindex' : 'aria-posinset', this.role === 'row' ? index + 2 : index + 1)
    this.rows.set(index, row)
    return this.root.appendChild(row)
  }
  reveal(index, isCentred = false) {
    this.resize()
    const { root } = this, y = index * HEIGHT, isAbove = y < root.scrollTop, isBelow = y + HEIGHT > root.scrollTop + root.clientHeight
    if (isAbove || isBelow) root.scrollTop = isCentred ? y - root.clientHeight / 2 : isAbove ? y : y + HEIGHT - root.clientHeight
    this.schedule()
  }
  get top() { return Math.floor(this.root.scrollTop / HEIGHT) }
  get atEnd() { return this.root.scrollTop + this.root.clientHeight > (this.total - 2) * HEIGHT }
  scrollToEnd() { this.root.scrollTop = this.resize() * HEIGHT; this.schedule() }
  /** Keeps the same rows in view when `count` rows above them appear or, if negative, disappear. */
  shift(count) { this.resize(); this.root.scrollTop += count * HEIGHT }
  indexOf(target) { return target.closest('.row')?.index ?? -1 }
}
"""###),
        PageFile("statecast.js", ###"""
// Follows Statecast stores, and sends actions to them, through an HTTP gateway. For browsers and Node.

const maxInFlight = 64; // actions of one sender without an outcome; the gateway accepts no more
const maxDepth = 128; // levels of an answer: a state has at most 64, and an answer adds a few
const maxEventLength = 64 * 1024 * 1024; // UTF-16 units, so that a broken server does not exhaust the memory
const maxPause = 60_000; // milliseconds; longer pauses that a server asks for are cut
const lockTimeout = 1000; // milliseconds for a page that is being reloaded to release the lock of its session

// Errors

export class StatecastError extends Error {
    constructor(code, message, { cause, ...details } = {}) {
        super(message, cause === undefined ? undefined : { cause });
        Object.assign(this, { code, status: null, retryAfter: null, oldest: null }, details);
        this.name = new.target.name;
    }
}
export class RejectedError extends StatecastError {}
export class UnknownOutcomeError extends StatecastError {}

const closed = () => new StatecastError("closed", "closed by this program");

function check(condition, expectation) {
    if (!condition) throw new StatecastError("protocol", `the gateway's answer is malformed: expected ${expectation}`);
}

/** Whether the same request may succeed later. */
function isTransient({ code, status }) {
    return status === null ? ["connection", "timeout", "protocol"].includes(code) : status === 429 || status >= 500;
}

/** The error of an answer with a status other than 2xx, which may also come from a proxy. */
function failure({ status, headers }, body) {
    let error;
    try { error = JSON.parse(body).error; } catch {}
    const { code, message, oldest = null } = error ?? {};
    const retryAfter = error?.retryAfter ?? Number.parseFloat(headers.get("Retry-After"));
    const details = { status, retryAfter: isPause(retryAfter) ? retryAfter : null, oldest };
    return new StatecastError(text(code, "http"), text(message, `the answer has status ${status}`), details);
}

// Values

export class Cut {
    constructor(type, count) { Object.freeze(Object.assign(this, { type, count })); }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isPause = (value) => typeof value === "number" && value >= 0;
const text = (value, otherwise) => (typeof value === "string" ? value : otherwise);
const isText = (value, pattern) => typeof value === "string" && pattern.test(value);
const [lineagePattern, openedPattern] = [/^[0-9a-f]{16,32}$/, /^[0-9a-f]{16,32}\.\d{1,20}$/];
const floats = { nan: NaN, infinity: Infinity, "-infinity": -Infinity };

/** Sets an own property, also with the key `__proto__`. */
function put(target, key, value) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

export function decodeValue(value) { return decode(value, 0); }
export function encodeValue(value) { return encode(value, 0); }

function decode(value, depth) {
    if (typeof value === "number") check(Number.isFinite(value), "a number in the range of a double");
    if (value === null || typeof value !== "object") return value;
    check(depth < maxDepth, `at most ${maxDepth} levels`);
    const keys = Object.keys(value);
    const isEscaped = !Array.isArray(value) && keys.some((key) => key[0] === "$");
    if (isEscaped && keys.length === 1 && Object.hasOwn(decoders, keys[0])) {
        const [isValid, meaning] = decoders[keys[0]];
        check(isValid(value[keys[0]]), `a valid ${keys[0]}`);
        return meaning(value[keys[0]]);
    }
    let result = isEscaped ? {} : value;
    for (const key of keys) {
        const child = decode(value[key], depth + 1);
        if (isEscaped) {
            check(key[0] !== "$" || key[1] === "$", "a known key after $");
            put(result, key[0] === "$" ? key.slice(1) : key, child);
        } else if (child !== value[key]) {
            if (result === value) result = Array.isArray(value) ? value.slice() : { ...value };
            put(result, key, child);
        }
    }
    return result;
}

/** For each special key, whether a value is valid, and its meaning. */
const decoders = {
    $int: [(value) => isText(value, /^-?\d{1,1000}$/), BigInt],
    $float: [(value) => Object.hasOwn(floats, value), (value) => floats[value]],
    $bytes: [
        (value) => isText(value, /^[A-Za-z0-9+/]*={0,2}$/) && value.length % 4 === 0,
        (value) => Uint8Array.from(atob(value), (character) => character.charCodeAt(0)),
    ],
    $cut: [(value) => isText(value?.type, /./) && isCount(value.count), ({ type, count }) => new Cut(type, count)],
};

function encode(value, depth) {
    if (depth > maxDepth) throw new TypeError("a value that is nested too deeply, or contains itself, cannot be sent");
    if (value === null || Number.isFinite(value) || ["string", "boolean"].includes(typeof value)) return value;
    if (typeof value === "number") return { $float: Object.keys(floats).find((name) => Object.is(floats[name], value)) };
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) };
    if (value instanceof Uint8Array) return { $bytes: btoa(Array.from(value, (code) => String.fromCharCode(code)).join("")) };
    if (typeof value?.toJSON === "function") return encode(value.toJSON(), depth + 1);
    if (Array.isArray(value)) return Array.from(value, (element) => encode(element, depth + 1));
    if (typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) {
        throw new TypeError(`a value of type ${value?.constructor?.name ?? typeof value} cannot be sent`);
    }
    const result = {};
    for (const [key, child] of Object.entries(value)) {
        if (child !== undefined) put(result, key[0] === "$" ? `$${key}` : key, encode(child, depth + 1));
    }
    return result;
}

function position(value) {
    const { lineage, epoch, revision } = value ?? {};
    check(isText(lineage, lineagePattern) && isCount(epoch) && isCount(revision), "a position");
    return Object.freeze({ lineage, epoch, revision });
}

/** Whether a patch from one revision to another leads from a position to the next one. */
function isNext({ from, to }, { lineage, epoch, revision }, next) {
    return lineage === next.lineage && epoch <= next.epoch && revision === from && from <= to && to === next.revision;
}

const isPointer = (text) => isText(text, /^(\/|$)/) && !/~(?![01])/.test(text);
const isWithin = (path, root) => path === root || path.startsWith(`${root}/`);
const isLeaf = (value) => value === null || typeof value !== "object" || ArrayBuffer.isView(value) || value instanceof Cut;
const arrayIndex = (key) => (/^(0|[1-9]\d{0,9})$/.test(key) ? Number(key) : Infinity);

function checkExists(parent, key) {
    check(Array.isArray(parent) ? arrayIndex(key) < parent.length : Object.hasOwn(parent, key), "a path that exists");
}

/** The values of watched paths after the operations. Containers that do not change are shared with `values`. */
function applyPatch(values, watched, operations) {
    const copies = new Set();
    const copy = (container) => {
        if (copies.has(container)) return container;
        check(!isLeaf(container), "a path through containers");
        const result = Array.isArray(container) ? container.slice() : { ...container };
        copies.add(result);
        return result;
    };
    const result = copy(values);
    check(Array.isArray(operations), "an array of operations");
    for (const operation of operations) {
        const { op, path, value } = operation ?? {};
        check(isPointer(path), "a JSON Pointer in each operation");
        check(op === "remove" || ((op === "add" || op === "replace") && value !== undefined), "add, remove or replace");
        const root = watched.find((each) => isWithin(path, each));
        check(root !== undefined, "operations below watched paths");
        let [parent, last] = [result, root];
        for (const key of path.slice(root.length).split("/").slice(1)) {
            checkExists(parent, last);
            const child = copy(parent[last]);
            put(parent, last, child);
            [parent, last] = [child, key.replaceAll("~1", "/").replaceAll("~0", "~")];
        }
        if (op !== "add") checkExists(parent, last);
        if (Array.isArray(parent)) {
            const index = op === "add" && last === "-" ? parent.length : arrayIndex(last);
            check(index <= parent.length, "an index in the array");
            parent.splice(index, op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
        } else if (op === "remove") delete parent[last];
        else put(parent, last, value);
    }
    return result;
}

class Connection {
    constructor(url, { token, fetch, timeout = 30_000, minDelay = 500, maxDelay = 30_000 } = {}) {
        const { origin, pathname } = new URL(url, globalThis.location?.href);
        this.base = origin + pathname.replace(/\/+$/, "");
        this.fetch = fetch ?? ((...request) => globalThis.fetch(...request));
        Object.assign(this, { token, timeout, minDelay, maxDelay });
    }

    url(store, route, query = {}) {
        const given = Object.entries(query).filter(([, value]) => (value ?? false) !== false);
        const list = (value) => (value === true ? 1 : [value].flat().map(encodeURIComponent).join(","));
        const items = given.map(([key, value], index) => `${index === 0 ? "?" : "&"}${key}=${list(value)}`);
        return `${this.base}/v1/stores${store === null ? "" : `/${encodeURIComponent(store)}/${route}`}${items.join("")}`;
    }

    /** Returns the result of `read(response, alive)`; the request fails if `alive` is not called within the time limit. */
    async request(url, { signal, headers, ...init }, read) {
        if (signal?.aborted) throw signal.reason;
        const controller = new AbortController();
        const abort = () => controller.abort();
        signal?.addEventListener("abort", abort);
        let timer, isLate = false;
        const alive = () => {
            clearTimeout(timer);
            timer = setTimeout(() => { isLate = true; abort(); }, this.timeout);
        };
        alive();
        try {
            const response = await this.fetch(url, {
                // A redirect could pass the token on to another server.
                redirect: "error", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", ...init,
                headers: { ...headers, ...(this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` }) },
                signal: controller.signal,
            });
            if (!response.ok) throw failure(response, await response.text());
            return await read(response, alive);
        } catch (error) {
            if (signal?.aborted) throw signal.reason;
            if (isLate) throw new StatecastError("timeout", `the gateway sent nothing for ${this.timeout} ms`);
            if (error instanceof StatecastError) throw error;
            throw new StatecastError("connection", "the connection to the gateway failed", { cause: error });
        } finally {
            clearTimeout(timer);
            signal?.removeEventListener("abort", abort);
            abort();
        }
    }

    /** The decoded JSON of an answer. */
    json(url, init) { return this.request(url, init, async (response) => parse(await response.text())); }

    /** Repeats a request, with the present body, until it is answered or refused; calls `interrupted` before each repetition. */
    async post(store, route, body, signal, interrupted) {
        const headers = { "Content-Type": "application/json", Statecast: "1" };
        for (let failures = 0; ; failures++) {
            try {
                return await this.json(this.url(store, route), { method: "POST", headers, body: body(), signal });
            } catch (error) {
                if (signal.aborted || error.code === "protocol" || !isTransient(error)) throw error;
                await this.pause(failures, error.retryAfter, signal);
                interrupted?.(error);
            }
        }
    }

    /** Waits after `failures + 1` attempts, at a random time so that clients do not return together. */
    async pause(failures, retryAfter, signal) {
        const backoff = Math.min(this.maxDelay, this.minDelay * 2 ** Math.min(failures, 30)) * (0.5 + Math.random() / 2);
        if (signal.aborted) return;
        await new Promise((resolve) => {
            const timer = setTimeout(end, Math.min(maxPause, (retryAfter ?? 0) * 1000) + backoff);
            signal.addEventListener("abort", end);
            function end() { clearTimeout(timer); signal.removeEventListener("abort", end); resolve(); }
        });
    }
}

/** An event or an answer. */
function parse(text) {
    let value = null;
    try { value = JSON.parse(text); } catch {}
    check(isObject(value), "a JSON object");
    return decodeValue(value);
}

/** An incremental parser of `text/event-stream`. */
class EventParser {
    #decoder = new TextDecoder("utf-8", { fatal: true });
    #rest = ""; #name = ""; #data = "";
    #endsWithReturn = false;

    /** The events that end in a chunk. */
    *push(bytes) {
        let chunk;
        try { chunk = this.#decoder.decode(bytes, { stream: true }); } catch { check(false, "UTF-8"); }
        if (chunk === "") return;
        // A line end may be divided between two chunks.
        const lines = chunk.slice(this.#endsWithReturn && chunk[0] === "\n" ? 1 : 0).split(/\r\n|\r|\n/);
        this.#endsWithReturn = chunk.endsWith("\r");
        lines[0] = this.#rest + lines[0];
        this.#rest = lines.pop();
        for (const line of lines) {
            if (line.startsWith("event:")) this.#name = line.slice(6).trimStart();
            if (line.startsWith("data:")) this.#data += `${line.slice(5)}\n`;
            if (line !== "") continue;
            if (this.#data !== "") yield { name: this.#name, data: this.#data };
            this.#name = this.#data = "";
        }
        check(this.#rest.length + this.#data.length <= maxEventLength, `at most ${maxEventLength} characters`);
    }
}

/** Tasks that wait for the next change of something. */
class Changes {
    #tasks = [];
    next() { return new Promise((resolve) => this.#tasks.push(resolve)); }
    notify() { this.#tasks.splice(0).forEach((resolve) => resolve()); }
}

/** Calls a function of the program. Its errors are reported as uncaught, and do not affect the caller. */
function notify(callback, ...values) {
    try { callback?.(...values); } catch (error) { queueMicrotask(() => { throw error; }); }
}

class Following {
    #connection; #store; #paths; #onState; #options;
    #controller = new AbortController();
    #values = {}; #position = null; #status = "connecting"; #error = null;
    /** The position with which a stream can resume; `null` if the shown state may be wrong. */
    #since = null;
    /** Lineages that the store had before. */
    #left = new Set();
    #changes = new Changes();
    #failures = 0;

    constructor(connection, store, paths, onState, options) {
        if (!paths.every((path) => isPointer(path))) throw new TypeError("each path is a JSON Pointer");
        // An operation could mean either of two overlapping values.
        const isAmbiguous = (path, index) => paths.some((other, place) => place !== index && isWithin(other, path));
        if (paths.some(isAmbiguous)) throw new TypeError("no path is within another one");
        [this.#connection, this.#store, this.#paths] = [connection, store, [...paths]];
        [this.#onState, this.#options] = [onState, options];
        this.#run();
    }

    get position() { return this.#position; }
    get status() { return this.#status; }
    close() { this.#end(null); }

    async reached(target) {
        let { lineage, revision } = typeof target === "number" ? { revision: target } : target;
        if (!isCount(revision)) throw new TypeError("a revision is an integer of 0 or more");
        for (;;) {
            lineage ??= this.#position?.lineage;
            if (lineage === this.#position?.lineage && this.#position?.revision >= revision) return;
            if (this.#controller.signal.aborted) throw this.#error ?? closed();
            const message = `revision ${revision} belongs to a history that the store no longer has`;
            if (this.#left.has(lineage)) throw new StatecastError("other-lineage", message);
            await this.#changes.next();
        }
    }

    async #run() {
        const { signal } = this.#controller;
        while (!signal.aborted) {
            const failuresBefore = this.#failures;
            const error = await this.#stream(signal).catch((error) => error);
            if (signal.aborted) return;
            if (!isTransient(error)) return this.#end(error);
            // Join again, and lengthen the pauses if that does not help.
            if (error.code === "protocol") [this.#since, this.#failures] = [null, failuresBefore];
            this.#show("offline", { error });
            await this.#connection.pause(this.#failures++, error.retryAfter, signal);
        }
    }

    /** Processes one stream; returns why it ended. */
    async #stream(signal) {
        const { depth, onLog } = this.#options;
        const query = { paths: this.#paths.length > 0 && this.#paths, depth, log: onLog !== undefined, since: this.#since };
        const url = this.#connection.url(this.#store, "events", query);
        const init = { signal, headers: { Accept: "text/event-stream" } };
        return this.#connection.request(url, init, async (response, alive) => {
            check(/^text\/event-stream\b/.test(response.headers.get("Content-Type")), "an event stream");
            const [reader, parser] = [response.body.getReader(), new EventParser()];
            const stream = { isGreeted: false, isJoined: false, end: null };
            for (;;) {
                const { done, value } = await reader.read();
                if (done) return new StatecastError("connection", "the connection to the gateway ended");
                alive();
                if (stream.isJoined) this.#failures = 0;
                for (const { name, data } of parser.push(value)) {
                    this.#process(name, data, stream);
                    if (signal.aborted || stream.end !== null) return stream.end;
                }
            }
        });
    }

    #process(name, data, stream) {
        if (!["hello", "state", "patch", "log", "status", "end"].includes(name)) return;
        const event = parse(data);
        const { values, ops, reason } = event;
        const retry = isPause(event.retry) ? event.retry : 1000;
        check(stream.isGreeted === (name !== "hello"), "hello as the first event");
        switch (name) {
            case "hello":
                if (event.version !== 1) throw new StatecastError("version", "the gateway's protocol has another version");
                check(event.resumed !== true || this.#since !== null, "a stream that does not resume");
                stream.isGreeted = true;
                stream.isJoined = event.resumed === true || this.#paths.length === 0;
                this.#show(stream.isJoined ? "live" : "joining");
                break;
            case "state":
                check(isObject(values) && Object.keys(values).every((path) => this.#paths.includes(path)), "watched values");
                this.#update(values, position(event.position), text(reason, "joined"));
                stream.isJoined = true;
                break;
            case "patch":
                check(stream.isJoined && isNext(event, this.#position ?? {}, position(event.position)), "the next patch");
                this.#update(applyPatch(this.#values, this.#paths, ops), position(event.position), "patch");
                break;
            case "log":
                check(Array.isArray(event.actions) && event.actions.every(isObject), "an array of rows");
                notify(this.#options.onLog, event.actions, { skipped: isCount(event.skipped) ? event.skipped : 0 });
                break;
            case "status":
                check(typeof event.status === "string", "a status");
                this.#show(event.status, event);
                break;
            case "end":
                stream.end = reason === "too-large" ? new StatecastError(reason, "a watched value is larger than the gateway sends")
                    : new StatecastError("connection", text(reason, "the stream ended"), { retryAfter: retry / 1000 });
        }
    }

    #update(values, next, reason) {
        this.#left.add(this.#position?.lineage).delete(next.lineage);
        [this.#values, this.#position] = [values, next];
        this.#since = `${next.lineage}.${next.epoch}.${next.revision}`;
        if (this.#status === "joining") this.#show("live");
        if (this.#controller.signal.aborted) return;
        notify(this.#onState, values, { position: next, status: this.#status, reason });
        this.#changes.notify();
    }

    #show(status, { since = null, why = null, error = null } = {}) {
        if (this.#controller.signal.aborted) return;
        [this.#status, this.#error] = [status, error];
        notify(this.#options.onStatus, status, { since, why, error });
    }

    #end(error) {
        if (error !== null) this.#show("closed", { error });
        this.#status = "closed";
        this.#controller.abort(closed());
        this.#changes.notify();
    }
}

class Sender {
    #connection; #store; #options; #key;
    #controller = new AbortController(); #signal = this.#controller.signal;
    #closed = new Promise((resolve) => this.#signal.addEventListener("abort", resolve));
    /** The stored session that is to be continued. */
    #record;
    /** `{ id, opened, next, brokenAt }`. Numbers above `brokenAt` are not repeated, and a new session follows. */
    #session = null;
    /** The actions without an outcome: `{ action, payload }`, by number, in order. */
    #inFlight = new Map();
    #outcomes = new Changes();
    /** One for each request, because Node warns of a signal with many listeners. */
    #requests = new Set();
    /** Ends when all earlier actions have their numbers. */
    #admissions = Promise.resolve();

    constructor(connection, store, options) {
        [this.#connection, this.#store] = [connection, store];
        this.#options = { locks: globalThis.navigator?.locks, ...options };
        this.#key = `statecast ${connection.base} ${store}`;
        this.#record = readRecord(options.storage, this.#key);
        if (this.#record?.pending.length > 0) this.#admissions = this.#openSession().catch(() => {});
    }

    async send(action, payload = {}) {
        const encoded = encodeValue(payload);
        const admission = this.#admissions.then(() => this.#admit(action, encoded));
        this.#admissions = admission.catch(() => {});
        return (await admission).outcome;
    }

    close() {
        for (const controller of [this.#controller, ...this.#requests]) controller.abort(closed());
        this.#outcomes.notify();
    }

    /** Gives an action its number when the session and the window allow it, and sends it. */
    async #admit(action, payload) {
        for (;;) {
            if (this.#signal.aborted) throw this.#signal.reason;
            const needsSession = this.#session === null || this.#session.brokenAt !== null;
            // A new session begins after the last outcome of the old one, which keeps the order.
            if (this.#inFlight.size >= (needsSession ? 1 : maxInFlight)) await this.#outcomes.next();
            else if (needsSession) await this.#openSession();
            else break;
        }
        const session = this.#session;
        const number = session.next;
        // Before the request, so that no other program uses the number for another action.
        this.#save({ ...session, next: number + 1 }, [...this.#inFlight, [number, { action, payload }]]);
        session.next += 1;
        this.#inFlight.set(number, { action, payload });
        return { outcome: this.#deliver(session, number, false) };
    }

    /** Continues the stored session, or begins a new one. */
    async #openSession() {
        const record = this.#record ?? { id: randomSession(), next: 1, brokenAt: null, pending: [] };
        record.isLocked ||= await this.#lock(record.id);
        if (!record.isLocked) this.#record = null;
        if (!record.isLocked) return this.#openSession();
        const request = () => JSON.stringify({ session: record.id });
        const { session: id, opened } = await this.#connection.post(this.#store, "sessions", request, this.#signal);
        check(id === record.id && isText(opened, openedPattern), "the session and its beginning");
        this.#record = null;
        // With another beginning, the store has a new history, or has forgotten the session.
        const brokenAt = opened === (record.opened ?? opened) ? record.brokenAt : 0;
        this.#session = { id, opened, next: record.next, brokenAt };
        this.#inFlight = new Map(record.pending);
        for (const [number, { action, payload }] of record.pending) {
            const outcome = this.#deliver(this.#session, number, true);
            outcome.catch(() => {});
            notify(this.#options.onResumed, { number, action, payload: decodeValue(payload) }, outcome);
        }
    }

    /** Whether this sender alone uses a session: a duplicated tab has a copy of the storage. */
    async #lock(id) {
        const { storage, locks } = this.#options;
        if (!storage || !locks) return true;
        const options = { signal: AbortSignal.timeout(lockTimeout) };
        return new Promise((resolve) => {
            const hold = () => { resolve(true); return this.#closed; };
            locks.request(`statecast ${id}`, options, hold).catch(() => resolve(false));
        });
    }

    /** Repeats a request until its outcome is known. */
    async #deliver(session, number, mayHaveArrived) {
        const { id, opened } = session;
        // The present lowest number, because a gateway that has restarted waits for the numbers from it on.
        const body = () => {
            const [lowest] = this.#inFlight.keys();
            return JSON.stringify({ session: id, opened, number, lowest, ...this.#inFlight.get(number) });
        };
        const details = { number, session: id, lineage: opened.split(".")[0] };
        const unknown = (message, cause) => new UnknownOutcomeError("unknown-outcome", message, { ...details, cause });
        const interrupted = ({ status }) => {
            if (status !== 429 && status !== 503) mayHaveArrived = true;
            if (mayHaveArrived && number > (session.brokenAt ?? Infinity)) throw unknown("the session has ended");
        };
        const controller = new AbortController();
        this.#requests.add(controller);
        try {
            if (mayHaveArrived) interrupted({});
            for (;;) {
                const answer = await this.#connection.post(this.#store, "actions", body, controller.signal, interrupted);
                const { status, revision, code, message } = answer;
                check((answer.number ?? number) === number, "the number of the action");
                if (status === "applied" && isCount(revision)) return { ...details, revision };
                if (status === "rejected") throw new RejectedError(text(code, "refused"), text(message, ""), details);
                if (status === "unknown") throw unknown(text(message, ""));
                check(status === "pending", "an outcome");
                await this.#connection.pause(0, null, controller.signal);
                interrupted({});
            }
        } catch (error) {
            if (error instanceof RejectedError) throw error;
            session.brokenAt = Math.min(session.brokenAt ?? number, number);
            // With a status, the gateway has refused the request.
            const isRefused = error.status !== null && !mayHaveArrived;
            throw isRefused || error instanceof UnknownOutcomeError ? error : unknown(error.message, error);
        } finally {
            this.#requests.delete(controller);
            // After close(), the stored session keeps its open numbers.
            if (!this.#signal.aborted) {
                this.#inFlight.delete(number);
                // If the storage fails, the next program repeats the number, and gets the same outcome.
                try { this.#save(session, [...this.#inFlight]); } catch {}
                this.#outcomes.notify();
            }
        }
    }

    #save(session, pending) {
        const { storage } = this.#options;
        try {
            if (session.brokenAt !== null && pending.length === 0) storage?.removeItem(this.#key);
            else storage?.setItem(this.#key, JSON.stringify({ ...session, pending }));
        } catch (cause) {
            throw new StatecastError("storage", "the session cannot be stored", { cause });
        }
    }
}

function randomSession() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The stored session; `null` if there is none that can be continued. */
function readRecord(storage, key) {
    try {
        const record = JSON.parse(storage.getItem(key));
        const isAction = ([number, { action, payload }]) => number < record.next && text(action) && payload !== undefined;
        return isText(record.id, /^[0-9a-f]{32}$/) && isCount(record.next) && record.pending.every(isAction) ? record : null;
    } catch { return null; }
}

export class Statecast {
    #connection;
    constructor(url, options) { this.#connection = new Connection(url, options); }
    follow(store, paths, onState, options = {}) { return new Following(this.#connection, store, paths, onState, options); }
    sender(store, options = {}) { return new Sender(this.#connection, store, options); }
    async stores({ signal } = {}) { return this.#connection.json(this.#connection.url(null), { signal }); }
    async get(store, route, params = {}, { signal } = {}) {
        return this.#connection.json(this.#connection.url(store, route, params), { signal });
    }
}
"""###),
    ]
}
