// The slider: actions per interval, rejections, snapshots, epochs, and the part of the log that is in memory.
import { view } from './view.js'
import { $, clock, group } from './format.js'

const REFRESH = 10_000, DRAG = 80

export class Timeline {
  constructor(app) {
    this.app = app
    this.canvas = $('track')
    const { canvas } = this
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId)
      this.isDragging = true
      this.drag(event)
    })
    canvas.addEventListener('pointermove', event => {
      this.hover = event.offsetX
      if (this.isDragging) this.drag(event)
      this.schedule()
    })
    canvas.addEventListener('pointerup', () => { this.isDragging = false })
    canvas.addEventListener('pointerleave', () => { this.hover = null; this.schedule() })
    canvas.addEventListener('keydown', event => this.key(event))
    new ResizeObserver(() => this.schedule()).observe(canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.schedule())
  }

  reset() {
    this.data = null
    this.nextAt = 0
    this.schedule()
  }

  async refresh() {
    if (!this.app.has('history') || this.isLoading || performance.now() < this.nextAt) return
    this.isLoading = true
    try {
      this.data = await this.app.get('timeline', { buckets: 300 })
      this.error = null
    } catch (error) { this.error = error } finally {
      this.nextAt = performance.now() + REFRESH
      this.isLoading = false
      this.schedule()
    }
  }

  get range() { return [this.data.oldest, Math.max(this.data.newest, this.app.live.revision ?? 0, this.data.oldest + 1)] }

  /** Moves the mark at once, and the view when the pointer rests. */
  drag(event) {
    if (!this.data) return
    const [first, last] = this.range
    const share = Math.max(0, Math.min(1, event.offsetX / this.canvas.clientWidth))
    this.dragged = Math.round(first + share * (last - first))
    this.schedule()
    this.timer ??= setTimeout(() => {
      this.timer = null
      const revision = this.dragged
      this.dragged = null
      this.app.go(revision)
    }, DRAG)
  }

  key(event) {
    if (!this.data) return
    const [first, last] = this.range
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -1000, PageDown: 1000, Home: -Infinity, End: Infinity }[event.key]
    if (!step) return
    event.stopPropagation()
    event.preventDefault()
    if (Math.abs(step) === 1) this.app.step(step)
    else this.app.go(Math.max(first, Math.min(last, (view.at ?? last) + step)))
  }

  schedule() {
    if (this.pending) return
    this.pending = true
    requestAnimationFrame(() => { this.pending = false; this.paint() })
  }

  paint() {
    const { canvas } = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight
    if (!width) return
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio)
      canvas.height = Math.round(height * ratio)
    }
    const draw = canvas.getContext('2d'), style = getComputedStyle(document.documentElement)
    const color = name => style.getPropertyValue('--' + name).trim()
    draw.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw.clearRect(0, 0, width, height)
    draw.font = '10px ' + color('ui')
    if (!this.data) {
      draw.fillStyle = color('dim')
      draw.fillText(!this.app.has('history') ? 'No journal: no history' : this.error ? this.error.message : '', 4, height / 2)
      return
    }
    const [first, last] = this.range, base = height - 15
    const x = revision => (revision - first) / (last - first) * width
    const at = this.dragged ?? view.at ?? last
    this.bars(draw, color, x, base, at, last)
    draw.fillStyle = color('line')
    draw.fillRect(0, base, width, 1)
    const start = this.app.log.memory.revision[this.app.log.memory.gap[0] ? 1 : 0]
    draw.globalAlpha = 0.5
    draw.fillStyle = color('accent')
    if (this.app.log.memory.count > 1) draw.fillRect(x(start), base, width - x(start), 2)
    draw.globalAlpha = 1
    this.marks(draw, color, x, base)
    this.scale(draw, color, x, base, width, height)
    const position = Math.min(width - 1, x(at))
    draw.fillStyle = color('accent')
    draw.fillRect(position - 1, 0, 2, base + 4)
    draw.beginPath()
    draw.arc(position, base + 2, 4, 0, 7)
    draw.fill()
    if (this.hover != null) this.label(draw, color, width, base)
    for (const [name, value] of [['min', first], ['max', last], ['now', at]]) canvas.setAttribute('aria-value' + name, value)
    canvas.setAttribute('aria-valuetext', `revision ${group(at)}${view.at == null ? ', live' : ''}`)
  }

  /** The height of a bar is the rate of its interval, on a scale of square roots. */
  bars(draw, color, x, base, at, last) {
    const { buckets } = this.data
    const rates = buckets.map(([, time, applied, rejected], i) => {
      const end = buckets[i + 1]?.[1] ?? Math.max(time + 1, Date.now())
      return Math.sqrt((applied + (rejected ?? 0)) / Math.max(1, end - time))
    })
    const top = Math.max(...rates, 1e-9)
    buckets.forEach(([from, , applied, rejected], i) => {
      const left = x(from), width = Math.max(1, x(buckets[i + 1]?.[0] ?? last) - left - 1)
      const tall = Math.max(2, rates[i] / top * (base - 12))
      draw.fillStyle = color(from <= at ? 'bar' : 'line')
      draw.fillRect(left, base - tall, width, tall)
      if (!rejected) return
      const red = Math.max(2, Math.min(tall, tall * rejected / (applied + rejected) * 4))
      draw.fillStyle = color('red')
      draw.fillRect(left, base - red, width, red)
    })
  }

  marks(draw, color, x, base) {
    draw.fillStyle = draw.strokeStyle = color('dim')
    for (const snapshot of this.data.snapshots) {
      const middle = x(snapshot)
      draw.beginPath()
      draw.moveTo(middle, base + 2)
      draw.lineTo(middle + 3.5, base + 8)
      draw.lineTo(middle - 3.5, base + 8)
      draw.fill()
    }
    draw.setLineDash([2, 2])
    for (const { epoch, revision } of this.data.epochs) {
      draw.beginPath()
      draw.moveTo(x(revision) + 0.5, 0)
      draw.lineTo(x(revision) + 0.5, base)
      draw.stroke()
      draw.fillText('epoch ' + epoch, x(revision) + 4, 8)
    }
    draw.setLineDash([])
  }

  scale(draw, color, x, base, width, height) {
    const [first, last] = this.range
    const raw = (last - first) / Math.max(1, width / 130), power = 10 ** Math.floor(Math.log10(Math.max(1, raw)))
    const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= raw)
    draw.fillStyle = color('faint')
    draw.textAlign = 'center'
    for (let revision = Math.ceil(first / step) * step; revision < last; revision += step) {
      if (x(revision) < 30 || x(revision) > width - 40) continue
      draw.fillRect(x(revision), base, 1, 4)
      draw.fillText(group(revision), x(revision), height - 2)
    }
    draw.textAlign = 'left'
  }

  label(draw, color, width, base) {
    const [first, last] = this.range, revision = Math.round(first + this.hover / width * (last - first))
    const bucket = this.data.buckets.findLast(([from]) => from <= revision)
    const isRight = this.hover > width - 140
    draw.fillStyle = color('dim')
    draw.fillRect(this.hover, 0, 1, base)
    draw.fillStyle = color('text')
    draw.textAlign = isRight ? 'right' : 'left'
    draw.fillText(group(revision) + (bucket ? `  ${clock(bucket[1]).slice(0, 8)}` : ''), this.hover + (isRight ? -5 : 5), 18)
    draw.textAlign = 'left'
  }
}
