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
