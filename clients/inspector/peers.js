// Peers sorted by lag, and health: checks with a fixed meaning, series, and the gateway itself.
import { VirtualList } from './virtual.js'
import { view } from './view.js'
import { $, bytes, duration, element, group, instant, note, pairs, printable, section, setText, UNKNOWN } from './format.js'

const number = value => value == null ? UNKNOWN : value.toFixed(1)
const COLUMNS = [['name', 'name', String], ['kind', 'kind', String], ['user', 'user', String], ['address', 'address', String],
  ['status', 'status', String], ['lag', 'revisions behind', group], ['delay', 'delay', duration], ['heard', 'heard', duration],
  ['rate', 'actions/s', number]]
const SERIES = [['actions', 'actions a second', number], ['rejected', 'rejected a second', number], ['updateBytes', 'update bytes', bytes],
  ['lag', 'revisions behind, worst replica', group]]
const MARKS = { ok: '✓', warn: '!', bad: '✕', unknown: '?' }

export class Peers {
  rows = []
  sort = 'lag'
  kind = 'all'
  active = -1

  constructor(app) {
    this.app = app
    const bar = () => [element('b'), element('svg', { preserveAspectRatio: 'none', viewBox: '0 0 100 6' }, element('rect', { height: 6 }))]
    this.list = new VirtualList($('peer-list'), {
      role: 'row', className: 'peer', host: $('peers'), count: () => this.rows.length, active: () => this.active,
      build: () => COLUMNS.map(([key]) => element('span', { role: 'gridcell', class: key }, key === 'lag' && bar())),
      draw: (row, cells, index) => this.draw(row, cells, this.rows[index]),
    })
    $('peer-filter').addEventListener('input', () => this.arrange())
    $('peer-list').addEventListener('mousedown', event => { this.active = this.list.indexOf(event.target); this.list.schedule() })
    this.heads = COLUMNS.map(([key, text]) => element('span', { role: 'columnheader', class: key },
      element('button', { onclick: () => { this.sort = key; this.arrange() } }, text)))
    $('peer-cols').replaceChildren(...this.heads)
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

  /** Filters and sorts. What is not known comes last. */
  arrange() {
    const { peers = [], reported, why } = this.answer ?? {}, words = $('peer-filter').value.toLowerCase()
    const passes = peer => !words || `${peer.name} ${peer.user ?? ''} ${peer.address ?? ''}`.toLowerCase().includes(words)
    const isNumeric = COLUMNS.find(([key]) => key === this.sort)[2] !== String, count = status => peers.filter(peer => peer.status === status).length
    this.rows = peers.filter(peer => (this.kind === 'all' || peer.kind === this.kind) && passes(peer)).sort((a, b) => {
      const [x, y] = [a[this.sort], b[this.sort]]
      return x == null || y == null ? Number(x == null) - Number(y == null) : isNumeric ? y - x : x.localeCompare(y)
    })
    setText($('peer-count'), this.answer ? `${group(this.rows.length)} of ${group(peers.length)}: ${count('slow')} slow, ${count('stale')} stale` : '')
    setText($('peer-why'), this.error?.message ?? (reported === false ? `Replicas and senders are not reported: ${why ?? UNKNOWN}` : ''))
    this.heads.forEach((head, index) => {
      if (COLUMNS[index][0] === this.sort) head.setAttribute('aria-sort', isNumeric ? 'descending' : 'ascending')
      else head.removeAttribute('aria-sort')
    })
    const choice = kind => element('button', { 'aria-pressed': kind === this.kind, onclick: () => { this.kind = kind; this.arrange() } }, kind)
    const kinds = ['all', ...new Set(peers.map(peer => peer.kind))], key = kinds.join() + this.kind
    if (key !== this.kinds) $('peer-kind').replaceChildren(...kinds.map(choice))
    this.kinds = key
    this.list.schedule()
  }
  draw(row, cells, peer) {
    row.classList.toggle('warn', peer.status === 'slow')
    row.classList.toggle('bad', peer.status === 'stale')
    COLUMNS.forEach(([key, , format], index) => {
      setText(key === 'lag' ? cells[index].firstChild : cells[index], peer[key] == null ? UNKNOWN : printable(format(peer[key])))
    })
    row.querySelector('rect').setAttribute('width', peer.lag ? Math.min(100, Math.log10(peer.lag + 1) * 20) : 0)
  }
  move(step) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + step))
    this.list.reveal(this.active)
  }

  // MARK: Health

  health({ checks, series, gateway }, isShown) {
    const bad = checks.filter(check => check.status === 'warn' || check.status === 'bad').length
    setText($('alarm'), `${bad}`)
    Object.assign($('alarm'), { hidden: !bad, title: `${bad} checks are not good` })
    const digest = checks.find(check => check.id === 'digest')?.status
    setText($('f-digest'), { ok: 'equal', warn: 'different', bad: 'different' }[digest] ?? UNKNOWN)
    setText($('health-sum'), `${checks.filter(check => check.status === 'ok').length} of ${checks.length} checks are good`)
    if (isShown) $('health').replaceChildren(this.checks(checks), this.charts(series), this.gateway(gateway))
  }
  checks(checks) {
    return section(null, element('table', { class: 'checks' }, checks.map(({ status, title, value, note: more }) => element('tr', {},
      element('td', {}, element('span', { class: 'dot ' + status, role: 'img', 'aria-label': status }, MARKS[status])),
      element('td', {}, printable(title), element('small', {}, printable(more ?? ''))), element('td', {}, printable(value ?? UNKNOWN))))))
  }
  charts(series) {
    const charts = SERIES.filter(([key]) => series[key]?.some(value => value !== null)).map(([key, title, format]) => {
      const values = series[key], last = format(values.findLast(value => value !== null)), label = `${title}: ${last}`
      return element('div', { class: 'chart' }, element('div', {}, element('span', {}, title), element('b', {}, last)),
        element('svg', { viewBox: '0 0 300 38', preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, element('path', { d: line(values) })))
    })
    return section('Last 15 minutes', charts.length ? element('div', { class: 'charts' }, charts) : 'Not known yet.')
  }
  gateway({ version, process, memory, since, connections, streams, history }) {
    const used = ([count, most]) => `${group(count)} of ${group(most)}`
    const clients = this.answer?.clients.map(({ address, streams: open, lag, bytes: sent }) =>
      element('div', {}, printable(`${address}  ${open} streams, ${group(lag)} behind, ${bytes(sent)}`))).slice(0, 20)
    return section('This gateway', pairs([['version', version], ['process', process], ['memory', bytes(memory)], ['since', instant(since)],
      ['connections', used(connections)], ['streams', used(streams)],
      ['history', history ? `${group(history.oldest)} to live, ${group(history.records)} records, ${bytes(history.bytes)}` : 'no journal'],
      ['snapshots', history && group(history.snapshots)], ['epochs', history && group(history.epochs)], ['clients', clients]]))
  }
}

/** The path of a series; it is interrupted where a value is unknown. */
function line(values) {
  const top = Math.max(1e-9, ...values.map(value => value ?? 0)), x = index => (index / Math.max(1, values.length - 1) * 300).toFixed(1)
  return values.map((value, index) => value === null ? ''
    : `${(values[index - 1] ?? null) === null ? 'M' : 'L'}${x(index)} ${(36 - value / top * 33).toFixed(1)}`).join('')
}
