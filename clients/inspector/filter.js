// The language of the filter: words joined by and; "-" negates; user: outcome: session: path: delay:>20 name: code:
const KEYS = new Set(['user', 'outcome', 'session', 'path', 'delay', 'name', 'code'])

export function parse(text) {
  const terms = []
  for (const word of text.trim().split(/\s+/)) {
    const [, minus, key, rest] = word.match(/^(-?)(?:(\w+):)?(.*)$/s)
    const known = key === undefined || KEYS.has(key)
    const value = known ? rest : key + ':' + rest
    if (value) terms.push({ not: minus === '-', key: known ? key : undefined, text: value })
  }
  return terms
}

const containing = text => {
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i')
  return value => pattern.test(value)
}

/** A test of row `i` of `rows`. `path:` is answered by the gateway: a row in memory does not say what it changed. */
function tester({ key, text }) {
  const contains = containing(text)
  switch (key) {
    case 'path': return () => true
    case 'user': return (rows, i) => contains(rows.user[i])
    case 'name': return (rows, i) => contains(rows.action[i])
    case 'code': return (rows, i) => contains(rows.code[i])
    case 'outcome': {
      const rejected = text.toLowerCase() === 'rejected'
      return (rows, i) => rows.isRejected[i] === Number(rejected)
    }
    case 'session': {
      const prefix = text.toLowerCase().slice(0, 8)
      return (rows, i) => rows.session[i].startsWith(prefix)
    }
    case 'delay': {
      const [, sign, number] = text.match(/^([<>]?)=?([\d.]*)/), limit = Number(number)
      return (rows, i) => sign === '<' ? rows.delay[i] < limit : rows.delay[i] > limit
    }
    default: return (rows, i) => contains(rows.action[i]) || contains(rows.text[i]) || contains(rows.code[i]) || contains(rows.user[i])
  }
}

/** The conjunction of all terms, without hidden types; null if everything passes. Rows whose delay is unknown pass no `delay:`. */
export function compile(terms, hide) {
  const tests = terms.filter(term => term.key !== 'path').map(term => {
    const test = tester(term)
    if (term.key === 'delay') return (rows, i) => !Number.isNaN(rows.delay[i]) && test(rows, i) !== term.not
    return term.not ? (rows, i) => !test(rows, i) : test
  })
  if (hide.size) tests.push((rows, i) => rows.isRejected[i] === 1 || !hide.has(rows.action[i]))
  return tests.length ? (rows, i) => tests.every(test => test(rows, i)) : null
}

/** The parameters with which the gateway can search the journal for the terms, or null. */
export function journalQuery(terms) {
  const query = {}
  for (const { not, key, text } of terms) {
    const isExact = key === 'path' || key === 'session' || (key === 'outcome' && /^(applied|rejected)$/.test(text))
    if (isExact && !not && !(key in query)) query[key] = text
  }
  return Object.keys(query).length ? query : null
}
