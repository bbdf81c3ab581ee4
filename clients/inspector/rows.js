// Actions in memory, in the order of the journal, in columns. Where actions are missing, one row is a gap.
import { bytes, printable, summary } from './format.js'

const SLACK = 5000, NUMBERS = ['order', 'revision', 'from', 'to', 'time'], TEXTS = ['action', 'code', 'user', 'session', 'text']
const BATCH = 2 ** 20

/** An id SEQUENCE.INDEX as one number. A gap has that of the action before it and a half. */
const orderOf = id => id.split('.').map(Number).reduce((sequence, index) => sequence * BATCH + index)

/** The first of `count` integers for which `isBefore` is false. */
export function bisect(count, isBefore) {
  let low = 0, high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

export class ActionRows {
  count = 0
  rejected = 0
  /** Rows in memory by the name of the action, without rejected ones. */
  names = new Map()
  /** Columns; `gap`: 0 is an action, otherwise the number that is missing, or -1. */
  constructor(capacity) {
    const size = capacity + 2 * SLACK
    this.capacity = capacity
    for (const name of NUMBERS) this[name] = new Float64Array(size)
    for (const name of TEXTS) this[name] = new Array(size).fill('')
    this.delay = new Float32Array(size) // NaN if unknown
    this.isRejected = new Uint8Array(size); this.gap = new Int32Array(size)
    this.columns = [...NUMBERS, ...TEXTS, 'delay', 'isRejected', 'gap'].map(name => this[name])
  }
  idOf(i) { return `${this.batch(i)}.${this.order[i] % BATCH}` }
  batch(i) { return Math.floor(this.order[i] / BATCH) }
  isSameBatch(i, j) { return !this.gap[i] && !this.gap[j] && this.batch(i) === this.batch(j) }
  clear() { this.count = this.rejected = 0; this.names.clear() }
  /** The first entry at or after an id. */
  lowerBound(id) {
    const order = orderOf(id)
    return bisect(this.count, i => this.order[i] < order)
  }
  find(id) {
    const i = this.lowerBound(id)
    return i < this.count && !this.gap[i] && this.idOf(i) === id ? i : -1
  }
  /** The first entry that ends after a revision. */
  after(revision) { return bisect(this.count, i => this.to[i] <= revision) }
  /** Sets an entry from a row of the API, which is an action or, without a journal, an update. */
  set(i, row) {
    const { update } = row, batch = update ?? row.batch
    const numbers = [orderOf(update ? update.to + '.0' : row.id), update ? update.to : row.revision, batch.from, batch.to, row.time]
    NUMBERS.forEach((name, n) => { this[name][i] = numbers[n] })
    this.action[i] = update ? 'update' : row.action ?? `(${row.kind ?? 'not decoded'})`
    this.code[i] = row.code ?? ''; this.user[i] = row.user ?? ''
    this.session[i] = row.session?.slice(0, 8) ?? ''
    const payload = row.cut ? `payload of ${bytes(row.cut)}` : summary(row.payload)
    this.text[i] = update ? `${row.ops} changes` : row.action === null && row.message ? printable(row.message).slice(0, 200) : payload
    this.delay[i] = row.delay ?? NaN; this.isRejected[i] = Number(row.status === 'rejected')
    this.gap[i] = 0; this.tally(i, 1)
  }
  setGap(i, missing) {
    for (const name of TEXTS) this[name][i] = ''
    this.gap[i] = missing; this.isRejected[i] = 0
    this.order[i] = i ? this.order[i - 1] + 0.5 : -1
    this.revision[i] = this.to[i] = i ? this.to[i - 1] : 0
  }
  tally(i, sign) {
    if (this.gap[i]) return
    const name = this.action[i], left = (this.names.get(name) ?? 0) + sign
    if (this.isRejected[i]) this.rejected += sign
    else if (left) this.names.set(name, left)
    else this.names.delete(name)
  }
  /** Replaces `removed` entries at `i` by `added` unset ones. */
  splice(i, removed, added) {
    for (let j = i; j < i + removed; j++) this.tally(j, -1)
    for (const column of this.columns) column.copyWithin(i + added, i + removed, this.count)
    this.count += added - removed
  }
  /** Appends the rows that are new, after a gap if `missing` is not 0. */
  append(rows, missing) {
    const last = this.count - 1, fresh = rows.filter(row => row.update || last < 0 || this.lowerBound(row.id) > last)
    if (missing && fresh.length) {
      if (last >= 0 && this.gap[last]) this.gap[last] = Math.min(missing, this.gap[last]) < 0 ? -1 : this.gap[last] + missing
      else this.setGap(this.count++, missing)
    }
    for (const row of fresh) this.set(this.count++, row)
  }
  /** Fills the gap at `g`, which stays open where more is missing. Rows beyond the gap close it on that side. */
  fill(g, rows, isOpenBefore, isOpenAfter) {
    const missing = this.gap[g], isAfterPrevious = row => orderOf(row.id) > this.order[g]
    const isBeforeNext = row => g === this.count - 1 || orderOf(row.id) < this.order[g + 1]
    const inside = rows.filter(row => isAfterPrevious(row) && isBeforeNext(row))
    if (rows.length && !isAfterPrevious(rows[0])) isOpenBefore = false
    if (rows.length && !isBeforeNext(rows.at(-1))) isOpenAfter = false
    const left = missing > inside.length && isOpenBefore !== isOpenAfter ? missing - inside.length : -1
    this.splice(g, 1, inside.length + Number(isOpenBefore) + Number(isOpenAfter))
    if (isOpenBefore) this.setGap(g++, left)
    for (const row of inside) this.set(g++, row)
    if (isOpenAfter) this.setGap(g, left)
  }
  get isFull() { return this.count >= this.capacity + SLACK }
  /** Drops the entries farthest from the one viewed. A gap stays if they can be loaded again, or newer ones follow. */
  evict(viewed, canLoad) {
    const excess = this.count - this.capacity, dropsOld = viewed > excess + 100, start = dropsOld ? 0 : this.count - excess - 1
    const gap = Number(canLoad || !dropsOld)
    this.splice(start, excess + 1, gap)
    if (gap) this.setGap(start, -1)
  }
}
