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
