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
