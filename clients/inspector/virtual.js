// A list of rows of one height, of which only the visible ones exist.
import { element } from './format.js'

const HEIGHT = 21, MARGIN = 4

export class VirtualList {
  rows = new Map()
  pool = []
  /**
   * `build()` returns the cells of a new row, `draw(row, cells, index)` fills a recycled one. `active()` is the index of the
   * active row or -1; `host` (by default the scrolled element) has the focus and names the active row.
   */
  constructor(root, options) {
    Object.assign(this, { root, host: root, drawn: () => {}, ...options })
    this.space = root.appendChild(element('div', { class: 'space', role: 'presentation' }))
    root.addEventListener('scroll', () => this.schedule(), { passive: true })
    new ResizeObserver(() => this.schedule()).observe(root)
  }
  schedule() { this.pending ??= requestAnimationFrame(() => { this.pending = null; this.render() }) }
  resize() {
    const total = this.count()
    if (total !== this.total) this.space.style.height = (this.total = total) * HEIGHT + 'px'
    return total
  }
  render() {
    const { root, rows } = this
    if (!root.clientHeight) return
    const total = this.resize(), active = this.active()
    const first = Math.max(0, this.top - MARGIN), end = Math.min(total, Math.ceil((root.scrollTop + root.clientHeight) / HEIGHT) + MARGIN)
    for (const [index, row] of rows) {
      if (index >= first && index < end) continue
      rows.delete(index); row.remove()
      this.pool.push(row)
    }
    for (let index = first; index < end; index++) {
      const row = rows.get(index) ?? this.add(index)
      if (this.role !== 'row') row.setAttribute('aria-setsize', total)
      row.setAttribute('aria-selected', index === active); this.draw(row, row.cells, index)
    }
    if (rows.has(active)) this.host.setAttribute('aria-activedescendant', rows.get(active).id)
    else this.host.removeAttribute('aria-activedescendant')
    this.drawn(first, end)
  }
  add(index) {
    const row = this.pool.pop() ?? element('div', { role: this.role, class: 'row ' + this.className }, this.build())
    row.cells ??= [...row.children]; row.style.transform = `translateY(${index * HEIGHT}px)`
    row.index = index; row.id = `${this.root.id}-${index}`
    row.setAttribute(this.role === 'row' ? 'aria-rowindex' : 'aria-posinset', this.role === 'row' ? index + 2 : index + 1)
    this.rows.set(index, row)
    return this.root.appendChild(row)
  }
  reveal(index, isCentred = false) {
    this.resize()
    const { root } = this, y = index * HEIGHT, isAbove = y < root.scrollTop, isBelow = y + HEIGHT > root.scrollTop + root.clientHeight
    if (isAbove || isBelow) root.scrollTop = isCentred ? y - root.clientHeight / 2 : isAbove ? y : y + HEIGHT - root.clientHeight
    this.schedule()
  }
  get top() { return Math.floor(this.root.scrollTop / HEIGHT) }
  get atEnd() { return this.root.scrollTop + this.root.clientHeight > (this.total - 2) * HEIGHT }
  scrollToEnd() { this.root.scrollTop = this.resize() * HEIGHT; this.schedule() }
  /** Keeps the same rows in view when `count` rows above them appear or, if negative, disappear. */
  shift(count) { this.resize(); this.root.scrollTop += count * HEIGHT }
  indexOf(target) { return target.closest('.row')?.index ?? -1 }
}
