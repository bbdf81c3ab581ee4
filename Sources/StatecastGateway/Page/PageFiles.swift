// swift-format-ignore-file
// Made by scripts/make-page from clients/. Do not edit.

extension PageFile {
    /// The inspector and the JavaScript client.
    static let all: [PageFile] = [
        PageFile("copy.js", ###"""
// Texts to paste elsewhere: a Swift test, commands, a patch.
import { json } from './format.js'

export const quoted = text => /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Commands that show a revision. The directory of the journal is not known to the page. */
export const journalCommands = (revision, batch) => [
  `statecast-journal state DIR --at ${revision}`,
  `statecast-journal actions DIR --from ${batch?.from ?? revision} --to ${revision}`,
]

export const sendCommand = (store, { action, payload }) => `statecast-send --store ${quoted(store)} ${quoted(action)} ${quoted(json(payload))}`

export const curl = (store, route) =>
  `curl -H "Authorization: Bearer $TOKEN" '${location.origin}/v1/stores/${encodeURIComponent(store)}/${route}'`

/** The whole patch, up to 10,000 operations. */
export async function jsonPatch(app, range) {
  const patch = []
  let after
  do {
    const answer = await app.get('diff', { ...range, limit: 1000, after })
    for (const { op, path, value } of answer.patch) patch.push(op === 'remove' ? { op, path } : { op, path, value })
    after = answer.next ?? undefined
  } while (after !== undefined && patch.length < 10_000)
  if (after !== undefined) throw Error('The patch has more than 10,000 operations: use statecast-journal diff')
  return json(patch, '', '  ')
}

/** A test of the actions of one batch, with the states before and after it from the journal. */
export function swiftTest(store, actions) {
  const { batch, status } = actions[0], names = actions.map(each => each.action)
  const type = store.replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => next?.toUpperCase() ?? '').replace(/^./, first => first.toUpperCase())
  const text = payload => {
    const body = json(payload ?? null), hashes = '#'.repeat(1 + Math.max(0, ...(body.match(/"#+/g) ?? []).map(match => match.length - 1)))
    return `${hashes}"${body}"${hashes}`
  }
  const verb = status === 'rejected' ? 'is rejected at' : 'leads to'
  return `// The states, from the journal (DIR) of the store ${store}:
//   statecast-journal state DIR --at ${batch.from} > before.json
//   statecast-journal state DIR --at ${batch.to} > after.json
import Foundation
import StatecastCore
import StatecastTesting
import Testing

@Test func \`${[...new Set(names)].join(', ')} ${verb} revision ${batch.to}\`() throws {
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
${actions.map(each => `        .at(Timestamp(milliseconds: ${each.time}))
        .from(session: ${each.session ? `"${each.session}"` : 'nil'}, user: ${each.user ? JSON.stringify(each.user) : 'nil'})
        .when(decoded(${each.action}.self, ${text(each.payload)}))`).join('\n')}
        .then(state("after.json"))
}
`
}
"""###),
        PageFile("detail.js", ###"""
// The panes Change and Blame: what an action changed, and which actions changed a path.
import { view } from './view.js'
import { $, button, bytes, clock, duration, element, group, instant, json, keysOf, child, pairs, preview, printable, section } from './format.js'
import { curl, jsonPatch, sendCommand, swiftTest } from './copy.js'

const ROWS = 200

export class Detail {
  constructor(app) { this.app = app }

  /** Shows the pane that the view names; asks the gateway only if what it shows is another. */
  refresh() {
    for (const tab of document.querySelectorAll('[data-pane]')) tab.setAttribute('aria-selected', tab.dataset.pane === view.pane)
    const id = view.selected ?? (view.pane === 'change' ? this.app.log.newest() : null)
    const key = view.pane === 'change' ? [id, view.span, view.span === 'live' && view.at].join() : [view.path, view.at, view.pane].join()
    if (key === this.key) return
    if (view.pane === 'change' && !view.selected && performance.now() - (this.drawnAt ?? -1e4) < 1000) return
    this.key = key
    this.drawnAt = performance.now()
    if (view.pane === 'change') this.run(() => this.change(id))
    else if (view.pane === 'blame') this.run(() => this.blame())
    else this.app.send.show()
  }
  forget() { this.key = null }

  /** Draws what `make` returns, unless the view has moved on, or its error. */
  async run(make) {
    const { key } = this
    try {
      const content = await make()
      if (key === this.key) $('detail').replaceChildren(...content)
    } catch (error) {
      if (key !== this.key) return
      const again = button('Try again', () => { this.forget(); this.refresh() })
      const oldest = error.oldest != null && button(`Go to revision ${group(error.oldest)}`, () => this.app.go(error.oldest))
      $('detail').replaceChildren(section(null, element('p', { class: 'note error', role: 'alert' }, error.message), oldest || again))
    }
  }

  // MARK: Change

  async change(id) {
    if (!this.app.has('history')) {
      return [section(null, element('p', { class: 'note' }, 'This gateway has no journal: actions, changes and earlier revisions are not known.'))]
    }
    if (!id) return [section(null, element('p', { class: 'note' }, 'Select an action to see what it changed.'))]
    const answer = await this.app.get('actions', { id })
    const [row] = answer.actions
    if (!row) return [section(null, element('p', { class: 'note' }, 'The journal no longer has this action.'))]
    const isLive = view.span === 'live' && view.at != null
    const range = isLive ? { from: view.at } : row.batch
    const isSame = range.from === range.to
    const diff = isSame ? { ...range, patch: [], next: null } : await this.app.get('diff', { ...range, limit: ROWS })
    return [this.action(row), this.difference(row, diff, isLive), this.copies(row, diff)]
  }

  action(row) {
    const ids = this.app.log.batchOf(row.id)
    const place = ids.length > 1 ? `${ids.indexOf(row.id) + 1} of ${ids.length} in its batch` : 'alone in its batch'
    const rejected = () => [element('span', { class: 'red' }, `rejected ${row.code ?? ''}`), element('br'), printable(row.message ?? '')]
    const outcome = row.status === 'rejected' ? rejected() : row.status ? `applied, revision ${group(row.revision)}` : null
    const origin = row.session && `${printable(row.user ?? 'no user')}  session ${row.session.slice(0, 8)}…  number ${group(row.number)}`
    const known = this.app.log.rows.find(row.id), delay = known >= 0 ? this.app.log.rows.delay[known] : NaN
    const shown = Number.isNaN(delay) ? '' : `, here ${duration(delay)} later`
    const payload = row.cut ? `${bytes(row.cut)}; the gateway does not send it whole` : json(row.payload, '', '  ')
    return section([printable(row.action ?? row.kind), element('span', { class: 'dim' }, place)],
      pairs([['outcome', outcome], ['from', origin], ['recorded', instant(row.time) + shown]]),
      row.action !== null && element('pre', { tabindex: 0, 'aria-label': 'Payload' }, printable(payload).replaceAll('\\u000a', '\n')))
  }

  difference(row, { from, to, patch, next }, isLive) {
    const choose = (span, text, disabled) => element('button', {
      'aria-pressed': view.span === span, disabled, title: disabled ? 'Go to a revision first' : null,
      onclick: () => { view.span = span; this.app.refresh() },
    }, text)
    const spans = element('span', { class: 'seg' }, choose('batch', 'batch', false), choose('live', 'to live', view.at == null))
    const table = element('table', { class: 'diff' },
      element('colgroup', {}, ['path', '', 'sign', ''].map(name => element('col', { class: name }))))
    let group_ = null
    for (const { op, path, old, value } of patch) {
      const keys = keysOf(path), depth = Math.min(2, keys.length - 1), head = keys.slice(0, depth).reduce(child, '')
      if (head !== group_) table.append(element('tr', { class: 'p' }, element('th', { colspan: 4, scope: 'rowgroup' }, printable(head || '/'))))
      group_ = head
      const name = printable(keys.slice(depth).join('/') || '(the whole state)')
      const cell = (kind, known, shown) => element('td', { class: kind, title: known ? preview(shown, 500) : null }, known ? preview(shown, 60) : '')
      const sign = { add: '+', remove: '−', replace: '→' }[op]
      table.append(element('tr', {}, element('td', { title: name }, name), cell('old', old !== undefined, old),
        element('td', { class: 'ar', title: op }, sign), cell('new', value !== undefined, value)))
    }
    const count = this.app.log.batchOf(row.id).length
    return section(['Change', element('span', { class: 'dim' }, `${group(from)} → ${group(to)}`), element('span', { class: 'grow' }), spans],
      patch.length ? table : element('p', { class: 'note' }, 'Nothing changed.'),
      next && element('p', { class: 'note' }, `Only the first ${group(patch.length)} changes are shown.`),
      count > 1 && !isLive && element('p', { class: 'note' }, `This is the change of the whole batch of ${count}: the journal has no state in between.`))
  }

  copies(row, { from, to }) {
    const { app } = this
    const copy = (name, make) => button(name, () => app.copying(make, name))
    const actions = async () => row.status === 'applied' ? (await app.get('actions', { at: row.batch.to, limit: 500 })).actions
      .filter(each => each.batch.to === row.batch.to && each.batch.from === row.batch.from && each.status === 'applied').reverse() : [row]
    return section('Copy as', element('div', { class: 'copy' },
      row.action && copy('Swift test', async () => swiftTest(view.store, await actions())),
      row.action && copy('statecast-send', () => sendCommand(view.store, row)),
      copy('JSON Patch', () => jsonPatch(app, { from, to })),
      copy('curl', () => curl(view.store, `diff?from=${from}&to=${to}`)), copy('link', () => location.href)))
  }

  // MARK: Blame

  async blame() {
    if (!this.app.has('history')) return [section(null, element('p', { class: 'note' }, 'This gateway has no journal: earlier changes are not known.'))]
    const where = pairs([['path', printable(view.path || '/')], ['at', view.at == null ? 'live' : `revision ${group(view.at)}`]])
    const rows = element('tbody'), note = element('p', { class: 'note' }), more = element('div', { class: 'copy' })
    const query = { path: view.path, limit: 10, at: view.at ?? undefined }
    const extend = async before => {
      const answer = await this.app.get('blame', { ...query, before })
      for (const change of answer.changes) rows.append(this.changed(change))
      const end = answer.boundary ? `ended at a ${answer.boundary}, which has no author` : answer.complete ? 'is complete' : 'can go on'
      note.textContent = `Newest first. The search reached revision ${group(answer.searchedTo)} and ${end}. `
        + 'A hint names the actions of a batch that mention the path: the journal has no state in between.'
      more.replaceChildren(...answer.next ? [button('Search further back', () => this.guarded(more, () => extend(answer.next)))] : [])
    }
    await extend()
    const head = element('tr', {}, ['revision', 'time', 'action', 'user', 'value', ''].map(name => element('th', { scope: 'col' }, name)))
    return [section('What last changed this', where),
      section(null, rows.children.length ? element('table', { class: 'blame' }, element('thead', {}, head), rows) : 'No change was found.', note, more),
      section(null, button('Show its actions in the log', () => this.app.showActions(view.path)))]
  }

  changed({ revision, batch, time, kind, value, actions, exact }) {
    const first = actions[0], label = exact ? '' : actions.length ? `hint 1/${actions.length}` : 'no action'
    const go = () => this.app.go(batch.to, first?.id)
    const all = actions.map(each => `${each.action} ${json(each.payload ?? null)}`).join('\n').slice(0, 2000)
    const shown = kind === 'removed' ? 'removed' : kind === 'replaced-above' ? 'replaced above' : value?.summary ?? preview(value, 40)
    const cells = [group(revision), clock(time).slice(0, 8), first?.action ?? first?.kind ?? kind, first?.user ?? '', shown, label]
    return element('tr', { tabindex: 0, title: printable(all), onclick: go, onkeydown: event => { if (event.key === 'Enter') go() } },
      cells.map((text, index) => element('td', { class: index === 0 ? 'r' : index === 5 ? 'dim' : null }, printable(text))))
  }

  async guarded(place, run) {
    try { await run() } catch (error) { place.append(element('p', { class: 'note error', role: 'alert' }, error.message)) }
  }
}
"""###),
        PageFile("filter.js", ###"""
// The language of the filter: words joined by and; "-" negates; user: outcome: session: path: delay:>20 name: code:
const KEYS = new Set(['user', 'outcome', 'session', 'path', 'delay', 'name', 'code'])

export function parse(text) {
  const terms = []
  for (const word of text.trim().split(/\s+/)) {
    const [, minus, key, rest] = word.match(/^(-?)(?:(\w+):)?(.*)$/s)
    const known = key === undefined || KEYS.has(key)
    const value = known ? rest : key + ':' + rest
    if (value) terms.push({ not: minus === '-', key: known ? key : undefined, text: value })
  }
  return terms
}

const containing = text => {
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i')
  return value => pattern.test(value)
}

/** A test of row `i` of `rows`. `path:` is answered by the gateway: a row in memory does not say what it changed. */
function tester({ key, text }) {
  const contains = containing(text)
  switch (key) {
    case 'path': return () => true
    case 'user': return (rows, i) => contains(rows.user[i])
    case 'name': return (rows, i) => contains(rows.action[i])
    case 'code': return (rows, i) => contains(rows.code[i])
    case 'outcome': {
      const rejected = text.toLowerCase() === 'rejected'
      return (rows, i) => rows.isRejected[i] === Number(rejected)
    }
    case 'session': {
      const prefix = text.toLowerCase().slice(0, 8)
      return (rows, i) => rows.sessionOf(i).startsWith(prefix)
    }
    case 'delay': {
      const [, sign, number] = text.match(/^([<>]?)=?([\d.]*)/), limit = Number(number)
      return (rows, i) => sign === '<' ? rows.delay[i] < limit : rows.delay[i] > limit
    }
    default: return (rows, i) => contains(rows.action[i]) || contains(rows.text[i]) || contains(rows.code[i]) || contains(rows.user[i])
  }
}

/** The conjunction of all terms, without hidden types; null if everything passes. Rows whose delay is unknown pass no `delay:`. */
export function compile(terms, hide) {
  const tests = terms.filter(term => term.key !== 'path').map(term => {
    const test = tester(term)
    if (term.key === 'delay') return (rows, i) => !Number.isNaN(rows.delay[i]) && test(rows, i) !== term.not
    return term.not ? (rows, i) => !test(rows, i) : test
  })
  if (hide.size) tests.push((rows, i) => rows.isRejected[i] === 1 || !hide.has(rows.action[i]))
  return tests.length ? (rows, i) => tests.every(test => test(rows, i)) : null
}

/** The parameters with which the gateway can search the journal for the terms, or null. */
export function journalQuery(terms) {
  const query = {}
  for (const { not, key, text } of terms) {
    const isExact = key === 'path' || key === 'session' || (key === 'outcome' && /^(applied|rejected)$/.test(text))
    if (isExact && !not && !(key in query)) query[key] = text
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
  return !items.length ? open + close : step ? `${open}\n${inner}${items.join(',\n' + inner)}\n${indent}${close}` : open + items.join(',') + close
}

/** A value in one line. */
export function preview(value, limit = 200) {
  let text
  if (value instanceof Cut) text = value.type === 'array' ? `[${group(value.count)}]` : `{${group(value.count)}}`
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
    const part = typeof value === 'string' || !name ? text : name + ' ' + text
    parts.push(part)
    length += part.length + 1
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
    else if (value !== false && value != null) made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.flat(Infinity).filter(item => item != null && item !== false))
  return made
}
/** A term list of pairs; a pair without a value is left out. */
export const pairs = list => element('dl', { class: 'meta' },
  list.filter(([, value]) => value != null).map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]))
export const section = (title, ...content) => element('section', { class: 'sec' }, title && element('h3', {}, ...[title].flat()), ...content)
export const button = (text, onclick, attributes = {}) => element('button', { type: 'button', class: 'btn', onclick, ...attributes }, text)
export const setText = (node, text) => { if (node.textContent !== text) node.textContent = text }
"""###),
        PageFile("index.html", ###"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Statecast inspector</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<script type="module" src="main.js"></script>
</head>
<body>
<header class="bar">
  <span class="mark" aria-hidden="true"></span><b class="brand">statecast</b>
  <label class="store"><span class="sr">Store</span><select id="store"></select></label>
  <div class="tabs" role="tablist" aria-label="View">
    <button role="tab" id="tab-state" aria-controls="view-state" aria-selected="true">State</button>
    <button role="tab" id="tab-peers" aria-controls="view-peers" aria-selected="false">Peers and health<span id="alarm" class="count" hidden></span></button>
  </div>
  <dl class="facts" aria-label="Position">
    <div><dt>revision</dt><dd id="f-rev">–</dd></div>
    <div><dt>epoch</dt><dd id="f-epoch">–</dd></div>
    <div><dt>lineage</dt><dd id="f-lineage">–</dd></div>
    <div><dt>actions/s</dt><dd id="f-rate">–</dd></div>
    <div><dt>lag</dt><dd id="f-lag">–</dd></div>
    <div><dt>digest</dt><dd id="f-digest">–</dd></div>
  </dl>
  <span class="grow"></span>
  <span id="live" class="live stale" role="status">connecting</span>
  <span id="mode" class="tag" title="A gateway sends actions only with --allow-send">read only</span>
  <button id="help" class="icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
</header>
<div class="banners">
  <div id="notice" class="notice" role="alert" hidden></div>
  <div id="history" class="history" role="status" aria-label="History" hidden>
    <span>Viewing revision <b id="viewed"></b><span id="viewed-time"></span><span id="behind"></span></span>
    <span class="grow"></span><span id="commands" class="commands"></span><button id="history-live">Back to live (Esc)</button>
  </div>
</div>

<main id="view-state" role="tabpanel" aria-labelledby="tab-state" class="state">
  <section class="pane" aria-label="Action log">
    <div class="head"><h2>Actions</h2><span id="log-count" class="dim" role="status"></span><span class="grow"></span>
      <button id="follow" class="small" aria-pressed="true" title="Follow the newest action (f)">follow</button></div>
    <div class="find"><input id="log-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Filter actions"
      placeholder="filter: note  outcome:rejected  user:ana  path:/hosts/web-1"><kbd aria-hidden="true">/</kbd></div>
    <div id="types" class="chips" role="group" aria-label="Action types shown"></div>
    <div class="cols log" aria-hidden="true"><span>revision</span><span>time (UTC)</span><span>action</span><span>from</span><span>delay</span></div>
    <div id="log" class="list" role="listbox" aria-label="Actions" tabindex="0"></div>
  </section>
  <section class="pane" aria-label="State">
    <div class="head"><h2>State</h2><nav id="crumbs" class="crumbs" aria-label="Path"></nav><span class="grow"></span>
      <span id="tree-count" class="dim" role="status"></span></div>
    <div class="find"><input id="tree-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Search the state"
      placeholder="search keys and values, or a path: /hosts/web-1/latest"><kbd aria-hidden="true">s</kbd></div>
    <div class="cols tree" aria-hidden="true"><span>key and value</span><span>last changed by</span></div>
    <div id="tree" class="list" role="tree" aria-label="State" tabindex="0"></div>
  </section>
  <aside class="pane" aria-label="Details">
    <div class="head tabs2" role="tablist" aria-label="Details">
      <button role="tab" id="tab-change" data-pane="change" aria-controls="detail" aria-selected="true">Change</button>
      <button role="tab" id="tab-blame" data-pane="blame" aria-controls="detail" aria-selected="false">Blame</button>
      <button role="tab" id="tab-send" data-pane="send" aria-controls="detail" aria-selected="false" hidden>Send</button>
    </div>
    <div id="detail" class="scroll" role="tabpanel" aria-label="Details" tabindex="0"></div>
  </aside>
</main>

<main id="view-peers" role="tabpanel" aria-labelledby="tab-peers" class="peers" hidden>
  <section class="pane" aria-label="Peers">
    <div class="head"><h2>Peers</h2><span id="peer-count" class="dim"></span><span class="grow"></span>
      <div class="seg" id="peer-kind" role="group" aria-label="Kind"></div></div>
    <div class="find"><input id="peer-filter" type="search" spellcheck="false" autocomplete="off" aria-label="Filter peers"
      placeholder="filter: name, user, session or address"><kbd aria-hidden="true">/</kbd></div>
    <p id="peer-why" class="note why" role="status"></p>
    <div id="peers" class="grid" role="grid" aria-label="Peers" tabindex="0">
      <div class="cols peer" role="row" id="peer-cols"></div>
      <div id="peer-list" class="list" role="rowgroup"></div>
    </div>
  </section>
  <section class="pane" aria-label="Health">
    <div class="head"><h2>Health</h2><span id="health-sum" class="dim" role="status"></span></div>
    <div id="health" class="scroll" tabindex="0" role="region" aria-label="Checks"></div>
  </section>
</main>

<footer id="time" class="time" aria-label="Time">
  <div class="steps">
    <button id="step-first" aria-label="Oldest revision" title="Oldest revision">⇤</button>
    <button id="step-back" aria-label="Previous batch" title="Previous batch ([)">‹</button>
    <button id="step-on" aria-label="Next batch" title="Next batch (])">›</button>
    <button id="golive" class="golive" aria-pressed="true" title="Back to live (Esc)">live</button>
  </div>
  <div class="track"><canvas id="track" role="slider" tabindex="0" aria-label="Revision" aria-valuenow="0"></canvas></div>
  <label class="goto"><span>revision</span><input id="goto" inputmode="numeric" spellcheck="false" autocomplete="off" title="Go to revision (g)"></label>
</footer>
<div id="menu" class="menu" role="menu" aria-label="Path" hidden></div>
<div id="toast" class="toast" role="status" hidden></div>
<dialog id="keys" aria-labelledby="keys-title"></dialog>
<dialog id="token-dialog" aria-labelledby="token-title">
  <form id="token-form" class="form">
    <h2 id="token-title">Token</h2>
    <p id="token-why" class="note" role="alert"></p>
    <label for="token">token</label><input id="token" type="password" autocomplete="off" spellcheck="false" required>
    <button class="btn main" type="submit">Continue</button>
  </form>
</dialog>
</body>
</html>
"""###),
        PageFile("input.js", ###"""
// Keys, buttons, and the menu of a row of the state.
import { view } from './view.js'
import { $, element, printable } from './format.js'

const KEYS = [
  ['/', 'filter actions, or peers'], ['s', 'search the state'], ['↑ ↓  or  k j', 'move in the focused list'], ['← →', 'close, open a subtree'],
  ['Enter', 'go to the revision of the action; open or close a subtree'], ['[  ]', 'previous, next batch'],
  ['b', 'blame the selected path'], ['g', 'go to a revision'], ['f', 'follow the newest action'],
  ['Esc', 'back to live; clear a filter; close a menu'], ['1  2', 'state; peers and health'], ['Shift F10', 'menu of the selected path'], ['?', 'this list'],
]
const TYPING = /^(INPUT|SELECT|TEXTAREA)$/
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 25, PageUp: -25, Home: -1e9, End: 1e9 }

export function listen(app) {
  let timer
  const typed = (id, change) => $(id).addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => change($(id).value), id === 'log-filter' && !/path:/.test($(id).value) ? 40 : 250)
  })
  typed('log-filter', text => app.setFilter(text))
  typed('tree-filter', text => app.find(text))
  $('goto').addEventListener('change', () => {
    const digits = $('goto').value.replace(/\D/g, '')
    if (digits) app.go(Number(digits))
    $('goto').blur()
  })
  for (const pane of document.querySelectorAll('[data-pane]')) {
    pane.addEventListener('click', () => { view.pane = pane.dataset.pane; app.refresh() })
  }
  const clicks = {
    'tab-state': () => app.show('state'), 'tab-peers': () => app.show('peers'), help: showKeys, 'step-first': () => app.first(),
    'step-back': () => app.step(-1), 'step-on': () => app.step(1), golive: () => app.go(null), 'history-live': () => app.go(null),
    follow: () => { if (!view.follow) app.go(null); else { view.follow = false; app.heads() } },
  }
  for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run)
  $('tree').addEventListener('contextmenu', event => {
    event.preventDefault()
    const row = app.tree.row(app.tree.list.indexOf(event.target)), selected = $('tree').querySelector('[aria-selected=true]')
    const box = (event.target.closest('.row') ?? selected)?.getBoundingClientRect()
    const path = row?.path ?? view.path
    if (box && path) app.menu.open(event.clientX || box.left + 40, event.clientY || box.bottom, path)
  })
  document.addEventListener('pointerdown', event => { if (!event.target.closest('#menu')) app.menu.close() })
  document.addEventListener('keydown', event => pressed(app, event))
}

function pressed(app, event) {
  const { key, target } = event
  if (document.querySelector('dialog[open]')) return
  if (app.menu.isOpen) return app.menu.key(event)
  const isTyping = TYPING.test(target.tagName)
  if (key === 'Escape') {
    if (!isTyping) return void app.go(null)
    if (target.type === 'search') {
      target.value = ''
      target.dispatchEvent(new Event('input'))
    }
    return target.blur()
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const isTree = document.activeElement === $('tree'), isButton = target.tagName === 'BUTTON' || target.tagName === 'TR'
  const run = MOVES[key] ? () => (view.name === 'peers' ? app.peers : isTree ? app.tree : app.log).move(MOVES[key])
    : isTree && /^(ArrowLeft|ArrowRight|Enter)$/.test(key) ? () => app.tree.key(key)
    : key === 'Enter' && isButton ? null
    : {
      '/': () => $(view.name === 'state' ? 'log-filter' : 'peer-filter').focus(), s: () => $('tree-filter').focus(),
      g: () => { $('goto').focus(); $('goto').select() }, f: () => app.go(null), b: () => app.blame(), '[': () => app.step(-1), ']': () => app.step(1),
      '?': showKeys, 1: () => app.show('state'), 2: () => app.show('peers'), Enter: () => app.log.enter(),
    }[key]
  if (!run) return
  event.preventDefault()
  run()
}

function showKeys() {
  const list = element('dl', {}, KEYS.flatMap(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]))
  const close = element('button', { class: 'btn', onclick: () => $('keys').close() }, 'Close')
  $('keys').replaceChildren(element('h2', { id: 'keys-title' }, 'Keyboard'), list, close)
  $('keys').showModal()
}

export class Menu {
  constructor(app) { this.app = app }
  get isOpen() { return !$('menu').hidden }

  open(x, y, path) {
    const { app } = this
    const item = (text, run, key) => element('button', { role: 'menuitem', tabindex: -1, onclick: () => { this.close(); run() } },
      text, key && element('kbd', {}, key))
    app.tree.select(path)
    $('menu').replaceChildren(
      element('div', { class: 'path', role: 'presentation' }, printable(path)),
      item('What last changed this', () => app.blame(path), 'b'), item('Show its actions in the log', () => app.showActions(path)),
      element('hr', { role: 'separator' }), item('Copy path', () => app.copying(() => path, 'the path')),
      item('Copy value as JSON', () => app.copyValue(path)),
      item('Copy statecast-replica --select', () => app.copying(() => app.replicaCommand(path), 'the command')),
      item('Copy link to this view', () => app.copying(() => location.href, 'the link')))
    $('menu').hidden = false
    $('menu').style.left = Math.max(0, Math.min(x, innerWidth - $('menu').offsetWidth - 4)) + 'px'
    $('menu').style.top = Math.max(0, Math.min(y, innerHeight - $('menu').offsetHeight - 4)) + 'px'
    $('menu').querySelector('button').focus()
  }
  close() {
    if (!this.isOpen) return
    $('menu').hidden = true
    $('tree').focus()
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
import { ActionRows, compare } from './rows.js'
import { VirtualList } from './virtual.js'
import { compile, journalQuery, parse } from './filter.js'
import { view } from './view.js'
import { $, clock, duration, element, group, setText } from './format.js'

const MEMORY = 50_000, FOUND = 10_000, PAGE = 500, CHIPS = 12, SLOW = 20

export class Log {
  constructor(app) {
    this.app = app
    this.memory = new ActionRows(MEMORY)
    this.rows = this.memory
    this.shown = new Int32Array(MEMORY + 10_000)
    this.chips = new Map()
    this.cursors = new Map()
    this.list = new VirtualList($('log'), {
      role: 'option', className: 'log', count: () => this.count, active: () => this.activeIndex(),
      build: () => ['r', 't', 'a', 'w', 'd'].map(name => element('span', { class: name })),
      draw: (row, cells, index) => this.draw(row, cells, this.shown[index], index),
      drawn: (first, end) => this.loadVisibleGaps(first, end),
    })
    const root = $('log')
    root.addEventListener('mousedown', event => this.select(this.list.indexOf(event.target)))
    root.addEventListener('dblclick', () => this.enter())
    root.addEventListener('scroll', () => this.scrolled(), { passive: true })
    this.reset()
  }

  /** Forgets everything: another store or lineage. */
  reset() {
    this.memory.clear()
    this.found = null
    this.queryText = ''
    this.error = null
    if (this.app.has('history')) this.memory.setGap(this.memory.count++, -1)
    this.applyFilter()
  }

  // MARK: Rows that arrive

  append({ actions, skipped }) {
    const isGap = skipped || (this.isReconnected && this.memory.count && !this.memory.gap[0] ? -1 : 0)
    if (actions.length) this.isReconnected = false
    this.memory.append(actions, isGap)
    if (this.rows === this.memory) this.judge()
    const first = this.shown[Math.min(this.list.top, this.count - 1)] ?? 0
    const canLoad = this.app.has('history')
    if (this.memory.count > MEMORY + 5000) this.keepView(() => this.memory.evict(view.follow ? this.memory.count : first, canLoad))
    if (view.follow) this.list.scrollToEnd()
    else this.list.schedule()
    return actions.at(-1)
  }

  /** The stream began anew: actions may be missing before its first. */
  reconnected() { this.isReconnected = this.memory.count > 1 }

  async pollFound() {
    if (!this.found || this.isPolling || this.found.count === 0 || view.at != null) return
    const last = this.found.count - 1
    if (this.found.gap[last]) return
    this.isPolling = true
    try {
      const { actions } = await this.app.get('actions', { ...this.query, limit: PAGE, after: this.found.idOf(last) })
      this.found?.append(actions.reverse(), 0)
      this.judge()
      if (view.follow) this.list.scrollToEnd()
      else this.list.schedule()
    } catch (error) { this.fail(error) } finally { this.isPolling = false }
  }

  // MARK: Filter

  applyFilter(searchesJournal = false) {
    const terms = parse(view.q), query = journalQuery(terms)
    const isSearch = query && this.app.has('history') && ('path' in query || searchesJournal)
    const text = isSearch ? JSON.stringify(query) : ''
    this.unsupported = terms.some(term => term.key === 'path' && (term.not || !isSearch))
    this.test = compile(terms, view.hide)
    this.error = null
    if (text !== this.queryText) {
      this.queryText = text
      this.query = isSearch ? query : {}
      this.cursors.clear()
      this.searchedTo = null
      this.found = isSearch ? new ActionRows(FOUND) : null
      if (this.found) this.found.setGap(this.found.count++, -1)
    }
    this.rows = this.found ?? this.memory
    this.judgeAll()
    if (view.follow) this.list.scrollToEnd()
    else if (view.selected) this.reveal()
    this.list.schedule()
  }

  judgeAll() {
    this.count = this.judged = 0
    this.judge()
  }
  judge() {
    const { rows, test, shown } = this
    for (; this.judged < rows.count; this.judged++) {
      const i = this.judged
      const passes = rows.gap[i] ? !this.count || !rows.gap[shown[this.count - 1]] : !test || test(rows, i)
      if (passes) shown[this.count++] = i
    }
  }

  /** Changes entries in the middle, and keeps the same ones in view. */
  keepView(change) {
    let index = this.list.top
    while (index < this.count - 1 && this.rows.gap[this.shown[index]]) index++
    const anchor = index < this.count && !this.rows.gap[this.shown[index]] ? this.rows.idOf(this.shown[index]) : null
    change()
    this.judgeAll()
    if (anchor && !view.follow) this.list.shift(this.indexOf(anchor) - index)
    else this.list.schedule()
  }

  /** The position of an entry among the shown ones, or where it would be. */
  indexOf(id) {
    const i = this.rows.lowerBound(id)
    let low = 0, high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.shown[middle] < i) low = middle + 1
      else high = middle
    }
    return low
  }
  activeIndex() {
    if (!view.selected) return -1
    const index = this.indexOf(view.selected), i = this.shown[index]
    return index < this.count && !this.rows.gap[i] && this.rows.idOf(i) === view.selected ? index : -1
  }

  // MARK: Loading

  loadVisibleGaps(first, end) {
    if (this.loading || this.error || (this.test && !this.found)) return
    for (let index = first; index < end; index++) {
      const i = this.shown[index]
      if (this.rows.gap[i] && (!view.follow || this.rows.gap[i] < 0)) return void this.load(i, this.isScrollingUp ?? true)
    }
  }

  /** Loads a page into a gap, from its newer or its older side, or the rows up to a revision. */
  async load(g, isUpward, at) {
    if (!this.app.has('history') || this.loading) return
    const rows = this.rows
    const older = g > 0 ? rows.idOf(g - 1) : null, newer = g + 1 < rows.count ? rows.idOf(g + 1) : null
    const isAfter = at == null && older !== null && (!isUpward || !newer)
    const place = at != null ? { at } : isAfter ? { after: this.cursors.get(older) ?? older } : newer ? { before: this.cursors.get(newer) ?? newer } : {}
    this.loading = true
    this.list.schedule()
    try {
      const answer = await this.app.get('actions', { ...this.query, limit: PAGE, ...place })
      if (rows !== this.rows) return
      const found = answer.actions.reverse(), isOpen = answer.next != null
      g = older !== null ? rows.find(older) + 1 : newer !== null ? rows.find(newer) - 1 : rows.count - 1
      if (g < 0 || !rows.gap[g]) return
      const cursor = isAfter ? found.at(-1)?.id ?? older : found[0]?.id ?? newer
      if (isOpen && cursor) this.cursors.set(cursor, answer.next)
      if (this.found) this.searchedTo = isOpen ? answer.searchedTo ?? { revision: found[0]?.revision } : { revision: null }
      this.keepView(() => rows.fill(g, found, isAfter ? false : isOpen, isAfter ? isOpen : at != null))
      if (view.follow) this.list.scrollToEnd()
    } catch (error) { this.fail(error) } finally {
      this.loading = false
      this.list.schedule()
    }
  }

  fail(error) {
    this.error = error
    clearTimeout(this.retry)
    if (error.isTemporary) this.retry = setTimeout(() => { this.error = null; this.list.schedule() }, 1000 * (error.retryAfter ?? 5))
  }

  /** The entry of the last action at or before a revision; loads it if necessary. */
  async locate(revision) {
    for (let tries = 0; tries < 3; tries++) {
      const i = this.rows.after(revision) - 1
      if (i >= 0 && !this.rows.gap[i]) return i
      if (i < 0 || !this.app.has('history')) return -1
      const before = this.rows.count
      await this.idle()
      await this.load(this.rows.after(revision) - 1, true, revision)
      if (this.rows.count === before) return -1
    }
    return -1
  }
  async idle() { while (this.loading) await new Promise(done => setTimeout(done, 20)) }

  /** The end of the batch before (-1) or after (1) a revision; null if there is none. */
  async neighbour(revision, direction) {
    for (let tries = 0; tries < 3; tries++) {
      const after = this.rows.after(revision)
      const i = direction > 0 ? after : this.rows.bisect(j => this.rows.to[j] < revision) - 1
      if (i < 0 || i >= this.rows.count) return null
      if (!this.rows.gap[i]) return this.rows.to[i]
      await this.idle()
      await this.load(i, direction < 0)
      if (this.error) return null
    }
    return null
  }

  // MARK: Selection

  select(index) {
    if (index < 0 || index >= this.count) return
    const i = this.shown[index]
    if (this.rows.gap[i]) return this.openGap(i)
    view.selected = this.rows.idOf(i)
    view.follow = false
    view.pane = 'change'
    this.list.reveal(index)
    if (view.at != null) this.app.go(this.rows.to[i], view.selected)
    else this.app.refresh()
  }
  openGap(i) {
    this.error = null
    if (this.test && !this.found && i === 0 && journalQuery(parse(view.q))) this.applyFilter(true)
    else this.load(i, this.isScrollingUp ?? true)
  }
  move(step) {
    const from = this.activeIndex()
    this.select(Math.max(0, Math.min(this.count - 1, (from < 0 ? this.count : from) + step)))
  }
  enter() {
    const i = this.selectedEntry()
    if (i >= 0) this.app.go(this.rows.to[i], view.selected)
  }
  selectedEntry() { return view.selected ? this.rows.find(view.selected) : -1 }
  reveal() { this.list.reveal(Math.min(this.indexOf(view.selected), Math.max(0, this.count - 1)), true) }
  /** The id of the newest action in memory, if any. */
  newest() {
    const last = this.memory.count - 1
    return last >= 0 && !this.memory.gap[last] ? this.memory.idOf(last) : null
  }

  scrolled() {
    const top = $('log').scrollTop
    if (top !== this.lastTop) this.isScrollingUp = top < this.lastTop
    if (view.at == null) {
      const follows = this.list.atEnd && (view.follow || top > this.lastTop)
      if (follows !== view.follow) {
        view.follow = follows
        this.app.heads()
      }
    }
    this.lastTop = top
  }

  // MARK: Drawing

  draw(row, [revision, time, action, user, delay], i, index) {
    const { rows } = this, previous = index ? this.shown[index - 1] : -1, next = index + 1 < this.count ? this.shown[index + 1] : -1
    if (rows.gap[i]) {
      row.classList.add('gap')
      row.key = null
      setText(action, this.gapText(i))
      for (const cell of [revision, time, user, delay]) setText(cell, '')
      revision.className = 'r'
      return
    }
    const isFuture = view.at != null && rows.to[i] > view.at
    if (rows.isRejected[i]) row.classList.add('rejected')
    if (isFuture) row.classList.add('future')
    if (isFuture && previous >= 0 && rows.to[previous] <= view.at) row.classList.add('boundary')
    const joinsPrevious = previous >= 0 && rows.isSameBatch(previous, i), joinsNext = next >= 0 && rows.isSameBatch(next, i)
    revision.className = 'r' + (joinsPrevious && joinsNext ? ' mid' : joinsNext ? ' top' : joinsPrevious ? ' end' : '')
    const key = rows.idOf(i)
    if (row.key === key) return
    row.key = key
    setText(revision, group(rows.revision[i]))
    setText(time, clock(rows.time[i]))
    action.replaceChildren(rows.action[i], element('em', {}, (rows.isRejected[i] ? `rejected ${rows.code[i]} ` : '') + rows.text[i]))
    setText(user, rows.user[i] || (Number.isNaN(rows.session[i]) ? '' : rows.sessionOf(i) + '…'))
    setText(delay, Number.isNaN(rows.delay[i]) ? '' : duration(rows.delay[i]))
    delay.className = 'd' + (rows.delay[i] > SLOW ? ' slow' : '')
  }

  gapText(i) {
    const missing = this.rows.gap[i]
    const what = i === 0 ? 'Older actions' : missing > 0 ? `${group(missing)} actions` : 'Actions'
    if (!this.app.has('history')) return `${what} are missing here: the gateway has no journal`
    if (this.error) return `${what} could not be loaded: ${this.error.message}`
    if (this.loading) return `${what}: loading…`
    if (this.found) return `Searched back to revision ${group(this.searchedTo?.revision)}; press to search further`
    return this.test ? `${what} are not loaded, and not filtered; press to load` : `${what} are not loaded`
  }

  heads() {
    const all = this.rows.count, isWhole = this.count === all
    const text = this.unsupported ? 'path: needs a journal, and cannot be negated'
      : this.found ? `${group(this.count - (this.rows.gap[0] ? 1 : 0))} found${this.searchedTo?.revision === null ? '' : ' so far'}`
      : isWhole ? `last ${group(all - (this.rows.gap[0] ? 1 : 0))}` : `${group(this.count)} of ${group(all)}`
    setText($('log-count'), text)
    $('follow').setAttribute('aria-pressed', view.follow)
  }

  drawChips() {
    const counts = [...this.memory.names].sort((a, b) => b[1] - a[1]).slice(0, CHIPS)
    for (const name of view.hide) if (!counts.some(([known]) => known === name)) counts.push([name, this.memory.names.get(name) ?? 0])
    const names = counts.map(([name]) => name).sort()
    if (names.join('\n') !== this.chipNames) {
      this.chipNames = names.join('\n')
      this.chips.clear()
      for (const name of names) {
        const title = 'Click: hide or show; Alt-click: only this'
        this.chips.set(name, element('button', { title, onclick: event => this.toggle(name, event.altKey) }, name, element('span', { class: 'n' })))
      }
      const onlyRejected = () => this.app.setFilter(view.q === 'outcome:rejected' ? '' : 'outcome:rejected')
      this.chips.set(null, element('button', { class: 'red', title: 'Show only rejected actions', onclick: onlyRejected }, 'rejected', element('span', { class: 'n' })))
      $('types').replaceChildren(...this.chips.values())
    }
    for (const [name, chip] of this.chips) {
      setText(chip.lastChild, group(name === null ? this.memory.rejected : this.memory.names.get(name) ?? 0))
      chip.setAttribute('aria-pressed', name === null ? view.q === 'outcome:rejected' : !view.hide.has(name))
    }
  }
  toggle(name, isOnly) {
    const others = [...this.chips.keys()].filter(other => other !== null && other !== name)
    if (isOnly) view.hide = new Set(others.every(other => view.hide.has(other)) && !view.hide.has(name) ? [] : others)
    else if (!view.hide.delete(name)) view.hide.add(name)
    this.applyFilter(this.found !== null)
    this.drawChips()
    this.app.refresh()
  }

  /** The actions in memory with the batch of an action, in order. */
  batchOf(id) {
    const i = this.rows.find(id), ids = []
    if (i < 0) return [id]
    let first = i
    while (first > 0 && this.rows.isSameBatch(first - 1, i)) first--
    for (let j = first; j < this.rows.count && this.rows.isSameBatch(j, i); j++) ids.push(this.rows.idOf(j))
    return ids
  }
}
export { compare }
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
import { journalCommands, quoted } from './copy.js'
import { listen, Menu } from './input.js'
import { $, button, clock, duration, element, group, json, printable, setText, UNKNOWN } from './format.js'

const TOKEN = 'statecast token'

class Inspector {
  view = view
  features = []
  live = { revision: null, epoch: null, lineage: null }
  status = { status: 'connecting', why: null }
  arrivals = []

  constructor() {
    this.log = new Log(this)
    this.tree = new Tree(this)
    this.send = new Send(this)
    this.detail = new Detail(this)
    this.timeline = new Timeline(this)
    this.peers = new Peers(this)
    this.menu = new Menu(this)
    listen(this)
    $('store').addEventListener('change', () => { location.hash = `#/${encodeURIComponent($('store').value)}` })
    addEventListener('hashchange', () => this.begin())
    $('token-form').addEventListener('submit', event => {
      event.preventDefault()
      sessionStorage.setItem(TOKEN, $('token').value.trim())
      $('token-dialog').close()
      this.begin()
    })
    setInterval(() => this.tick(), Tree.interval)
    this.begin()
  }

  // MARK: Connection

  async begin() {
    const [, token] = location.hash.match(/[#&?]token=([^&]*)/) ?? []
    if (token) {
      sessionStorage.setItem(TOKEN, decodeURIComponent(token))
      history.replaceState(null, '', location.hash.replace(/[#&?]token=[^&]*/, '') || location.pathname)
    }
    clearTimeout(this.retry)
    readURL()
    $('log-filter').value = view.q
    $('tree-filter').value = view.find
    const saved = sessionStorage.getItem(TOKEN)
    if (!saved) return this.askToken('This gateway needs a token. It prints a link with it when it starts.')
    if (saved !== this.token) this.client = new Statecast(new URL('.', location.href), { token: this.token = saved })
    try {
      const { stores } = await this.client.stores()
      if (!stores.length) throw Error('The gateway follows no store')
      this.notice('')
      $('store').replaceChildren(...stores.map(({ store }) => element('option', { value: store }, printable(store))))
      const chosen = stores.find(({ store }) => store === view.store)
      if (view.store && !chosen) this.notice(`This gateway has no store “${view.store}”.`)
      this.open(chosen ?? stores[0])
    } catch (error) {
      if (error.status === 401) return this.refused(error)
      this.notice(`${error.message}. The page tries again.`)
      this.retry = setTimeout(() => this.begin(), 1000 * (error.retryAfter ?? 2))
    }
  }

  askToken(message) {
    setText($('token-why'), message)
    if (!$('token-dialog').open) $('token-dialog').showModal()
  }
  refused(error) {
    this.following?.close()
    sessionStorage.removeItem(TOKEN)
    this.token = null
    this.askToken(`The gateway refuses this token: ${error.message}`)
  }

  open({ store, features, position, status, why, since }) {
    const isOther = store !== this.store
    view.store = this.store = $('store').value = store
    document.title = `${printable(store)} – Statecast inspector`
    this.features = features
    this.status = { status, why, since }
    $('tab-send').hidden = !this.has('send')
    if (!this.has('send') && view.pane === 'send') view.pane = 'change'
    if (isOther) this.live = { revision: null, epoch: null, lineage: null }
    this.linked = view.lineage
    this.reset()
    if (position) this.seen(position)
    this.follow()
    this.restore()
  }

  /** Shows what the URL names. */
  async restore() {
    this.tree.restore(view.open)
    this.refresh()
    if (view.at != null) await this.go(view.at)
    if (view.path) await this.tree.focus(view.path)
    else this.tree.list.schedule()
    if (view.find) await this.tree.search()
    this.timeline.refresh()
    this.refreshHealth()
  }

  reset() {
    for (const pane of [this.log, this.tree, this.timeline, this.peers]) pane.reset()
    this.arrivals = []
    this.send.connect()
    this.detail.forget()
  }

  follow() {
    this.following?.close()
    let wasOffline = false
    this.following = this.client.follow(this.store, [], null, {
      onLog: (actions, { skipped }) => this.arrived(actions, skipped),
      onStatus: (status, { why, since, error }) => {
        if (error?.status === 401) return this.refused(error)
        if (wasOffline) this.log.reconnected()
        wasOffline = status === 'offline'
        if (status === 'live') this.checkPosition()
        this.status = { status, since, why: why ?? error?.message ?? null }
        this.heads()
      },
    })
  }
  /** A new lineage or epoch is not part of the log. */
  checkPosition() { this.get('state', { path: '', limit: 1 }).then(({ position }) => this.seen(position), () => {}) }

  has(feature) { return this.features.includes(feature) }

  async get(route, params) {
    const { store } = this
    try {
      const answer = await this.client.get(store, route, params)
      if (store !== this.store) throw Error('The page shows another store now')
      return answer
    } catch (error) {
      if (error.status === 401) this.refused(error)
      error.isTemporary = error.status == null || error.status === 429 || error.status >= 500
      throw error
    }
  }

  // MARK: What arrives

  arrived(actions, skipped) {
    const last = this.log.append({ actions, skipped })
    if (!last) return
    const revision = last.update ? last.update.to : last.revision
    if (!(revision <= this.live.revision)) this.live.revision = revision
    this.delay = last.delay ?? null
    this.arrivals.push([performance.now(), actions.length + skipped])
    this.headsSoon()
  }

  /** The live position in an answer. */
  seen(position) {
    const before = this.live.lineage
    if (before === position.lineage) {
      this.live = { ...position, revision: Math.max(position.revision, position.epoch > this.live.epoch ? 0 : this.live.revision) }
      return this.headsSoon()
    }
    this.live = position
    view.lineage = position.lineage
    if (this.linked && !position.lineage.startsWith(this.linked)) {
      const shown = view.at == null ? '' : ` Revision ${group(view.at)} of the link is not shown.`
      this.notice(`This link is of another history, ${this.linked.slice(0, 8)}: the store now has ${position.lineage.slice(0, 8)}.${shown}`)
      view.at = null
    }
    this.linked = null
    if (before !== null) {
      this.notice(`The store has begun a new history, ${position.lineage.slice(0, 8)}: the log was cleared.`)
      this.reset()
      this.go(null)
    }
    this.refresh()
  }

  /** The position of a state of history: the end of a batch. */
  shown(position) {
    this.at = position
    this.heads()
  }

  pruned(error) {
    if (error.oldest == null || view.at == null) return this.notice(error.message)
    this.notice(error.message, button(`Go to revision ${group(error.oldest)}`, () => { this.notice(''); this.go(error.oldest) }))
  }

  tick() {
    if (document.hidden || !this.store || !this.client) return
    this.count = (this.count ?? 0) + 1
    this.tree.refresh()
    if (this.count % 2) {
      this.log.drawChips()
      this.log.pollFound()
      this.detail.refresh()
      this.timeline.refresh()
      this.timeline.schedule()
      this.headsSoon()
    }
    if (this.count % 20 === 0 || (view.name === 'peers' && this.count % 4 === 0)) this.refreshHealth()
  }
  async refreshHealth() {
    if (view.name === 'peers') await this.peers.refresh()
    await this.peers.refreshHealth(view.name === 'peers')
  }

  // MARK: Navigation

  /** Shows the state at the end of the last batch at or before a revision; null shows the live state. */
  async go(revision, id = null) {
    if (revision == null || revision > (this.live.revision ?? Infinity)) {
      Object.assign(view, { at: null, selected: null, follow: true, span: 'batch' })
      this.at = null
      this.refresh()
      return this.log.list.scrollToEnd()
    }
    if (!this.has('history')) return this.toast('This gateway has no journal: only the live state is known')
    const { rows } = this.log, known = rows.after(revision) - 1
    const isKnown = known >= 0 && !rows.gap[known] && rows === this.log.memory
    Object.assign(view, { at: isKnown ? rows.to[known] : revision, selected: id, follow: false })
    const { at } = view
    if (this.at?.revision !== at) this.at = null
    this.refresh()
    const i = await this.log.locate(at)
    if (at !== view.at) return
    if (i >= 0) {
      if (rows === this.log.memory) view.at = rows.to[i]
      view.selected ??= rows.idOf(i)
      this.atTime = rows.time[i]
    } else this.atTime = null
    if (view.selected) this.log.reveal()
    this.refresh()
  }

  async step(direction) {
    if (view.at == null && direction > 0) return
    const next = await this.log.neighbour(view.at ?? this.live.revision, direction)
    if (next !== null) this.go(next)
    else if (direction > 0) this.go(null)
    else this.toast('No earlier batch is known')
  }
  first() {
    if (this.timeline.data) this.go(this.timeline.data.oldest)
  }

  setFilter(text) {
    view.q = $('log-filter').value = text
    this.log.applyFilter()
    this.log.drawChips()
    this.refresh()
  }
  find(text) {
    view.find = $('tree-filter').value = text
    const done = this.tree.search()
    this.refresh()
    return done
  }
  showActions(path) { this.setFilter('path:' + path) }
  blame(path = view.path) {
    view.path = path
    view.pane = 'blame'
    this.refresh()
  }
  show(name) {
    view.name = name
    this.refresh()
    if (name === 'peers') this.refreshHealth()
  }

  // MARK: Texts

  async copying(make, name) {
    try {
      const text = this.copied = await make()
      await write(text)
      this.toast('copied ' + name)
    } catch (error) { this.notice(`${name}: ${error.message}`) }
  }
  copyValue(path) {
    return this.copying(async () => json((await this.get('state', { path, whole: true, at: view.at ?? undefined })).value, '', '  '), 'the value')
  }
  replicaCommand(path) { return `statecast-replica --store ${quoted(this.store)} --select ${quoted(path)}` }

  toast(text) {
    setText($('toast'), text)
    $('toast').hidden = false
    clearTimeout(this.toastTimer)
    this.toastTimer = setTimeout(() => { $('toast').hidden = true }, 1500)
  }
  notice(text, ...more) {
    $('notice').hidden = !text
    $('notice').replaceChildren(element('span', {}, printable(text)), element('span', { class: 'grow' }), ...more, button('Close', () => this.notice('')))
  }

  // MARK: Drawing

  refresh() {
    for (const name of ['state', 'peers']) {
      $('view-' + name).hidden = view.name !== name
      $('tab-' + name).setAttribute('aria-selected', view.name === name)
    }
    $('time').hidden = view.name !== 'state'
    this.heads()
    this.detail.refresh()
    for (const list of [this.log.list, this.tree.list, this.peers.list, this.timeline]) list.schedule()
    saveURL()
  }

  /** At most 15 times a second. */
  headsSoon() { this.headsTimer ??= setTimeout(() => { this.headsTimer = null; this.heads() }, 66) }
  heads() {
    const { revision, epoch, lineage } = this.live, now = performance.now()
    this.arrivals = this.arrivals.filter(([time]) => now - time < 3000)
    const rate = this.arrivals.reduce((sum, [, count]) => sum + count, 0) / 3
    setText($('f-rev'), group(revision))
    setText($('f-epoch'), group(epoch))
    setText($('f-lineage'), lineage?.slice(0, 8) ?? UNKNOWN)
    $('f-lineage').title = lineage ?? ''
    setText($('f-rate'), this.status.status === 'live' ? rate < 10 ? rate.toFixed(1) : group(Math.round(rate)) : UNKNOWN)
    setText($('f-lag'), duration(this.delay))
    const { status, why } = this.status, isHistory = view.at != null
    $('live').className = 'live' + (isHistory ? ' hist' : status === 'live' ? '' : ' stale')
    setText($('live'), (isHistory ? 'history' : '') + (isHistory && status !== 'live' ? ', ' : '') + (isHistory && status === 'live' ? '' : status))
    $('live').title = why ?? ''
    setText($('mode'), this.has('send') ? 'sending allowed' : 'read only')
    $('mode').classList.toggle('on', this.has('send'))
    if (document.activeElement !== $('goto')) $('goto').value = group(view.at ?? revision)
    $('golive').setAttribute('aria-pressed', !isHistory)
    this.log.heads()
    this.tree.heads()
    this.banner()
  }

  banner() {
    const at = this.at?.revision ?? view.at, behind = this.live.revision - at
    const key = view.at == null ? '' : [at, this.atTime].join()
    $('history').hidden = view.at == null
    setText($('behind'), `, ${group(Math.max(0, behind))} before live`)
    if (key === this.bannerKey) return
    this.bannerKey = key
    setText($('viewed'), group(at))
    setText($('viewed-time'), this.atTime ? ` of ${clock(this.atTime)} UTC` : '')
    const commands = journalCommands(at, null)
    $('commands').replaceChildren(...commands.map(command => element('button',
      { title: 'Copy this command; DIR is the directory of the journal', onclick: () => this.copying(() => command, command) }, command)))
  }
}

async function write(text) {
  try { return await navigator.clipboard.writeText(text) } catch { /* not a secure context, or not permitted */ }
  const area = element('textarea', { class: 'sr', 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

window.inspector = new Inspector()
"""###),
        PageFile("peers.js", ###"""
// Peers sorted by lag, and health: checks with a fixed meaning, series, and the gateway itself.
import { VirtualList } from './virtual.js'
import { $, bytes, duration, element, group, instant, pairs, printable, section, setText, UNKNOWN } from './format.js'

const COLUMNS = [['name', 'name'], ['kind', 'kind'], ['user', 'user'], ['address', 'address'], ['status', 'status'],
  ['lag', 'revisions behind'], ['delay', 'delay'], ['heard', 'heard'], ['rate', 'actions/s']]
const SERIES = [['actions', 'actions a second', group], ['rejected', 'rejected a second', group], ['updateBytes', 'update bytes', bytes],
  ['lag', 'revisions behind, worst replica', group]]
const MARKS = { ok: '✓', warn: '!', bad: '✕', unknown: '?' }

export class Peers {
  rows = []
  sort = 'lag'
  kind = 'all'
  active = -1

  constructor(app) {
    this.app = app
    this.list = new VirtualList($('peer-list'), {
      role: 'row', className: 'peer', host: $('peers'), count: () => this.rows.length, active: () => this.active,
      build: () => COLUMNS.map(([key]) => element('span', { role: 'gridcell', class: key },
        key === 'lag' && [element('b'), element('svg', { preserveAspectRatio: 'none', viewBox: '0 0 100 6', 'aria-hidden': 'true' }, element('rect', { height: 6 }))])),
      draw: (row, cells, index) => this.draw(row, cells, this.rows[index]),
    })
    $('peer-filter').addEventListener('input', () => this.arrange())
    $('peer-list').addEventListener('mousedown', event => { this.active = this.list.indexOf(event.target); this.list.schedule() })
    const heads = COLUMNS.map(([key, text]) => element('button', { 'data-sort': key, onclick: () => { this.sort = key; this.arrange() } }, text))
    $('peer-cols').replaceChildren(...heads.map(head => element('span', { role: 'columnheader', class: head.dataset.sort }, head)))
  }

  reset() { this.answer = null; this.rows = []; this.health = null }

  async refresh() {
    try {
      this.answer = await this.app.get('peers', { sort: 'lag' })
      this.error = null
    } catch (error) { this.error = error }
    this.arrange()
  }

  /** Filters and sorts. What is not known comes last. */
  arrange() {
    const peers = this.answer?.peers ?? [], text = $('peer-filter').value.toLowerCase()
    const matches = peer => !text || `${peer.name} ${peer.user ?? ''} ${peer.address ?? ''}`.toLowerCase().includes(text)
    this.rows = peers.filter(peer => (this.kind === 'all' || peer.kind === this.kind) && matches(peer))
    const rank = peer => peer[this.sort] ?? (this.sort === 'lag' ? -1 : null)
    this.rows.sort((a, b) => {
      const [x, y] = [rank(a), rank(b)]
      if (x === null || y === null) return (x === null) - (y === null)
      return typeof x === 'number' ? y - x : String(x).localeCompare(String(y))
    })
    const count = status => peers.filter(peer => peer.status === status).length
    const why = this.error?.message ?? (this.answer && !this.answer.reported ? `Replicas and senders are not reported: ${this.answer.why ?? 'unknown'}` : '')
    setText($('peer-count'), this.answer ? `${group(this.rows.length)} of ${group(peers.length)}: ${count('slow')} slow, ${count('stale')} stale` : '')
    setText($('peer-why'), why)
    for (const head of $('peer-cols').children) {
      const isSorted = head.firstChild.dataset.sort === this.sort
      if (isSorted) head.setAttribute('aria-sort', typeof peers[0]?.[this.sort] === 'number' || this.sort === 'lag' ? 'descending' : 'ascending')
      else head.removeAttribute('aria-sort')
    }
    const kinds = ['all', ...new Set(peers.map(peer => peer.kind))]
    const choices = kinds.map(kind => element('button', { 'aria-pressed': kind === this.kind, onclick: () => { this.kind = kind; this.arrange() } }, kind))
    if (kinds.join() + this.kind !== this.kinds) $('peer-kind').replaceChildren(...choices)
    this.kinds = kinds.join() + this.kind
    this.list.schedule()
  }

  draw(row, cells, peer) {
    if (peer.status === 'slow') row.classList.add('warn')
    if (peer.status === 'stale') row.classList.add('bad')
    const text = value => value == null ? UNKNOWN : printable(value)
    const texts = [peer.name, text(peer.kind), text(peer.user), text(peer.address), text(peer.status), null, duration(peer.delay),
      peer.heard == null ? UNKNOWN : duration(peer.heard), peer.rate == null ? UNKNOWN : peer.rate.toFixed(1)]
    texts.forEach((each, index) => { if (each !== null) setText(cells[index], printable(each)) })
    const [label, bar] = cells[5].children
    setText(label, group(peer.lag))
    bar.firstChild.setAttribute('width', peer.lag ? Math.min(100, Math.log10(peer.lag + 1) * 20) : 0)
  }

  move(step) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + step))
    this.list.reveal(this.active)
  }

  // MARK: Health

  async refreshHealth(isVisible) {
    try {
      this.health = await this.app.get('health')
    } catch (error) {
      if (isVisible) $('health').replaceChildren(section(null, element('p', { class: 'note error', role: 'alert' }, error.message)))
      return
    }
    const { checks } = this.health, bad = checks.filter(check => check.status === 'warn' || check.status === 'bad').length
    setText($('alarm'), bad ? String(bad) : '')
    $('alarm').hidden = !bad
    $('alarm').title = `${bad} checks are not good`
    const digest = checks.find(check => check.id === 'digest')
    setText($('f-digest'), !digest || digest.status === 'unknown' ? UNKNOWN : digest.status === 'ok' ? 'equal' : 'different')
    setText($('health-sum'), `${checks.filter(check => check.status === 'ok').length} of ${checks.length} checks are good`)
    if (isVisible) $('health').replaceChildren(this.checks(), this.charts(), this.gateway(), this.clients())
  }

  checks() {
    const row = ({ status, title, value, note }) => element('tr', {},
      element('td', {}, element('span', { class: 'dot ' + status, role: 'img', 'aria-label': status }, MARKS[status] ?? '?')),
      element('td', {}, printable(title), element('small', {}, printable(note ?? ''))), element('td', {}, printable(value ?? UNKNOWN)))
    return section(null, element('table', { class: 'checks' }, this.health.checks.map(row)))
  }

  charts() {
    const { series } = this.health
    const shown = SERIES.filter(([key]) => series[key]?.some(value => value !== null))
    const chart = ([key, title, text]) => {
      const values = series[key], last = text(values.findLast(value => value !== null))
      return element('div', { class: 'chart' }, element('div', {}, element('span', {}, title), element('b', {}, last)),
        element('svg', { viewBox: '0 0 300 38', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: ${last}` },
          element('path', { d: line(values) })))
    }
    return section('Last 15 minutes', shown.length ? element('div', { class: 'charts' }, shown.map(chart)) : 'Not known yet.')
  }

  gateway() {
    const { version, process, memory, since, connections, streams, history } = this.health.gateway
    const used = ([count, most]) => `${group(count)} of ${group(most)}`
    const kept = history && `${group(history.oldest)} to live, ${group(history.records)} records, ${bytes(history.bytes)}`
    return section('This gateway', pairs([['version', version], ['process', process], ['memory', bytes(memory)],
      ['since', instant(since)], ['connections', used(connections)], ['streams', used(streams)], ['history', kept ?? 'no journal'],
      ['snapshots', history && group(history.snapshots)], ['epochs', history && group(history.epochs)]]))
  }

  clients() {
    const rows = (this.answer?.clients ?? []).slice(0, 20).map(({ address, streams, lag, bytes: sent }) => element('tr', {},
      [printable(address), `${group(streams)} streams`, `${group(lag)} behind`, bytes(sent)].map(text => element('td', {}, text))))
    return section('Its clients', rows.length ? element('table', { class: 'blame' }, element('tbody', {}, rows)) : 'Not known yet.')
  }
}

/** The path of a series; it is interrupted where a value is unknown. */
function line(values) {
  const top = Math.max(1e-9, ...values.filter(value => value !== null))
  let path = '', isDrawing = false
  values.forEach((value, index) => {
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${(index / Math.max(1, values.length - 1) * 300).toFixed(1)} ${(36 - value / top * 33).toFixed(1)}`
    isDrawing = value !== null
  })
  return path
}
"""###),
        PageFile("rows.js", ###"""
// Actions in memory, in the order of the journal, in columns. Where actions are missing, one row is a gap.
import { summary, bytes } from './format.js'

const SLACK = 5000
const SHARED = new Map()

/** One copy of equal texts. */
function shared(text) {
  const known = SHARED.get(text)
  if (known !== undefined) return known
  if (SHARED.size > 5000) SHARED.clear()
  SHARED.set(text, text)
  return text
}

export class ActionRows {
  count = 0
  /** Rows in memory by the name of the action; rejected ones count in `rejected` only. */
  names = new Map()
  rejected = 0

  constructor(capacity) {
    this.capacity = capacity
    const size = capacity + 2 * SLACK
    this.sequence = new Float64Array(size) // the record: all actions of a batch have the same
    this.index = new Float64Array(size)
    this.revision = new Float64Array(size)
    this.from = new Float64Array(size)
    this.to = new Float64Array(size)
    this.time = new Float64Array(size)
    this.session = new Float64Array(size) // its first 32 bits; NaN without one
    this.delay = new Float32Array(size) // NaN if unknown
    this.isRejected = new Uint8Array(size)
    this.gap = new Int32Array(size) // 0: an action; otherwise how many are missing here, -1 if that is unknown
    this.action = new Array(size).fill('')
    this.code = new Array(size).fill('')
    this.user = new Array(size).fill('')
    this.text = new Array(size).fill('')
    this.columns = Object.values(this).filter(value => typeof value === 'object' && 'copyWithin' in value)
  }

  sessionOf(i) { return Number.isNaN(this.session[i]) ? '' : this.session[i].toString(16).padStart(8, '0') }
  idOf(i) { return this.sequence[i] + '.' + this.index[i] }
  isSameBatch(i, j) { return !this.gap[i] && !this.gap[j] && this.sequence[i] === this.sequence[j] }

  clear() {
    this.count = this.rejected = 0
    this.names.clear()
  }

  /** The first entry at or after an id. */
  lowerBound(id) {
    const [sequence, index] = id.split('.').map(Number)
    return this.bisect(i => this.sequence[i] < sequence || (this.sequence[i] === sequence && this.index[i] < index))
  }
  /** The first entry that ends after a revision. */
  after(revision) { return this.bisect(i => this.to[i] <= revision) }
  bisect(isBefore) {
    let low = 0, high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(middle)) low = middle + 1
      else high = middle
    }
    return low
  }
  find(id) {
    const i = this.lowerBound(id)
    return i < this.count && !this.gap[i] && this.idOf(i) === id ? i : -1
  }

  set(i, row) {
    const update = row.update
    const [sequence, index] = update ? [update.to, 0] : row.id.split('.').map(Number)
    const batch = update ?? row.batch
    this.sequence[i] = sequence
    this.index[i] = index
    this.revision[i] = update ? update.to : row.revision
    this.from[i] = batch.from
    this.to[i] = batch.to
    this.time[i] = row.time
    this.session[i] = row.session ? parseInt(row.session.slice(0, 8), 16) : NaN
    this.delay[i] = row.delay ?? NaN
    this.isRejected[i] = row.status === 'rejected' ? 1 : 0
    this.gap[i] = 0
    this.action[i] = shared(update ? 'update' : row.action ?? `(${row.kind})`)
    this.code[i] = shared(row.code ?? '')
    this.user[i] = shared(row.user ?? '')
    this.text[i] = update ? `${row.ops} changes` : row.cut ? `payload of ${bytes(row.cut)}` : summary(row.payload)
    this.tally(i, 1)
  }

  setGap(i, missing) {
    this.gap[i] = missing
    this.sequence[i] = i ? this.sequence[i - 1] : -1
    this.index[i] = i ? this.index[i - 1] + 0.5 : 0
    this.revision[i] = this.to[i] = i ? this.to[i - 1] : 0
    this.action[i] = this.code[i] = this.user[i] = this.text[i] = ''
    this.isRejected[i] = 0
  }

  tally(i, sign) {
    if (this.gap[i]) return
    if (this.isRejected[i]) this.rejected += sign
    else {
      const left = (this.names.get(this.action[i]) ?? 0) + sign
      if (left) this.names.set(this.action[i], left)
      else this.names.delete(this.action[i])
    }
  }

  /** Replaces `removed` entries at `i` by `added` unset ones. */
  splice(i, removed, added) {
    for (let j = i; j < i + removed; j++) this.tally(j, -1)
    if (added !== removed) for (const column of this.columns) column.copyWithin(i + added, i + removed, this.count)
    this.count += added - removed
  }

  /** Appends rows in order, after a gap if `skipped` is not 0. Returns false if earlier entries have moved. */
  append(rows, skipped) {
    const last = this.count - 1
    const isKnown = row => last >= 0 && !row.update && this.sequence[last] >= 0 && this.lowerBound(row.id) <= last
    const fresh = rows.filter(row => !isKnown(row))
    if (skipped && fresh.length) {
      if (last >= 0 && this.gap[last]) this.gap[last] = this.gap[last] < 0 || skipped < 0 ? -1 : this.gap[last] + skipped
      else this.setGap(this.count++, skipped)
    }
    for (const row of fresh) this.set(this.count++, row)
    return fresh
  }

  /**
   * Fills a part of the gap at `g` with rows in order. `isOpenBefore`, `isOpenAfter`: more are missing on that side. Rows that lie outside
   * the gap close it there. Returns the number of entries by which the later ones move.
   */
  fill(g, rows, isOpenBefore, isOpenAfter) {
    const missing = this.gap[g]
    const isAfterPrevious = row => g === 0 || compare(row.id, this.idOf(g - 1)) > 0
    const isBeforeNext = row => g === this.count - 1 || compare(row.id, this.idOf(g + 1)) < 0
    const inside = rows.filter(row => isAfterPrevious(row) && isBeforeNext(row)).slice(-SLACK)
    if (rows.length && !isAfterPrevious(rows[0])) isOpenBefore = false
    if (rows.length && !isBeforeNext(rows.at(-1))) isOpenAfter = false
    const left = missing > inside.length && isOpenBefore !== isOpenAfter ? missing - inside.length : -1
    const added = inside.length + Number(isOpenBefore) + Number(isOpenAfter)
    this.splice(g, 1, added)
    let i = g
    if (isOpenBefore) this.setGap(i++, left)
    for (const row of inside) this.set(i++, row)
    if (isOpenAfter) this.setGap(i, left)
    return added - 1
  }

  /** Drops the entries farthest from `viewed` if there are too many, and leaves a gap. Returns how many went before `viewed`, or null. */
  evict(viewed, canLoad) {
    const excess = this.count - this.capacity
    if (excess < SLACK) return null
    const dropsOld = viewed >= excess + 100
    const start = dropsOld ? 0 : this.count - excess - 1
    const leavesGap = canLoad || !dropsOld
    let missing = start === 0 ? -1 : 0
    for (let i = start; i <= start + excess && missing >= 0; i++) missing = this.gap[i] < 0 ? -1 : missing + (this.gap[i] || 1)
    this.splice(start, excess + 1, Number(leavesGap))
    if (leavesGap) this.setGap(start, missing)
    return dropsOld ? excess + 1 - Number(leavesGap) : 0
  }
}

export function compare(a, b) {
  const [sequence, index] = a.split('.').map(Number), [otherSequence, otherIndex] = b.split('.').map(Number)
  return sequence - otherSequence || index - otherIndex
}
"""###),
        PageFile("send.js", ###"""
// The pane Send: a payload from the example of the schema, and the outcomes of what this tab has sent.
import { RejectedError, UnknownOutcomeError, decodeValue } from './statecast.js'
import { $, button, duration, element, group, json, printable, section } from './format.js'

const KEPT = 30

export class Send {
  constructor(app) { this.app = app }

  /** Begins or continues the session of this tab with a store. */
  connect() {
    this.sender?.close()
    this.sender = null
    this.form = null
    this.outcomes = element('tbody')
    if (!this.app.has('send')) return
    const resumed = ({ number, action }, outcome) => this.record(action, outcome, number)
    this.sender = this.app.client.sender(this.app.store, { storage: sessionStorage, onResumed: resumed })
  }

  async show() {
    try {
      if (!this.form) this.form = await this.made()
      $('detail').replaceChildren(...this.form)
    } catch (error) {
      $('detail').replaceChildren(section(null, element('p', { class: 'note error', role: 'alert' }, error.message),
        button('Try again', () => this.show())))
    }
  }

  async made() {
    const { actions } = await this.app.get('schema')
    const choice = element('select', { id: 'send-action' }, actions.map(({ name }) => element('option', {}, name)))
    const payload = element('textarea', { id: 'send-payload', rows: 12, spellcheck: 'false', autocomplete: 'off' })
    const problem = element('p', { class: 'note error', role: 'alert', id: 'send-problem' })
    const submit = element('button', { class: 'btn main', type: 'submit' }, 'Send')
    const fill = () => {
      payload.value = json(actions[choice.selectedIndex]?.example ?? {}, '', '  ')
      submit.textContent = `Send ${choice.value}`
      problem.textContent = ''
    }
    choice.onchange = fill
    const send = event => {
      event.preventDefault()
      problem.textContent = ''
      try {
        const value = decodeValue(JSON.parse(payload.value))
        this.record(choice.value, this.sender.send(choice.value, value))
      } catch (error) { problem.textContent = `The payload is not JSON: ${error.message}` }
    }
    fill()
    const note = 'A lost answer is safe: the page repeats an action with its number, and the gateway returns the first outcome. '
      + 'Integers beyond 2^53 are written {"$int":"…"}.'
    const form = element('form', { class: 'form', onsubmit: send }, element('label', { for: 'send-action' }, 'action'), choice,
      element('label', { for: 'send-payload' }, 'payload'), payload, problem, element('div', { class: 'copy' }, submit, button('Reset', fill)))
    return [section('Send an action', form, element('p', { class: 'note' }, note)),
      section('Sent from this tab', element('table', { class: 'blame', id: 'sent' }, this.outcomes))]
  }

  async record(action, outcome, number) {
    const cells = ['r', null, null, 'r', 'r'].map(name => element('td', { class: name }))
    const show = (...texts) => texts.forEach((text, index) => { cells[index].textContent = text })
    this.outcomes.prepend(element('tr', {}, cells))
    while (this.outcomes.children.length > KEPT) this.outcomes.lastChild.remove()
    const begin = performance.now()
    show(number ?? '', action, 'waiting', '', '')
    try {
      const done = await outcome
      cells[2].className = 'green'
      show(group(done.number), action, 'applied', group(done.revision), duration(performance.now() - begin))
    } catch (error) {
      const status = error instanceof RejectedError ? `rejected ${error.code}` : error instanceof UnknownOutcomeError ? 'unknown' : error.code ?? 'failed'
      cells[2].className = 'red'
      cells[2].title = printable(error.message)
      show(error.number ?? number ?? '', action, `${status}: ${printable(error.message)}`, '', duration(performance.now() - begin))
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
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body {
  display: grid; grid-template-rows: auto auto minmax(0, 1fr) auto; overflow: hidden;
  background: var(--bg); color: var(--text); font: 12px/1.4 var(--ui); -webkit-font-smoothing: antialiased;
}
h2, h3 { font-size: 12px; font-weight: 600; margin: 0; }
button, input, select, textarea { font: inherit; color: inherit; }
button { border: 1px solid var(--line); border-radius: 4px; background: none; padding: 1px 8px; cursor: pointer; white-space: nowrap; }
button:hover { background: var(--hover); }
input, select, textarea { border: 1px solid var(--line); border-radius: 4px; background: var(--soft); padding: 2px 7px; }
input, select, textarea, dd, .mono { font-family: var(--mono); font-size: 11.5px; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
[hidden] { display: none !important; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.grow { flex: 1; }
.dim { color: var(--dim); font-weight: 400; }
.red, .error { color: var(--red); }
.green { color: var(--green); }
kbd { font: 10.5px var(--mono); color: var(--faint); border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; }

/* Bar */
.bar { display: flex; align-items: center; gap: 12px; min-height: 40px; padding: 0 12px; white-space: nowrap; }
.bar, .time { background: var(--panel); border-bottom: 1px solid var(--line); }
.mark { width: 14px; height: 14px; border-block: 4px solid var(--accent); background: linear-gradient(var(--accent) 0 0) center/100% 2px no-repeat; }
.brand { font-weight: 650; margin-left: -5px; }
.tabs, .tabs2 { display: flex; align-self: stretch; }
[role=tab] { border: 0; border-radius: 0; padding: 0 10px; color: var(--dim); border-block: 2px solid transparent; }
[role=tab][aria-selected=true] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
.count { margin-left: 6px; padding: 0 5px; border-radius: 8px; background: var(--amber-soft); color: var(--amber); }
.facts { display: flex; margin: 0 0 0 4px; min-width: 0; overflow: hidden; }
.facts div { display: flex; gap: 6px; align-items: baseline; padding: 0 11px; border-left: 1px solid var(--line); }
.facts dt { color: var(--dim); }
.facts dd { margin: 0; }
#f-rev { min-width: 7ch; }
#f-rate, #f-lag { min-width: 5ch; text-align: right; }
.live { display: flex; align-items: center; gap: 6px; color: var(--dim); }
.live::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: var(--green); }
.live.stale::before { background: var(--amber); border-radius: 0; }
.live.hist::before { background: var(--accent); }
.tag { border: 1px solid var(--line); border-radius: 4px; padding: 1px 7px; color: var(--dim); }
.tag.on { color: var(--amber); border-color: currentColor; }
.icon { width: 22px; height: 22px; border-radius: 50%; padding: 0; }
.history, .notice { display: flex; gap: 14px; align-items: center; min-height: 28px; padding: 2px 12px; flex-wrap: wrap; }
.history { background: var(--accent); color: var(--accent-text); }
.history b, .commands { font-family: var(--mono); }
.history button { border-color: currentColor; margin-left: 6px; }
.history button:hover { background: #0003; }
.notice { background: var(--amber-soft); color: var(--amber); border-bottom: 1px solid var(--line); }

/* Panes */
main { display: grid; gap: 1px; background: var(--line); min-height: 0; }
.state { grid-template-columns: minmax(430px, 36%) minmax(0, 1fr) minmax(340px, 28%); }
.peers { grid-template-columns: minmax(0, 1fr) minmax(380px, 36%); }
.pane { background: var(--panel); display: flex; flex-direction: column; min-width: 0; min-height: 0; }
.head { display: flex; align-items: center; gap: 8px; height: 32px; padding: 0 10px; flex: none; white-space: nowrap; }
.head.tabs2 { gap: 0; border-bottom: 1px solid var(--line); padding: 0 4px; align-self: auto; }
.tabs2 button { height: 100%; }
.small[aria-pressed=true] { color: var(--accent); border-color: var(--accent); background: var(--accent-soft); }
.find { position: relative; padding: 0 10px 6px; flex: none; }
.find input { width: 100%; height: 25px; padding-right: 26px; }
.find input::placeholder { color: var(--faint); }
.find kbd { position: absolute; right: 16px; top: 5px; }
.find input:focus + kbd { display: none; }
.chips { display: flex; flex-wrap: wrap; gap: 4px; padding: 0 10px 6px; max-height: 78px; overflow: auto; flex: none; }
.chips button { padding: 0 6px; height: 20px; font: 11px var(--mono); }
.chips .n { color: var(--faint); margin-left: 6px; display: inline-block; }
.chips button[aria-pressed=false]:not(.red) { color: var(--faint); text-decoration: line-through; background: var(--soft); }
.chips .red[aria-pressed=true] { background: var(--red-soft); border-color: var(--red); }
.cols { display: grid; align-items: center; height: 21px; padding: 0 21px 0 10px; font: 11.5px var(--mono); flex: none; }
.cols > * { color: var(--faint); font: 11px var(--ui); }
.cols { border-block: 1px solid var(--line); background: var(--soft); }
.crumbs { display: flex; font-family: var(--mono); font-size: 11.5px; overflow: hidden; min-width: 0; color: var(--faint); }
.crumbs button { border: 0; padding: 0 3px; color: var(--dim); }
.scroll { flex: 1; overflow: auto; min-height: 0; }

/* Lists */
.list { position: relative; flex: 1; overflow: auto; min-height: 0; font: 11.5px/var(--row) var(--mono); contain: strict; overflow-anchor: none; scrollbar-width: thin; scrollbar-gutter: stable; }
.space { position: absolute; top: 0; left: 0; width: 1px; }
.row { position: absolute; inset: 0 0 auto; height: var(--row); padding: 0 10px; display: grid; contain: strict; cursor: default; }
.row, .row > * { white-space: pre; overflow: hidden; text-overflow: ellipsis; }
.row:hover { background: var(--hover); }
.row[aria-selected=true] { background: var(--accent-soft); box-shadow: inset 2px 0 var(--accent); }
.log { grid-template-columns: 8.4ch 12.4ch minmax(0, 1fr) 11ch 7ch; column-gap: 10px; }
.log > :is(:first-child, :last-child) { text-align: right; }
.log .t, .log .w, .log .d, .log em { color: var(--dim); }
.log em { font-style: normal; margin-left: 8px; }
.log .d.slow { color: var(--amber); font-weight: 600; }
.log.rejected, .log.rejected em { color: var(--red); }
.log.future, .log.future * { color: var(--faint); font-style: italic; }
.log.boundary { border-top: 1px solid var(--accent); }
.log.gap { background: var(--soft); color: var(--accent); cursor: pointer; }
.log.gap > .a { grid-column: 1 / -1; grid-row: 1; text-align: center; }
.log .r { overflow: visible; position: relative; }
.log .r:is(.top, .mid, .end)::after { content: ""; position: absolute; right: -7px; top: 0; height: 100%; width: 4px; border: 0 solid var(--bar); }
.log .r:is(.top, .mid, .end)::after { border-right-width: 1px; }
.log .r.top::after { top: 50%; height: 50%; border-top-width: 1px; }
.log .r.end::after { height: 50%; border-bottom-width: 1px; }
.tree { grid-template-columns: minmax(0, 1fr) 24ch; column-gap: 12px; }
.tree .tw { display: inline-block; width: 16px; color: var(--faint); text-align: center; cursor: pointer; }
.tree .pulse { display: inline-block; width: 5px; height: 5px; border-radius: 50%; background: var(--accent); margin: 0 5px 2px -1px; }
.tree .v { color: var(--dim); margin-left: 2ch; }
.tree .v.str { color: var(--text); }
.tree .v.lit { color: var(--accent); }
.tree .b { color: var(--faint); }
.tree .b.hot { color: var(--text); }
.tree.more { color: var(--accent); }
mark { background: var(--amber-soft); color: inherit; text-decoration: underline; }

/* Details */
.sec { padding: 10px 12px; border-bottom: 1px solid var(--line); }
.sec h3 { margin-bottom: 6px; display: flex; gap: 8px; align-items: center; }
.meta { display: grid; grid-template-columns: 82px minmax(0, 1fr); gap: 2px 10px; margin: 0; }
.meta dt { color: var(--dim); }
.meta dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 8px 0 0; padding: 7px 9px; background: var(--soft); border: 1px solid var(--line); font: 11px/1.5 var(--mono); overflow: auto; max-height: 180px; }
.seg { display: flex; border: 1px solid var(--line); border-radius: 4px; overflow: hidden; }
.seg button { border: 0; border-radius: 0; height: 20px; color: var(--dim); }
.seg button[aria-pressed=true] { background: var(--accent-soft); color: var(--accent); }
.copy { display: flex; flex-wrap: wrap; gap: 4px; }
.btn.main { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
button:disabled { opacity: .6; cursor: not-allowed; }
.note { color: var(--dim); margin: 8px 0 0; }
.note.error { color: var(--red); overflow-wrap: anywhere; }
.note:empty { display: none; }
.why { padding: 0 10px 6px; margin: 0; }
table { font: 11.5px/19px var(--mono); width: 100%; border-collapse: collapse; }
td, th { padding: 0 5px; text-align: left; font-weight: 400; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 120px; }
.diff { table-layout: fixed; }
.diff .p th { padding: 5px 6px 1px 0; }
.diff td:first-child { padding-left: 14px; }
.diff .path { width: 42%; }
.diff .sign { width: 3ch; }
.diff .ar { padding: 0; text-align: center; color: var(--dim); }
.diff .old { background: var(--red-soft); color: var(--red); text-align: right; }
.diff .new { background: var(--green-soft); color: var(--green); }
.blame th { color: var(--faint); font: 11px var(--ui); }
.blame tr[tabindex]:hover { background: var(--hover); cursor: pointer; }
.blame .r { text-align: right; }
.form { display: grid; grid-template-columns: 80px minmax(0, 1fr); gap: 6px 10px; align-items: start; }
.form > :is(.note, .copy, h2, button) { grid-column: 1 / -1; margin: 0; }

/* Peers */
.grid { display: flex; flex-direction: column; flex: 1; min-height: 0; }
.peer { grid-template-columns: minmax(100px, 1.3fr) 8ch minmax(70px, 1fr) 17ch 7ch minmax(110px, 1fr) 8ch 8ch 8ch; column-gap: 10px; }
.cols.peer button { border: 0; padding: 0; font-size: 11px; }
.cols.peer [aria-sort] button { color: var(--text); font-weight: 600; }
.cols.peer [aria-sort=descending] button::after { content: " ↓"; }
.cols.peer [aria-sort=ascending] button::after { content: " ↑"; }
.peer :is(.kind, .user, .address) { color: var(--dim); }
.peer > :is(.delay, .heard, .rate) { text-align: right; }
.peer .status { color: var(--green); }
.row .lag { display: flex; align-items: center; gap: 8px; }
.lag b { font-weight: 400; width: 8ch; text-align: right; }
.lag svg { flex: 1; height: 6px; fill: var(--bar); }
.warn .lag svg { fill: var(--amber); }
.bad .lag svg { fill: var(--red); }
.peer.warn .status { color: var(--amber); }
.peer.bad .status { color: var(--red); font-weight: 600; }
.checks { font: inherit; }
.checks td { padding: 3px 6px 3px 0; vertical-align: top; white-space: normal; max-width: none; }
.checks td:first-child { width: 22px; }
.checks td:last-child { color: var(--dim); font: 11.5px var(--mono); text-align: right; white-space: nowrap; }
.checks small { display: block; color: var(--dim); font-size: 11.5px; }
.dot { display: inline-block; width: 15px; height: 15px; border-radius: 50%; background: var(--green); color: var(--panel); text-align: center; }
.dot { font: bold 10px/15px var(--ui); }
.dot.warn { background: var(--amber); border-radius: 3px; }
.dot.bad { background: var(--red); border-radius: 0; }
.dot.unknown { background: var(--faint); }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 14px 20px; }
.chart div { display: flex; justify-content: space-between; color: var(--dim); }
.chart svg { width: 100%; height: 38px; display: block; fill: none; stroke: var(--accent); stroke-width: 1.2; }
.chart path { vector-effect: non-scaling-stroke; }

/* Time, and what lies above the page */
.time { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 12px; align-items: center; height: 64px; padding: 0 12px; }
.steps { display: flex; gap: 3px; }
.steps button { height: 24px; color: var(--dim); }
.steps .golive[aria-pressed=true] { color: var(--green); border-color: currentColor; }
.track { height: 52px; }
.track canvas { width: 100%; height: 100%; display: block; cursor: col-resize; }
.goto { display: flex; gap: 6px; align-items: center; color: var(--dim); }
.goto input { width: 92px; text-align: right; color: var(--text); }
.menu, dialog { background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 6px 24px #0003; }
.menu { position: fixed; z-index: 9; min-width: 270px; padding: 4px; }
.menu button { display: flex; width: 100%; gap: 16px; justify-content: space-between; border: 0; padding: 3px 8px; }
.menu button:focus { background: var(--accent-soft); }
.menu hr { border: 0; border-top: 1px solid var(--line); margin: 4px 0; }
.menu .path { padding: 3px 8px 5px; font: 11px var(--mono); color: var(--dim); overflow-wrap: anywhere; max-width: 400px; }
.toast { position: fixed; bottom: 76px; left: 50%; translate: -50%; background: var(--text); color: var(--panel); padding: 4px 12px; border-radius: 4px; }
dialog { padding: 16px 20px; max-width: 480px; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 5px 16px; margin: 8px 0 12px; }
dialog dd { margin: 0; font: 12px var(--ui); }
dialog::backdrop { background: #0006; }
@media (max-width: 1250px) { .facts div:nth-child(n+4) { display: none; } }
@media (max-width: 1100px) {
  .state { grid-template: minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr) minmax(0, 1fr); }
  .state aside { grid-column: 1 / -1; }
}
@media (max-width: 860px) {
  html, body { height: auto; }
  body { overflow: auto; display: block; }
  .bar { flex-wrap: wrap; }
  .state, .peers { display: block; }
  .pane { height: 75vh; min-height: 320px; border-bottom: 1px solid var(--line); }
  .grid { overflow-x: auto; }
  .peer { min-width: 760px; }
}
"""###),
        PageFile("timeline.js", ###"""
// The slider: actions per interval, rejections, snapshots, epochs, and the part of the log that is in memory.
import { view } from './view.js'
import { $, clock, group } from './format.js'

const REFRESH = 10_000, DRAG = 80

export class Timeline {
  constructor(app) {
    this.app = app
    this.canvas = $('track')
    const { canvas } = this
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId)
      this.isDragging = true
      this.drag(event)
    })
    canvas.addEventListener('pointermove', event => {
      this.hover = event.offsetX
      if (this.isDragging) this.drag(event)
      this.schedule()
    })
    canvas.addEventListener('pointerup', () => { this.isDragging = false })
    canvas.addEventListener('pointerleave', () => { this.hover = null; this.schedule() })
    canvas.addEventListener('keydown', event => this.key(event))
    new ResizeObserver(() => this.schedule()).observe(canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.schedule())
  }

  reset() {
    this.data = null
    this.nextAt = 0
    this.schedule()
  }

  async refresh() {
    if (!this.app.has('history') || this.isLoading || performance.now() < this.nextAt) return
    this.isLoading = true
    try {
      this.data = await this.app.get('timeline', { buckets: 300 })
      this.error = null
    } catch (error) { this.error = error } finally {
      this.nextAt = performance.now() + REFRESH
      this.isLoading = false
      this.schedule()
    }
  }

  get range() { return [this.data.oldest, Math.max(this.data.newest, this.app.live.revision ?? 0, this.data.oldest + 1)] }

  /** Moves the mark at once, and the view when the pointer rests. */
  drag(event) {
    if (!this.data) return
    const [first, last] = this.range
    const share = Math.max(0, Math.min(1, event.offsetX / this.canvas.clientWidth))
    this.dragged = Math.round(first + share * (last - first))
    this.schedule()
    this.timer ??= setTimeout(() => {
      this.timer = null
      const revision = this.dragged
      this.dragged = null
      this.app.go(revision)
    }, DRAG)
  }

  key(event) {
    if (!this.data) return
    const [first, last] = this.range
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -1000, PageDown: 1000, Home: -Infinity, End: Infinity }[event.key]
    if (!step) return
    event.stopPropagation()
    event.preventDefault()
    if (Math.abs(step) === 1) this.app.step(step)
    else this.app.go(Math.max(first, Math.min(last, (view.at ?? last) + step)))
  }

  schedule() {
    if (this.pending) return
    this.pending = true
    requestAnimationFrame(() => { this.pending = false; this.paint() })
  }

  paint() {
    const { canvas } = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight
    if (!width) return
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio)
      canvas.height = Math.round(height * ratio)
    }
    const draw = canvas.getContext('2d'), style = getComputedStyle(document.documentElement)
    const color = name => style.getPropertyValue('--' + name).trim()
    draw.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw.clearRect(0, 0, width, height)
    draw.font = '10px ' + color('ui')
    if (!this.data) {
      draw.fillStyle = color('dim')
      draw.fillText(!this.app.has('history') ? 'No journal: no history' : this.error ? this.error.message : '', 4, height / 2)
      return
    }
    const [first, last] = this.range, base = height - 15
    const x = revision => (revision - first) / (last - first) * width
    const at = this.dragged ?? view.at ?? last
    this.bars(draw, color, x, base, at, last)
    draw.fillStyle = color('line')
    draw.fillRect(0, base, width, 1)
    const start = this.app.log.memory.revision[this.app.log.memory.gap[0] ? 1 : 0]
    draw.globalAlpha = 0.5
    draw.fillStyle = color('accent')
    if (this.app.log.memory.count > 1) draw.fillRect(x(start), base, width - x(start), 2)
    draw.globalAlpha = 1
    this.marks(draw, color, x, base)
    this.scale(draw, color, x, base, width, height)
    const position = Math.min(width - 1, x(at))
    draw.fillStyle = color('accent')
    draw.fillRect(position - 1, 0, 2, base + 4)
    draw.beginPath()
    draw.arc(position, base + 2, 4, 0, 7)
    draw.fill()
    if (this.hover != null) this.label(draw, color, width, base)
    for (const [name, value] of [['min', first], ['max', last], ['now', at]]) canvas.setAttribute('aria-value' + name, value)
    canvas.setAttribute('aria-valuetext', `revision ${group(at)}${view.at == null ? ', live' : ''}`)
  }

  /** The height of a bar is the rate of its interval, on a scale of square roots. */
  bars(draw, color, x, base, at, last) {
    const { buckets } = this.data
    const rates = buckets.map(([, time, applied, rejected], i) => {
      const end = buckets[i + 1]?.[1] ?? Math.max(time + 1, Date.now())
      return Math.sqrt((applied + (rejected ?? 0)) / Math.max(1, end - time))
    })
    const top = Math.max(...rates, 1e-9)
    buckets.forEach(([from, , applied, rejected], i) => {
      const left = x(from), width = Math.max(1, x(buckets[i + 1]?.[0] ?? last) - left - 1)
      const tall = Math.max(2, rates[i] / top * (base - 12))
      draw.fillStyle = color(from <= at ? 'bar' : 'line')
      draw.fillRect(left, base - tall, width, tall)
      if (!rejected) return
      const red = Math.max(2, Math.min(tall, tall * rejected / (applied + rejected) * 4))
      draw.fillStyle = color('red')
      draw.fillRect(left, base - red, width, red)
    })
  }

  marks(draw, color, x, base) {
    draw.fillStyle = draw.strokeStyle = color('dim')
    for (const snapshot of this.data.snapshots) {
      const middle = x(snapshot)
      draw.beginPath()
      draw.moveTo(middle, base + 2)
      draw.lineTo(middle + 3.5, base + 8)
      draw.lineTo(middle - 3.5, base + 8)
      draw.fill()
    }
    draw.setLineDash([2, 2])
    for (const { epoch, revision } of this.data.epochs) {
      draw.beginPath()
      draw.moveTo(x(revision) + 0.5, 0)
      draw.lineTo(x(revision) + 0.5, base)
      draw.stroke()
      draw.fillText('epoch ' + epoch, x(revision) + 4, 8)
    }
    draw.setLineDash([])
  }

  scale(draw, color, x, base, width, height) {
    const [first, last] = this.range
    const raw = (last - first) / Math.max(1, width / 130), power = 10 ** Math.floor(Math.log10(Math.max(1, raw)))
    const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= raw)
    draw.fillStyle = color('faint')
    draw.textAlign = 'center'
    for (let revision = Math.ceil(first / step) * step; revision < last; revision += step) {
      if (x(revision) < 30 || x(revision) > width - 40) continue
      draw.fillRect(x(revision), base, 1, 4)
      draw.fillText(group(revision), x(revision), height - 2)
    }
    draw.textAlign = 'left'
  }

  label(draw, color, width, base) {
    const [first, last] = this.range, revision = Math.round(first + this.hover / width * (last - first))
    const bucket = this.data.buckets.findLast(([from]) => from <= revision)
    const isRight = this.hover > width - 140
    draw.fillStyle = color('dim')
    draw.fillRect(this.hover, 0, 1, base)
    draw.fillStyle = color('text')
    draw.textAlign = isRight ? 'right' : 'left'
    draw.fillText(group(revision) + (bucket ? `  ${clock(bucket[1]).slice(0, 8)}` : ''), this.hover + (isRight ? -5 : 5), 18)
    draw.textAlign = 'left'
  }
}
"""###),
        PageFile("tree.js", ###"""
// The state as a tree of pages. A node holds the pages that were opened; pages far from the viewport forget their rows.
import { VirtualList } from './virtual.js'
import { view, saveURL } from './view.js'
import { $, child, element, group, keysOf, parentOf, preview, printable, setText } from './format.js'

const PAGE = 200, KEPT = 3, MAX_LOADS = 8, REFRESH = 500, RECENT = 2000

class Node {
  pages = [{ after: undefined, rows: null, length: 0, next: null }]
  /** The open subtrees, by key. */
  children = new Map()
  size = 0
  constructor(path, depth) { Object.assign(this, { path, depth }) }
}

export class Tree {
  constructor(app) {
    this.app = app
    this.list = new VirtualList($('tree'), {
      role: 'treeitem', className: 'tree', count: () => this.layout(), active: () => this.indexOf(view.path),
      build: () => [
        element('span', { class: 'kv' }, ['tw', 'pulse', 'k', 'v'].map(name => element('span', { class: name, 'aria-hidden': name === 'tw' }))),
        element('span', { class: 'b' }),
      ],
      draw: (row, cells, index) => this.draw(row, cells, this.row(index)),
      drawn: (first, end) => this.loadVisible(first, end),
    })
    const root = $('tree')
    root.addEventListener('mousedown', event => this.clicked(event))
    root.addEventListener('dblclick', event => { if (!event.target.closest('.tw')) this.toggle(this.row(this.list.indexOf(event.target))) })
    this.reset()
  }

  reset() {
    this.root = new Node('', -1)
    this.found = null
    this.error = null
    this.samples = []
  }

  // MARK: Rows

  /** The number of rows; also sets the sizes of nodes and pages. */
  layout() {
    if (this.found) return this.found.rows.length + (this.found.next || this.found.loading ? 1 : 0)
    return this.measure(this.root)
  }
  measure(node) {
    node.size = (node.pages[0].after === undefined ? 0 : 1) + (node.pages.at(-1).next !== null ? 1 : 0)
    for (const page of node.pages) {
      page.size = page.rows ? page.rows.length : Math.max(1, page.length)
      if (page.rows) for (const open of this.opened(node, page)) page.size += this.measure(open)
      node.size += page.size
    }
    return node.size
  }
  opened(node, page) {
    return node.children.size ? page.rows.map(row => node.children.get(row.key)).filter(Boolean) : []
  }

  /** The row at an index: a child, or a place where more can be loaded (`kind`). */
  row(index) {
    if (index < 0) return null
    if (this.found) return this.found.rows[index] ?? { kind: 'more', depth: 0, found: true }
    let node = this.root
    for (;;) {
      if (node.pages[0].after !== undefined && index-- === 0) return { kind: 'earlier', node, depth: node.depth + 1 }
      let page = null
      for (const each of node.pages) {
        if (index < each.size) { page = each; break }
        index -= each.size
      }
      if (!page) return { kind: 'more', node, depth: node.depth + 1 }
      if (!page.rows) return { kind: 'loading', node, page, depth: node.depth + 1 }
      let open = null
      for (const row of page.rows) {
        const inner = node.children.get(row.key)
        if (index === 0) return this.made(row, node, page, inner)
        index--
        if (!inner) continue
        if (index < inner.size) { open = inner; break }
        index -= inner.size
      }
      node = open
    }
  }
  made(row, node, page, inner) {
    return { ...row, kind: 'row', node, page, inner, depth: node.depth + 1, path: child(node.path, row.key), isBranch: row.count !== undefined }
  }

  indexOf(path) {
    if (this.found) return this.found.rows.findIndex(row => row.path === path)
    if (!path) return -1
    let node = this.root, index = 0
    const keys = keysOf(path)
    for (let level = 0; level < keys.length; level++) {
      if (!node) return -1
      if (node.pages[0].after !== undefined) index++
      let isFound = false
      for (const page of node.pages) {
        if (!page.rows?.some(row => row.key === keys[level])) { index += page.size; continue }
        for (const row of page.rows) {
          if (row.key === keys[level]) { isFound = true; break }
          index += 1 + (node.children.get(row.key)?.size ?? 0)
        }
        break
      }
      if (!isFound) return -1
      if (level < keys.length - 1) index++
      node = node.children.get(keys[level])
    }
    return index
  }

  // MARK: Loading

  loadVisible(first, end) {
    if (!this.app.store) return
    if (this.found) {
      if (this.found.next && end > this.found.rows.length) this.search(true)
      return
    }
    const wanted = new Map()
    for (let index = first; index < end; index++) {
      const { node, page, kind } = this.row(index) ?? {}
      if (kind === 'more') {
        const last = node.pages.at(-1)
        if (!last.next || last.error) continue
        node.pages.push({ after: last.next, rows: null, length: 0, next: null })
        wanted.set(node.pages.at(-1), node)
      } else if (page) wanted.set(page, node)
    }
    this.visible = wanted
    const isStale = page => page.rows === null || page.at !== view.at
    for (const [page, node] of wanted) if (isStale(page) && !page.error) this.load(node, page)
    this.forget(this.root)
  }

  /** Pages far from the visible ones keep their place and forget their rows. */
  forget(node) {
    const seen = node.pages.map((page, index) => this.visible.has(page) ? index : -1).filter(index => index >= 0)
    const from = (seen[0] ?? 0) - KEPT, to = (seen.at(-1) ?? 0) + KEPT
    node.pages.forEach((page, index) => {
      if (page.rows && (index < from || index > to) && !this.opened(node, page).length) page.rows = null
    })
    for (const inner of node.children.values()) this.forget(inner)
  }

  async load(node, page) {
    if (page.isLoading) return
    page.isLoading = true
    const { at } = view, isPin = page.pin !== undefined
    try {
      const path = isPin ? child(node.path, page.pin) : node.path
      const answer = await this.app.get('state', { path, limit: isPin ? 1 : PAGE, after: isPin ? undefined : page.after, at: at ?? undefined })
      if (at !== view.at) return
      Object.assign(page, { at, revision: answer.position.revision, error: null })
      this.error = null
      if (isPin) page.rows = [{ key: page.pin, type: answer.type, value: answer.value, cut: answer.cut, count: answer.count }]
      else this.accept(node, page, answer)
      page.length = page.rows.length
      if (at === null) this.app.seen(answer.position)
      else this.app.shown(answer.position)
    } catch (error) {
      this.fail(node, page, error)
    } finally {
      page.isLoading = false
      this.list.schedule()
    }
  }

  accept(node, page, answer) {
    Object.assign(node, { type: answer.type, count: answer.count, seenFrom: answer.seenFrom })
    page.rows = answer.children ?? []
    page.next = answer.next
    const index = node.pages.indexOf(page), following = node.pages[index + 1]
    if (answer.next === null) node.pages.length = index + 1
    else if (following) following.after = answer.next
    for (const row of page.rows) if (row.count === undefined) node.children.delete(row.key)
  }

  fail(node, page, error) {
    if (error.code === 'pruned') return this.app.pruned(error)
    if (error.code === 'no-such-path' && node !== this.root) {
      const parent = this.nodeAt(parentOf(node.path))
      parent?.children.delete(keysOf(node.path).at(-1))
      this.saveOpen()
      return
    }
    page.error = error
    if (error.isTemporary) setTimeout(() => { page.error = null; this.list.schedule() }, 1000 * (error.retryAfter ?? 3))
  }

  nodeAt(path) {
    let node = this.root
    for (const key of keysOf(path)) node = node?.children.get(key)
    return node
  }

  /** Reads the visible pages again, if the state has changed since. */
  async refresh() {
    const now = performance.now()
    this.samples = [...this.samples.filter(([time]) => now - time < RECENT), [now, this.app.live.revision]]
    const stale = [...this.visible ?? []].filter(([page]) => !page.isLoading && page.rows && page.revision < this.app.live.revision)
    stale.sort(([a], [b]) => a.revision - b.revision)
    if (view.at === null && !this.found) await Promise.all(stale.slice(0, MAX_LOADS).map(([page, node]) => this.load(node, page)))
  }
  static interval = REFRESH

  // MARK: Opening

  open(node, key) {
    const path = child(node.path, key)
    if (!node.children.has(key)) node.children.set(key, new Node(path, node.depth + 1))
    return node.children.get(key)
  }
  toggle(row, opens = !row?.inner) {
    if (row?.found && row.path !== undefined) return this.app.find('').then(() => this.focus(row.path))
    if (row?.kind === 'earlier') row.node.pages = new Node(row.node.path, 0).pages
    else if (!row?.isBranch) return
    else if (opens) this.open(row.node, row.key)
    else row.node.children.delete(row.key)
    this.saveOpen()
    this.list.schedule()
  }
  saveOpen() {
    view.open = []
    const visit = node => { for (const inner of node.children.values()) { view.open.push(inner.path); visit(inner) } }
    visit(this.root)
    view.open = view.open.filter(path => !view.open.some(other => other.startsWith(path + '/'))).slice(0, 50)
    saveURL()
  }
  restore(paths) {
    for (const path of paths) {
      let node = this.root
      for (const key of keysOf(path)) node = this.open(node, key)
    }
  }

  /** Opens what is above a path, and shows it. */
  async focus(path, isOpened = false) {
    view.path = path
    let node = this.root
    const keys = keysOf(path)
    try {
      for (let level = 0; level < keys.length; level++) {
        await this.ensure(node, keys[level])
        if (level < keys.length - 1 || isOpened) node = this.open(node, keys[level])
      }
    } catch (error) { this.app.notice(error.message) }
    this.saveOpen()
    this.layout()
    const index = this.indexOf(path)
    if (index >= 0) this.list.reveal(index, true)
    this.app.refresh()
  }

  /** Loads a child that may be far from the pages in memory: then the node shows it and what follows it. */
  async ensure(node, key) {
    const has = () => node.pages.some(page => page.rows?.some(row => row.key === key))
    if (has()) return
    if (!node.pages[0].rows) await this.load(node, node.pages[0])
    if (has() || (node.pages[0].rows && node.pages[0].next === null)) return
    const isArray = node.type === 'array'
    const start = isArray ? { after: Number(key) > 0 ? String(Number(key) - 1) : undefined } : { after: null, pin: key }
    const first = { ...start, rows: null, length: 0, next: isArray ? null : key }
    await this.load(node, first)
    if (!first.rows) throw Error(`There is no ${child(node.path, key)} in this state`)
    node.pages = isArray ? [first] : [first, { after: key, rows: null, length: PAGE, next: null }]
  }

  // MARK: Search

  async search(continues = false) {
    const text = view.find.trim(), { at } = view
    if (!text || text.startsWith('/')) {
      this.found = null
      this.list.schedule()
      if (text.length > 1) await this.focus(text.replace(/\/+$/, ''))
      return
    }
    if (continues && this.found.loading) return
    const found = continues ? this.found : { text, rows: [], next: null, examined: 0 }
    found.loading = true
    if (!continues) $('tree').scrollTop = 0
    this.found = found
    try {
      const answer = await this.app.get('search', { q: text, limit: 100, after: found.next ?? undefined, at: at ?? undefined })
      const rows = answer.found.map(each => ({ ...each, kind: 'row', found: true, depth: 0, key: each.path, isBranch: each.summary !== undefined }))
      found.rows.push(...rows)
      found.next = answer.next
      found.examined += answer.examined
    } catch (error) {
      found.next = null
      found.error = error
    } finally {
      found.loading = false
      this.list.schedule()
      this.app.heads()
    }
  }

  // MARK: Input

  clicked(event) {
    const row = this.row(this.list.indexOf(event.target))
    if (!row || event.button) return
    if (row.kind === 'earlier' || (row.isBranch && !row.found && event.target.closest('.tw'))) return this.toggle(row)
    if (row.page?.error) { row.page.error = null; return this.list.schedule() }
    if (row.kind === 'row') this.select(row.path)
  }
  select(path) {
    view.path = path
    this.app.refresh()
  }
  move(step) {
    const total = this.layout(), from = this.indexOf(view.path)
    let index = Math.max(0, Math.min(total - 1, from < 0 ? 0 : from + step))
    while (index > 0 && index < total - 1 && this.row(index).kind !== 'row') index += Math.sign(step)
    this.list.reveal(index)
    const row = this.row(index)
    if (row?.kind === 'row') this.select(row.path)
  }
  key(name) {
    const row = this.row(this.indexOf(view.path))
    if (!row) return
    if (name === 'Enter') this.toggle(row)
    else if (name === 'ArrowRight') row.inner ? this.move(1) : this.toggle(row, true)
    else if (row.inner) this.toggle(row, false)
    else if (row.depth > 0) {
      this.select(parentOf(row.path))
      this.list.reveal(this.indexOf(view.path))
    }
  }

  // MARK: Drawing

  draw(element_, [kv, changed], row) {
    const [twist, pulse, key, value] = kv.children
    if (!row) return
    kv.style.paddingLeft = row.depth * 16 + 'px'
    element_.setAttribute('aria-level', row.depth + 1)
    if (row.isBranch && !row.found) element_.setAttribute('aria-expanded', Boolean(row.inner))
    else element_.removeAttribute('aria-expanded')
    setText(twist, row.isBranch && !row.found ? row.inner ? '▾' : '▸' : '')
    pulse.hidden = true
    value.className = 'v'
    if (row.kind !== 'row') {
      element_.classList.add('more')
      const failure = row.page?.error ?? this.found?.error
      setText(key, failure ? `${failure.message} (press to try again)` : row.kind === 'earlier' ? '↑ from the first key' : 'loading…')
      setText(value, '')
      setText(changed, '')
      return
    }
    this.mark(key, row.found ? row.path : row.key === '' ? '""' : row.key, row.match === 'key')
    const text = row.isBranch ? row.inner ? '' : row.summary ?? (row.type === 'array' ? `[${group(row.count)}]` : `{${group(row.count)}}`) : preview(row.value, 300)
    this.mark(value, (row.cut ? `first 4 KiB of ${group(row.cut)} bytes: ` : '') + text, row.match === 'value')
    if (!row.isBranch) value.classList.add(row.type === 'string' ? 'str' : 'lit')
    this.drawChange(pulse, changed, row)
  }
  drawChange(pulse, cell, { changed, node, found, page }) {
    const recent = this.samples[0]?.[1] ?? Infinity
    const isRecent = Boolean(changed) && view.at === null && changed.revision > recent
    pulse.hidden = !isRecent
    cell.className = isRecent ? 'b hot' : 'b'
    const before = page?.at === null && !found && node.seenFrom != null ? `before ${group(node.seenFrom)}` : ''
    setText(cell, changed ? `${group(changed.revision)} ${printable(changed.action ?? '')}` : before)
  }
  mark(cell, text, isMatch) {
    const shown = printable(text), query = isMatch ? this.found?.text.toLowerCase() : '', start = query ? shown.toLowerCase().indexOf(query) : -1
    if (start < 0) return setText(cell, shown)
    const end = start + query.length
    cell.replaceChildren(shown.slice(0, start), element('mark', {}, shown.slice(start, end)), shown.slice(end))
  }
  heads() {
    const { found } = this
    const count = found && `${group(found.rows.length)}${found.next ? '+' : ''} found, ${group(found.examined)} examined`
    setText($('tree-count'), !found ? '' : found.error ? found.error.message : found.loading && !found.rows.length ? 'searching…' : count)
    const keys = keysOf(view.path), key = view.path
    if (this.crumbs === key) return
    this.crumbs = key
    const path = index => keys.slice(0, index + 1).reduce(child, '')
    const buttons = keys.map((name, index) => ['/', element('button', { onclick: () => this.app.find('').then(() => this.focus(path(index))) }, printable(name))])
    $('crumbs').replaceChildren(...buttons.flat())
  }
}
"""###),
        PageFile("view.js", ###"""
// What the page shows, and its URL: #/fleet?at=176204&path=/hosts/web-1&open=/hosts&q=…
export const view = {
  store: null, name: 'state', at: null, path: '', open: ['/'], q: '', find: '', hide: new Set(), pane: 'change', span: 'batch',
  lineage: null, follow: true, selected: null,
}
const PANES = ['change', 'blame', 'send']
const encode = text => encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%3A', ':')
const list = (name, items) => items.length ? `${name}=${items.map(encode).join(',')}` : null

function decode(text) {
  try { return decodeURIComponent(text.replaceAll('+', ' ')) } catch { return text }
}

export function readURL() {
  const [, store = '', query = ''] = location.hash.match(/^#\/([^?]*)\??(.*)$/) ?? []
  const raw = new Map(query.split('&').filter(Boolean).map(part => part.split(/=(.*)/s)))
  const text = name => decode(raw.get(name) ?? '')
  const items = name => (raw.get(name) ?? '').split(',').filter(Boolean).map(decode)
  Object.assign(view, {
    store: decode(store) || null, name: text('view') === 'peers' ? 'peers' : 'state', path: text('path'), q: text('q'), find: text('find'),
    at: /^\d{1,15}$/.test(text('at')) ? Number(text('at')) : null, open: items('open'), hide: new Set(items('hide')),
    pane: PANES.includes(text('pane')) ? text('pane') : 'change', span: text('span') === 'live' ? 'live' : 'batch',
    lineage: /^[0-9a-f]{4,32}$/.test(text('lineage')) ? text('lineage') : null, selected: null,
  })
  view.follow = view.at == null
}

export function url() {
  const parts = [
    view.name === 'peers' && 'view=peers', view.at != null && 'at=' + view.at, view.path && 'path=' + encode(view.path),
    list('open', view.open), view.q && 'q=' + encode(view.q), view.find && 'find=' + encode(view.find), list('hide', [...view.hide]),
    view.pane !== 'change' && 'pane=' + view.pane, view.span !== 'batch' && 'span=' + view.span, view.lineage && 'lineage=' + view.lineage,
  ]
  return `#/${encode(view.store ?? '')}?${parts.filter(Boolean).join('&')}`
}

let timer
/** Writes the URL soon: browsers limit how often it may change. */
export function saveURL() {
  timer ??= setTimeout(() => {
    timer = null
    if (view.store && location.hash !== url()) history.replaceState(null, '', url())
  }, 150)
}
"""###),
        PageFile("virtual.js", ###"""
// A list of rows of one height, of which only the visible ones exist.
import { element } from './format.js'

const HEIGHT = 21, MARGIN = 6, POOL = 80

export class VirtualList {
  /**
   * `build()` returns the cells of a new row, `draw(row, cells, index)` fills a recycled one. `active()` is the index of the
   * active row or -1; `host` (by default the scrolled element) has the focus and names the active row.
   */
  constructor(root, { role, host = root, className, count, build, draw, active, drawn = () => {} }) {
    Object.assign(this, { root, role, host, className, count, build, draw, active, drawn })
    this.rows = new Map()
    this.pool = []
    this.space = element('div', { class: 'space', role: 'presentation' })
    root.append(this.space)
    root.addEventListener('scroll', () => this.schedule(), { passive: true })
    new ResizeObserver(() => this.schedule()).observe(root)
  }

  schedule() {
    if (this.pending) return
    this.pending = true
    requestAnimationFrame(() => { this.pending = false; this.render() })
  }

  render() {
    if (!this.root.clientHeight) return
    const total = this.resize()
    const top = this.root.scrollTop
    const first = Math.max(0, Math.floor(top / HEIGHT) - MARGIN)
    const end = Math.min(total, Math.ceil((top + this.root.clientHeight) / HEIGHT) + MARGIN)
    for (const [index, row] of this.rows) {
      if (index >= first && index < end) continue
      this.rows.delete(index)
      row.remove()
      if (this.pool.length < POOL) this.pool.push(row)
    }
    for (let index = first; index < end; index++) this.show(index, total)
    const active = this.rows.get(this.active())
    if (active) this.host.setAttribute('aria-activedescendant', active.id)
    else this.host.removeAttribute('aria-activedescendant')
    this.drawn(first, end)
  }

  show(index, total) {
    let row = this.rows.get(index)
    if (!row) {
      row = this.pool.pop()
      if (!row) {
        row = element('div', { role: this.role }, this.build())
        row.cells = [...row.children]
      }
      row.style.transform = `translateY(${index * HEIGHT}px)`
      row.index = index
      row.id = `${this.root.id}-${index}`
      if (this.role === 'row') row.setAttribute('aria-rowindex', index + 2)
      else row.setAttribute('aria-posinset', index + 1)
      this.rows.set(index, row)
      this.root.append(row)
    }
    if (this.role !== 'row') row.setAttribute('aria-setsize', total)
    row.className = 'row ' + this.className
    row.setAttribute('aria-selected', index === this.active())
    this.draw(row, row.cells, index)
  }

  resize() {
    const total = this.count()
    if (total !== this.total) this.space.style.height = (this.total = total) * HEIGHT + 'px'
    return total
  }

  reveal(index, centre = false) {
    this.resize()
    const { root } = this, y = index * HEIGHT
    if (y < root.scrollTop || y + HEIGHT > root.scrollTop + root.clientHeight) {
      root.scrollTop = centre ? y - root.clientHeight / 2 : y < root.scrollTop ? y : y + HEIGHT - root.clientHeight
    }
    this.schedule()
  }

  get top() { return Math.floor(this.root.scrollTop / HEIGHT) }
  get atEnd() { return this.root.scrollTop + this.root.clientHeight > this.count() * HEIGHT - 2 * HEIGHT }
  scrollToEnd() { this.resize(); this.root.scrollTop = this.total * HEIGHT; this.schedule() }
  /** Keeps the same rows in view when `count` rows above them appear (or, if negative, disappear). */
  shift(count) { this.resize(); this.root.scrollTop += count * HEIGHT; this.schedule() }
  indexOf(target) { return target.closest?.('.row')?.index ?? -1 }
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
        const none = { status: null, retryAfter: null, oldest: null, searchedTo: null };
        Object.assign(this, { name: new.target.name, code }, none, details);
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
    const { code, message, oldest = null, searchedTo = null } = error ?? {};
    const retryAfter = error?.retryAfter ?? Number.parseFloat(headers.get("Retry-After"));
    const details = { status, retryAfter: isPause(retryAfter) ? retryAfter : null, oldest, searchedTo };
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
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (Number.isFinite(value)) return value;
    if (typeof value === "number") return { $float: Object.keys(floats).find((name) => Object.is(floats[name], value)) };
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) };
    if (value instanceof Uint8Array) return { $bytes: btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join("")) };
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

/** Whether a patch continues a position. */
function isNext({ from, to, ops, position: given }, { lineage, epoch, revision }) {
    const next = position(given);
    const isSameHistory = next.lineage === lineage && next.epoch >= epoch;
    return isSameHistory && from === revision && to >= from && to === next.revision && Array.isArray(ops);
}

// Patches

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

// Transport

class Connection {
    constructor(url, { token, fetch, timeout = 30_000, minDelay = 500, maxDelay = 30_000 } = {}) {
        const { origin, pathname } = new URL(url, globalThis.location?.href);
        this.base = origin + pathname.replace(/\/+$/, "");
        this.fetch = fetch ?? ((...request) => globalThis.fetch(...request));
        Object.assign(this, { token, timeout, minDelay, maxDelay });
    }

    url(store, route, query = {}) {
        const isGiven = ([, value]) => value !== undefined && value !== null && value !== false;
        const list = (value) => (value === true ? 1 : [value].flat().map(encodeURIComponent).join(","));
        const items = Object.entries(query).filter(isGiven).map(([key, value]) => `${key}=${list(value)}`);
        const path = store === null ? "" : `/${encodeURIComponent(store)}/${route}`;
        return `${this.base}/v1/stores${path}${items.length === 0 ? "" : "?"}${items.join("&")}`;
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

    /** Repeats a request until it is answered or refused; calls `interrupted` before each repetition. */
    async post(store, route, body, signal, interrupted) {
        const headers = { "Content-Type": "application/json", Statecast: "1" };
        for (let failures = 0; ; failures++) {
            try {
                return await this.json(this.url(store, route), { method: "POST", headers, body, signal });
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
                check(stream.isJoined && isNext(event, this.#position ?? {}), "a patch of the shown state");
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
                stream.end = new StatecastError("connection", text(reason, "the stream ended"), { retryAfter: retry / 1000 });
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
    /** The requests without an outcome: their bodies, by number, in order. */
    #inFlight = new Map();
    #outcomes = new Changes();
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
        this.#controller.abort(closed());
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
        const [lowest = number] = this.#inFlight.keys();
        const body = JSON.stringify({ session: session.id, opened: session.opened, number, lowest, action, payload });
        // Before the request, so that no other program uses the number for another action.
        this.#save({ ...session, next: number + 1 }, [...this.#inFlight, [number, body]]);
        session.next += 1;
        this.#inFlight.set(number, body);
        return { outcome: this.#deliver(session, number, body, false) };
    }

    /** Continues the stored session, or begins a new one. */
    async #openSession() {
        const record = this.#record ?? { id: await randomSession(), next: 1, brokenAt: null, pending: [] };
        record.isLocked ||= await this.#lock(record.id);
        if (!record.isLocked) {
            this.#record = null;
            return this.#openSession();
        }
        const request = JSON.stringify({ session: record.id });
        const { session: id, opened } = await this.#connection.post(this.#store, "sessions", request, this.#signal);
        check(id === record.id && isText(opened, openedPattern), "the session and its beginning");
        this.#record = null;
        // With another beginning, the store has a new history, or has forgotten the session.
        const brokenAt = opened === (record.opened ?? opened) ? record.brokenAt : 0;
        this.#session = { id, opened, next: record.next, brokenAt };
        this.#inFlight = new Map(record.pending);
        for (const [number, body] of record.pending) {
            const outcome = this.#deliver(this.#session, number, body, true);
            outcome.catch(() => {});
            const { action, payload } = JSON.parse(body);
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
    async #deliver(session, number, body, mayHaveArrived) {
        const details = { number, session: session.id, lineage: session.opened.split(".")[0] };
        const unknown = (message, cause) => new UnknownOutcomeError("unknown-outcome", message, { ...details, cause });
        const interrupted = ({ status }) => {
            if (status !== 429 && status !== 503) mayHaveArrived = true;
            if (mayHaveArrived && number > (session.brokenAt ?? Infinity)) throw unknown("the session has ended");
        };
        try {
            if (mayHaveArrived) interrupted({});
            for (;;) {
                const answer = await this.#connection.post(this.#store, "actions", body, this.#signal, interrupted);
                const { status, revision, code, message } = answer;
                check((answer.number ?? number) === number, "the number of the action");
                if (status === "applied" && isCount(revision)) return { ...details, revision };
                if (status === "rejected") throw new RejectedError(text(code, "refused"), text(message, ""), details);
                if (status === "unknown") throw unknown(text(message, ""));
                check(status === "pending", "an outcome");
                await this.#connection.pause(0, null, this.#signal);
                interrupted({});
            }
        } catch (error) {
            if (error instanceof RejectedError) throw error;
            session.brokenAt = Math.min(session.brokenAt ?? number, number);
            // With a status, the gateway has refused the request.
            const isRefused = error.status !== null && !mayHaveArrived;
            throw isRefused || error instanceof UnknownOutcomeError ? error : unknown(error.message, error);
        } finally {
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

async function randomSession() {
    // Node 18 has no global crypto.
    const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The stored session; `null` if there is none that can be continued. */
function readRecord(storage, key) {
    try {
        const record = JSON.parse(storage.getItem(key));
        const isBody = ([number, body]) => number < record.next && JSON.parse(body).session === record.id;
        return isText(record.id, /^[0-9a-f]{32}$/) && isCount(record.next) && record.pending.every(isBody) ? record : null;
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
