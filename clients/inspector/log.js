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
