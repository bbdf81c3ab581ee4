// Actions in memory, in the order of the journal, in columns. Where actions are missing, one row is a gap.
import { summary, bytes } from './format.js'

const SLACK = 5000
const SHARED = new Map()

/** One copy of equal texts. */
function shared(text) {
  const known = SHARED.get(text)
  if (known !== undefined) return known
  if (SHARED.size > 5000) SHARED.clear()
  SHARED.set(text, text)
  return text
}

export class ActionRows {
  count = 0
  /** Rows in memory by the name of the action; rejected ones count in `rejected` only. */
  names = new Map()
  rejected = 0

  constructor(capacity) {
    this.capacity = capacity
    const size = capacity + 2 * SLACK
    this.sequence = new Float64Array(size) // the record: all actions of a batch have the same
    this.index = new Float64Array(size)
    this.revision = new Float64Array(size)
    this.from = new Float64Array(size)
    this.to = new Float64Array(size)
    this.time = new Float64Array(size)
    this.session = new Float64Array(size) // its first 32 bits; NaN without one
    this.delay = new Float32Array(size) // NaN if unknown
    this.isRejected = new Uint8Array(size)
    this.gap = new Int32Array(size) // 0: an action; otherwise how many are missing here, -1 if that is unknown
    this.action = new Array(size).fill('')
    this.code = new Array(size).fill('')
    this.user = new Array(size).fill('')
    this.text = new Array(size).fill('')
    this.columns = Object.values(this).filter(value => typeof value === 'object' && 'copyWithin' in value)
  }

  sessionOf(i) { return Number.isNaN(this.session[i]) ? '' : this.session[i].toString(16).padStart(8, '0') }
  idOf(i) { return this.sequence[i] + '.' + this.index[i] }
  isSameBatch(i, j) { return !this.gap[i] && !this.gap[j] && this.sequence[i] === this.sequence[j] }

  clear() {
    this.count = this.rejected = 0
    this.names.clear()
  }

  /** The first entry at or after an id. */
  lowerBound(id) {
    const [sequence, index] = id.split('.').map(Number)
    return this.bisect(i => this.sequence[i] < sequence || (this.sequence[i] === sequence && this.index[i] < index))
  }
  /** The first entry that ends after a revision. */
  after(revision) { return this.bisect(i => this.to[i] <= revision) }
  bisect(isBefore) {
    let low = 0, high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(middle)) low = middle + 1
      else high = middle
    }
    return low
  }
  find(id) {
    const i = this.lowerBound(id)
    return i < this.count && !this.gap[i] && this.idOf(i) === id ? i : -1
  }

  set(i, row) {
    const update = row.update
    const [sequence, index] = update ? [update.to, 0] : row.id.split('.').map(Number)
    const batch = update ?? row.batch
    this.sequence[i] = sequence
    this.index[i] = index
    this.revision[i] = update ? update.to : row.revision
    this.from[i] = batch.from
    this.to[i] = batch.to
    this.time[i] = row.time
    this.session[i] = row.session ? parseInt(row.session.slice(0, 8), 16) : NaN
    this.delay[i] = row.delay ?? NaN
    this.isRejected[i] = row.status === 'rejected' ? 1 : 0
    this.gap[i] = 0
    this.action[i] = shared(update ? 'update' : row.action ?? `(${row.kind})`)
    this.code[i] = shared(row.code ?? '')
    this.user[i] = shared(row.user ?? '')
    this.text[i] = update ? `${row.ops} changes` : row.cut ? `payload of ${bytes(row.cut)}` : summary(row.payload)
    this.tally(i, 1)
  }

  setGap(i, missing) {
    this.gap[i] = missing
    this.sequence[i] = i ? this.sequence[i - 1] : -1
    this.index[i] = i ? this.index[i - 1] + 0.5 : 0
    this.revision[i] = this.to[i] = i ? this.to[i - 1] : 0
    this.action[i] = this.code[i] = this.user[i] = this.text[i] = ''
    this.isRejected[i] = 0
  }

  tally(i, sign) {
    if (this.gap[i]) return
    if (this.isRejected[i]) this.rejected += sign
    else {
      const left = (this.names.get(this.action[i]) ?? 0) + sign
      if (left) this.names.set(this.action[i], left)
      else this.names.delete(this.action[i])
    }
  }

  /** Replaces `removed` entries at `i` by `added` unset ones. */
  splice(i, removed, added) {
    for (let j = i; j < i + removed; j++) this.tally(j, -1)
    if (added !== removed) for (const column of this.columns) column.copyWithin(i + added, i + removed, this.count)
    this.count += added - removed
  }

  /** Appends rows in order, after a gap if `skipped` is not 0. Returns false if earlier entries have moved. */
  append(rows, skipped) {
    const last = this.count - 1
    const isKnown = row => last >= 0 && !row.update && this.sequence[last] >= 0 && this.lowerBound(row.id) <= last
    const fresh = rows.filter(row => !isKnown(row))
    if (skipped && fresh.length) {
      if (last >= 0 && this.gap[last]) this.gap[last] = this.gap[last] < 0 || skipped < 0 ? -1 : this.gap[last] + skipped
      else this.setGap(this.count++, skipped)
    }
    for (const row of fresh) this.set(this.count++, row)
    return fresh
  }

  /**
   * Fills a part of the gap at `g` with rows in order. `isOpenBefore`, `isOpenAfter`: more are missing on that side. Rows that lie outside
   * the gap close it there. Returns the number of entries by which the later ones move.
   */
  fill(g, rows, isOpenBefore, isOpenAfter) {
    const missing = this.gap[g]
    const isAfterPrevious = row => g === 0 || compare(row.id, this.idOf(g - 1)) > 0
    const isBeforeNext = row => g === this.count - 1 || compare(row.id, this.idOf(g + 1)) < 0
    const inside = rows.filter(row => isAfterPrevious(row) && isBeforeNext(row)).slice(-SLACK)
    if (rows.length && !isAfterPrevious(rows[0])) isOpenBefore = false
    if (rows.length && !isBeforeNext(rows.at(-1))) isOpenAfter = false
    const left = missing > inside.length && isOpenBefore !== isOpenAfter ? missing - inside.length : -1
    const added = inside.length + Number(isOpenBefore) + Number(isOpenAfter)
    this.splice(g, 1, added)
    let i = g
    if (isOpenBefore) this.setGap(i++, left)
    for (const row of inside) this.set(i++, row)
    if (isOpenAfter) this.setGap(i, left)
    return added - 1
  }

  /** Drops the entries farthest from `viewed` if there are too many, and leaves a gap. Returns how many went before `viewed`, or null. */
  evict(viewed, canLoad) {
    const excess = this.count - this.capacity
    if (excess < SLACK) return null
    const dropsOld = viewed >= excess + 100
    const start = dropsOld ? 0 : this.count - excess - 1
    const leavesGap = canLoad || !dropsOld
    let missing = start === 0 ? -1 : 0
    for (let i = start; i <= start + excess && missing >= 0; i++) missing = this.gap[i] < 0 ? -1 : missing + (this.gap[i] || 1)
    this.splice(start, excess + 1, Number(leavesGap))
    if (leavesGap) this.setGap(start, missing)
    return dropsOld ? excess + 1 - Number(leavesGap) : 0
  }
}

export function compare(a, b) {
  const [sequence, index] = a.split('.').map(Number), [otherSequence, otherIndex] = b.split('.').map(Number)
  return sequence - otherSequence || index - otherIndex
}
