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
