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
