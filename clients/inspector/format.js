// Text of numbers, times and values, and elements that show it. Data reaches the page as text nodes only.
import { Cut, encodeValue } from './statecast.js'

const digits = new Intl.NumberFormat('en')
export const UNKNOWN = '–'
export const group = number => number == null || Number.isNaN(number) ? UNKNOWN : digits.format(number)
/** The time of day in UTC, as `statecast-journal` prints it. */
export const clock = ms => new Date(ms).toISOString().slice(11, 23)
export const instant = ms => new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')

export function duration(ms) {
  if (ms == null || Number.isNaN(ms)) return UNKNOWN
  if (ms < 10) return ms.toFixed(1) + ' ms'
  if (ms < 1000) return Math.round(ms) + ' ms'
  if (ms < 120_000) return (ms / 1000).toFixed(1) + ' s'
  return ms < 7_200_000 ? Math.round(ms / 60_000) + ' min' : Math.round(ms / 3_600_000) + ' h'
}
export function bytes(number) {
  if (number == null) return UNKNOWN
  if (number < 1024) return number + ' B'
  return number < 1_048_576 ? (number / 1024).toFixed(1) + ' KiB' : (number / 1_048_576).toFixed(1) + ' MiB'
}

/** Escapes what would hide or reorder text: controls and marks of direction. */
export const printable = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  character => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'))

const isBytes = value => value instanceof Uint8Array
const isContainer = value => value !== null && typeof value === 'object' && !isBytes(value) && !(value instanceof Cut)

/** JSON of a decoded value. Integers keep all digits, bytes become base64. */
export function json(value, indent = '', step = '') {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value)
  if (isBytes(value)) return JSON.stringify(encodeValue(value).$bytes)
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null'
  const inner = indent + step, isArray = Array.isArray(value)
  const items = Object.keys(value).map(key => (isArray ? '' : JSON.stringify(key) + (step ? ': ' : ':')) + json(value[key], inner, step))
  const [open, close] = isArray ? '[]' : '{}'
  const isFlat = !step || !items.length
  return isFlat ? open + items.join(',') + close : `${open}\n${inner}${items.join(',\n' + inner)}\n${indent}${close}`
}
const cutText = ({ type, count }) =>
  type === 'array' ? `[${group(count)}]` : type === 'object' ? `{${group(count)}}` : `${type} of ${bytes(count)}`
/** A value in one line. */
export function preview(value, limit = 200) {
  let text
  if (value instanceof Cut) text = cutText(value)
  else if (isBytes(value)) text = `${value.length} bytes ${json(value).slice(1, -1)}`
  else text = value === undefined ? UNKNOWN : json(typeof value === 'string' ? value.slice(0, limit + 1) : value)
  return printable(text.length > limit ? text.slice(0, limit) + '…' : text)
}

/** The key fields of a payload: its first values, short texts without their names. */
export function summary(payload, limit = 100) {
  const parts = []
  let length = 0
  const visit = (value, name, depth) => {
    if (length > limit) return
    if (isContainer(value) && depth < 3) return Object.keys(value).forEach(key => visit(value[key], key, depth + 1))
    const isName = typeof value === 'string' && !/\s/.test(value)
    const text = isName ? printable(value.slice(0, limit)) : preview(value, limit)
    parts.push(typeof value === 'string' || !name ? text : name + ' ' + text); length += text.length
  }
  visit(payload, '', 0)
  return parts.join(' ').slice(0, limit)
}
export const keysOf = path => path.split('/').slice(1).map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
export const child = (path, key) => path + '/' + String(key).replaceAll('~', '~0').replaceAll('/', '~1')
export const parentOf = path => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const $ = id => document.getElementById(id)
const SVG = new Set(['svg', 'path', 'rect'])

/** `element('button', { class: 'small', onclick: run }, 'text')`: strings become text nodes, empty children nothing. */
export function element(tag, attributes = {}, ...children) {
  const made = SVG.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made[name] = value
    else if (name.startsWith('aria-')) made.setAttribute(name, value)
    else if (value !== false && value != null && value !== '') made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.flat(Infinity).filter(item => item != null && item !== false))
  return made
}
/** A term list of pairs; a pair without a value is left out. */
export const pairs = list => element('dl', { class: 'meta' },
  list.filter(([, value]) => value != null).map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]))
export const section = (title, ...content) => element('section', { class: 'sec' }, title && element('h3', {}, title), content)
export const button = (text, onclick, attributes = {}) => element('button', { type: 'button', class: 'btn', onclick, ...attributes }, text)
/** A paragraph; an error is announced. */
export const note = (text, kind = '') => element('p', { class: `note ${kind}`, role: kind && 'alert' }, printable(text))
export const setText = (node, text) => { if (node.textContent !== text) node.textContent = text }
