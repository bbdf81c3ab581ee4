// Texts to paste elsewhere: a Swift test, commands, a patch.
import { element, json } from './format.js'
import { Cut } from './statecast.js'

/** Writes to the clipboard, which browsers offer in secure contexts only. */
export async function write(text) {
  try { return await navigator.clipboard.writeText(text) } catch { /* The older way follows. */ }
  const area = document.body.appendChild(element('textarea', { class: 'sr', 'aria-hidden': true }))
  area.value = text; area.select()
  document.execCommand('copy'); area.remove()
}

const quoted = text => /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Commands that show a revision, on the machine with the journal. */
export const journalCommands = (journal, at) =>
  [`statecast-journal state ${quoted(journal)} --at ${at}`, `statecast-journal actions ${quoted(journal)} --to ${at}`]
export const replicaCommand = (store, path) => `statecast-replica --store ${quoted(store)} --select ${quoted(path)}`
export const sendCommand = (store, row) => `statecast-send --store ${[store, row.action, json(row.payload)].map(quoted).join(' ')}`
export const curl = (store, route) =>
  `curl -H "Authorization: Bearer $TOKEN" ${quoted(String(new URL(`v1/stores/${encodeURIComponent(store)}/${route}`, location.href)))}`

/** The whole patch, up to 10,000 operations. */
export async function jsonPatch(app, range) {
  const patch = []
  let after = null
  do {
    const answer = await app.get('diff', { ...range, limit: 1000, whole: true, after })
    patch.push(...answer.patch.map(({ op, path, value }) => op === 'remove' ? { op, path } : { op, path, value }))
    const large = answer.patch.find(({ value }) => value instanceof Cut)
    if (large) throw Error(`The value at ${large.path} is too large: use statecast-journal diff`)
    after = answer.next
  } while (after !== null && patch.length < 10_000)
  if (after !== null) throw Error('The patch has more than 10,000 operations: use statecast-journal diff')
  return json(patch, '', '  ')
}

/** A test of the actions of one batch, with the states before and after it from the journal. */
export function swiftTest(store, journal, actions) {
  const [{ batch, status }] = actions, names = [...new Set(actions.map(each => each.action))].join(', ')
  const type = store.replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => next?.toUpperCase() ?? '').replace(/^./, first => first.toUpperCase())
  const literal = text => {
    const marks = '#'.repeat(1 + Math.max(0, ...(text.match(/"#*/g) ?? []).map(match => match.length - 1)))
    return `${marks}"${text}"${marks}`
  }
  const step = ({ action, payload, time, session, user }) => `        .at(Timestamp(milliseconds: ${time}))
        .from(session: ${session ? `"${session}"` : 'nil'}, user: ${user ? literal(user) : 'nil'})
        .when(decoded(${action}.self, ${literal(json(payload))}))`
  return `// The states, from the journal of the store ${store}:
//   statecast-journal state ${quoted(journal)} --at ${batch.from} > before.json
//   statecast-journal state ${quoted(journal)} --at ${batch.to} > after.json
import Foundation
import StatecastCore
import StatecastTesting
import Testing

@Test func \`${names} ${status === 'rejected' ? 'is rejected at' : 'leads to'} revision ${batch.to}\`() throws {
    struct Saved: Decodable { let state: ${type} }
    func state(_ file: String) throws -> ${type} {
        try JSONDecoder().decode(Saved.self, from: Data(contentsOf: URL(filePath: file))).state
    }
    func decoded<A: Decodable>(_ type: A.Type, _ json: String) throws -> A {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }
    try ReducerSpec(${type}.reducer)
        .given(state("before.json"))
        .ignoringEffects()
${actions.map(step).join('\n')}
        .then(state("after.json"))
}
`
}
