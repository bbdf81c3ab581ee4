// A list of rows of one height, of which only the visible ones exist.
import { element } from './format.js'

const HEIGHT = 21, MARGIN = 6, POOL = 80

export class VirtualList {
  /**
   * `build()` returns the cells of a new row, `draw(row, cells, index)` fills a recycled one. `active()` is the index of the
   * active row or -1; `host` (by default the scrolled element) has the focus and names the active row.
   */
  constructor(root, { role, host = root, className, count, build, draw, active, drawn = () => {} }) {
    Object.assign(this, { root, role, host, className, count, build, draw, active, drawn })
    this.rows = new Map()
    this.pool = []
    this.space = element('div', { class: 'space', role: 'presentation' })
    root.append(this.space)
    root.addEventListener('scroll', () => this.schedule(), { passive: true })
    new ResizeObserver(() => this.schedule()).observe(root)
  }

  schedule() {
    if (this.pending) return
    this.pending = true
    requestAnimationFrame(() => { this.pending = false; this.render() })
  }

  render() {
    if (!this.root.clientHeight) return
    const total = this.resize()
    const top = this.root.scrollTop
    const first = Math.max(0, Math.floor(top / HEIGHT) - MARGIN)
    const end = Math.min(total, Math.ceil((top + this.root.clientHeight) / HEIGHT) + MARGIN)
    for (const [index, row] of this.rows) {
      if (index >= first && index < end) continue
      this.rows.delete(index)
      row.remove()
      if (this.pool.length < POOL) this.pool.push(row)
    }
    for (let index = first; index < end; index++) this.show(index, total)
    const active = this.rows.get(this.active())
    if (active) this.host.setAttribute('aria-activedescendant', active.id)
    else this.host.removeAttribute('aria-activedescendant')
    this.drawn(first, end)
  }

  show(index, total) {
    let row = this.rows.get(index)
    if (!row) {
      row = this.pool.pop()
      if (!row) {
        row = element('div', { role: this.role }, this.build())
        row.cells = [...row.children]
      }
      row.style.transform = `translateY(${index * HEIGHT}px)`
      row.index = index
      row.id = `${this.root.id}-${index}`
      if (this.role === 'row') row.setAttribute('aria-rowindex', index + 2)
      else row.setAttribute('aria-posinset', index + 1)
      this.rows.set(index, row)
      this.root.append(row)
    }
    if (this.role !== 'row') row.setAttribute('aria-setsize', total)
    row.className = 'row ' + this.className
    row.setAttribute('aria-selected', index === this.active())
    this.draw(row, row.cells, index)
  }

  resize() {
    const total = this.count()
    if (total !== this.total) this.space.style.height = (this.total = total) * HEIGHT + 'px'
    return total
  }

  reveal(index, centre = false) {
    this.resize()
    const { root } = this, y = index * HEIGHT
    if (y < root.scrollTop || y + HEIGHT > root.scrollTop + root.clientHeight) {
      root.scrollTop = centre ? y - root.clientHeight / 2 : y < root.scrollTop ? y : y + HEIGHT - root.clientHeight
    }
    this.schedule()
  }

  get top() { return Math.floor(this.root.scrollTop / HEIGHT) }
  get atEnd() { return this.root.scrollTop + this.root.clientHeight > this.count() * HEIGHT - 2 * HEIGHT }
  scrollToEnd() { this.resize(); this.root.scrollTop = this.total * HEIGHT; this.schedule() }
  /** Keeps the same rows in view when `count` rows above them appear (or, if negative, disappear). */
  shift(count) { this.resize(); this.root.scrollTop += count * HEIGHT; this.schedule() }
  indexOf(target) { return target.closest?.('.row')?.index ?? -1 }
}
