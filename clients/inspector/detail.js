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
