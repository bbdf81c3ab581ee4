// The language of the filter: words joined by and; "-" negates; user: outcome: session: path: delay:>20 name: code:
export function parse(text) {
  const terms = []
  for (const word of text.trim().split(/\s+/)) {
    const [, minus, key, rest] = word.match(/^(-?)(?:(\w+):)?(.*)$/s)
    const known = key === undefined || (key !== 'undefined' && Object.hasOwn(TESTS, key)), value = known ? rest : key + ':' + rest
    const isWrong = VALUES[key]?.test(rest) === false
    const problem = !known ? `no term ${key}: – searched as a text` : isWrong ? `${key}: has no such value` : null
    if (value) terms.push({ not: minus === '-', key: known ? key : undefined, text: value, problem })
  }
  return terms
}

const VALUES = { outcome: /^(applied|rejected)$/i, session: /^[0-9a-f]+$/i, delay: /^[<>]?=?\d+(\.\d+)?$/ }
/** Tests of row `i`, by key. `path:` is answered by the gateway: a row in memory does not say what it changed. */
const TESTS = {
  path: () => () => true,
  user: text => matching(text, rows => rows.user),
  name: text => matching(text, rows => rows.action),
  code: text => matching(text, rows => rows.code),
  session: text => (rows, i) => rows.session[i].startsWith(text.toLowerCase().slice(0, 8)),
  outcome: text => (rows, i) => rows.isRejected[i] === Number(text.toLowerCase() === 'rejected'),
  delay(text) {
    const [, sign, number] = text.match(/^([<>]?)=?([\d.]*)/), limit = Number(number)
    return (rows, i) => sign === '<' ? rows.delay[i] < limit : rows.delay[i] > limit
  },
  undefined: text => matching(text, rows => rows.action, rows => rows.text, rows => rows.code, rows => rows.user),
}
function matching(text, ...columns) {
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i')
  return (rows, i) => columns.some(column => pattern.test(column(rows)[i]))
}

/** The conjunction of all terms, without hidden types; null if everything passes. Rows whose delay is unknown pass no `delay:`. */
export function compile(terms, hide) {
  const tests = terms.filter(({ key, problem }) => key !== 'path' && !(key && problem)).map(term => {
    const test = TESTS[term.key](term.text)
    if (term.key === 'delay') return (rows, i) => !Number.isNaN(rows.delay[i]) && test(rows, i) !== term.not
    return term.not ? (rows, i) => !test(rows, i) : test
  })
  if (hide.size) tests.push((rows, i) => rows.isRejected[i] === 1 || !hide.has(rows.action[i]))
  return tests.length ? (rows, i) => tests.every(test => test(rows, i)) : null
}

/** The parameters with which the gateway can search the journal for the terms, or null. */
export function journalQuery(terms, searched) {
  const query = {}
  for (const { not, key, text, problem } of terms) {
    if (key && searched.includes(key) && !not && !problem && !(key in query)) query[key] = key in VALUES ? text.toLowerCase() : text
  }
  return Object.keys(query).length ? query : null
}
