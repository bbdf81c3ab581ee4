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
