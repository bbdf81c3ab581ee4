// The slider: actions per interval, rejections, snapshots, epochs, and the part of the log that is in memory.
import { view } from './view.js'
import { $, clock, group } from './format.js'

const REFRESH = 10_000, DRAG = 80
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -1000, PageDown: 1000, Home: -1e15, End: 1e15 }

export class Timeline {
  canvas = $('track')
  constructor(app) {
    this.app = app
    const on = (name, run) => this.canvas.addEventListener(name, event => { run(event); this.schedule() })
    on('pointerdown', event => { this.canvas.setPointerCapture(event.pointerId); this.drag(event) })
    on('pointermove', event => { this.hover = event.offsetX; if (event.buttons) this.drag(event) })
    on('pointerleave', () => { this.hover = null })
    on('keydown', event => this.key(event))
    new ResizeObserver(() => this.schedule()).observe(this.canvas)
  }
  reset() { this.data = this.error = null; this.nextAt = 0; this.refresh() }
  async refresh() {
    this.schedule()
    if (!this.app.has('history') || performance.now() < this.nextAt) return
    this.nextAt = performance.now() + REFRESH
    try {
      this.data = await this.app.get('timeline', { buckets: 300 })
      this.range = [this.data.oldest, Math.max(this.data.newest, this.data.oldest + 1)]
    } catch (error) { this.error = error }
    this.schedule()
  }
  /** Moves the mark at once, and the view a little later. */
  drag(event) {
    if (!this.data) return
    const [first, last] = this.range, share = Math.max(0, Math.min(1, event.offsetX / this.canvas.clientWidth))
    this.dragged = Math.round(first + share * (last - first))
    const go = () => { this.app.go(this.dragged < last ? this.dragged : null); this.timer = this.dragged = null }
    this.timer ??= setTimeout(go, DRAG)
  }
  key(event) {
    const step = STEPS[event.key]
    if (!step) return
    event.stopPropagation(); event.preventDefault()
    const [first, last] = this.range ?? [0, 0]
    if (Math.abs(step) === 1) this.app.step(step)
    else if (this.data) this.app.go(Math.max(first, Math.min(last, (view.at ?? last) + step)))
  }
  /** Goes to the interval of a time of day in UTC, of the last 24 hours. */
  goTo(seconds) {
    const now = Date.now(), today = now - now % 864e5 + seconds * 1000, time = today > now ? today - 864e5 : today
    const { buckets, newest } = this.data ?? { buckets: [] }, last = buckets.findLastIndex(([, end]) => end <= time)
    last < 0 ? this.app.toast('The history does not have this time') : this.app.go(buckets[last + 1]?.[0] ?? newest)
  }
  first() { if (this.data) this.app.go(this.data.oldest) }
  schedule() { this.pending ??= requestAnimationFrame(() => { this.pending = null; this.paint() }) }
  paint() {
    const { canvas, app } = this, { clientWidth: width, clientHeight: height } = canvas, ratio = devicePixelRatio || 1, base = height - 15
    if (!width) return
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) })
    const draw = canvas.getContext('2d'), style = getComputedStyle(document.documentElement)
    const color = name => style.getPropertyValue('--' + name).trim()
    const box = (name, ...place) => { draw.fillStyle = color(name); draw.fillRect(...place) }
    const text = (name, words, align, ...place) => { draw.fillStyle = color(name); draw.textAlign = align; draw.fillText(words, ...place) }
    draw.scale(ratio, ratio); draw.font = '10px ' + color('ui')
    const why = app.store && !app.has('history') ? `No history: ${app.noHistory}` : this.error?.message ?? ''
    if (!this.data) return text('dim', why, 'left', 4, height / 2)
    this.range[1] = Math.max(this.range[1], app.live.revision)
    const [first, last] = this.range, at = this.dragged ?? view.at ?? last, x = revision => (revision - first) / (last - first) * width
    this.bars(box, x, base, at, last)
    const { memory } = app.log, start = x(memory.revision[memory.gap[0] ? 1 : 0])
    box('line', 0, base, width, 1)
    if (memory.count > 1) box('accent', start, base, width - start, 1)
    for (const snapshot of this.data.snapshots) text('dim', '▴', 'center', x(snapshot), base + 9)
    let labelEnd = 0
    for (const { epoch, revision } of this.data.epochs) {
      for (let y = 0; y < base; y += 4) box('dim', Math.round(x(revision)), y, 1, 2)
      if (x(revision) < labelEnd) continue
      text('dim', 'epoch ' + epoch, 'left', x(revision) + 4, 8); labelEnd = x(revision) + 60
    }
    const power = 10 ** Math.floor(Math.log10(Math.max(1, (last - first) / width * 130)))
    const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= (last - first) / width * 130)
    for (let revision = Math.ceil(first / step) * step; revision < last; revision += step) {
      if (x(revision) < 30 || x(revision) > width - 40) continue
      box('faint', x(revision), base, 1, 4)
      text('faint', group(revision), 'center', x(revision), height - 2)
    }
    const mark = Math.min(width - 1, x(at))
    box('accent', mark - 1, 0, 2, base + 4); draw.beginPath()
    draw.arc(mark, base + 2, 4, 0, 7); draw.fill()
    if (this.hover != null) {
      const revision = Math.round(first + this.hover / width * (last - first))
      const [, time, , rejected] = this.data.buckets.findLast(([from]) => from <= revision) ?? []
      const rejections = rejected === null ? 'rejections not counted' : rejected ? `${group(rejected)} rejected` : ''
      const align = this.hover > width - 260 ? 'right' : 'left'
      box('dim', this.hover, 0, 1, base)
      text('text', `${group(revision)}  ${time ? clock(time).slice(0, 8) : ''}  ${rejections}`, align, this.hover + (align === 'left' ? 5 : -5), 18)
    }
    for (const [name, value] of [['min', first], ['max', last], ['now', at]]) canvas.setAttribute('aria-value' + name, value)
    canvas.setAttribute('aria-valuetext', `revision ${group(at)}${view.at == null ? ', live' : ''}`)
  }
  /** The height of a bar is the square root of the rate in its interval. */
  bars(box, x, base, at, last) {
    const { buckets } = this.data, duration = i => i ? buckets[i][1] - buckets[i - 1][1] : buckets.length > 1 ? duration(1) : 1
    const rates = buckets.map(([, , applied, rejected], i) => Math.sqrt((applied + (rejected ?? 0)) / Math.max(1, duration(i))))
    const top = Math.max(...rates, 1e-9)
    buckets.forEach(([from, , applied, rejected], i) => {
      const width = Math.max(1, x(buckets[i + 1]?.[0] ?? last) - x(from) - 1), tall = Math.max(2, rates[i] / top * (base - 12))
      box(from <= at ? 'bar' : 'line', x(from), base - tall, width, tall)
      const red = rejected ? Math.max(2, Math.min(tall, tall * rejected / (applied + rejected) * 4)) : 0
      if (red) box('red', x(from), base - red, width, red)
    })
  }
}
