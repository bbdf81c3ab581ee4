// Texts to paste elsewhere: a Swift test, commands, a patch.
import { json } from './format.js'

export const quoted = text => /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Commands that show a revision. The directory of the journal is not known to the page. */
export const journalCommands = (revision, batch) => [
  `statecast-journal state DIR --at ${revision}`,
  `statecast-journal actions DIR --from ${batch?.from ?? revision} --to ${revision}`,
]

export const sendCommand = (store, { action, payload }) => `statecast-send --store ${quoted(store)} ${quoted(action)} ${quoted(json(payload))}`

export const curl = (store, route) =>
  `curl -H "Authorization: Bearer $TOKEN" '${location.origin}/v1/stores/${encodeURIComponent(store)}/${route}'`

/** The whole patch, up to 10,000 operations. */
export async function jsonPatch(app, range) {
  const patch = []
  let after
  do {
    const answer = await app.get('diff', { ...range, limit: 1000, after })
    for (const { op, path, value } of answer.patch) patch.push(op === 'remove' ? { op, path } : { op, path, value })
    after = answer.next ?? undefined
  } while (after !== undefined && patch.length < 10_000)
  if (after !== undefined) throw Error('The patch has more than 10,000 operations: use statecast-journal diff')
  return json(patch, '', '  ')
}

/** A test of the actions of one batch, with the states before and after it from the journal. */
export function swiftTest(store, actions) {
  const { batch, status } = actions[0], names = actions.map(each => each.action)
  const type = store.replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => next?.toUpperCase() ?? '').replace(/^./, first => first.toUpperCase())
  const text = payload => {
    const body = json(payload ?? null), hashes = '#'.repeat(1 + Math.max(0, ...(body.match(/"#+/g) ?? []).map(match => match.length - 1)))
    return `${hashes}"${body}"${hashes}`
  }
  const verb = status === 'rejected' ? 'is rejected at' : 'leads to'
  return `// The states, from the journal (DIR) of the store ${store}:
//   statecast-journal state DIR --at ${batch.from} > before.json
//   statecast-journal state DIR --at ${batch.to} > after.json
import Foundation
import StatecastCore
import StatecastTesting
import Testing

@Test func \`${[...new Set(names)].join(', ')} ${verb} revision ${batch.to}\`() throws {
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
${actions.map(each => `        .at(Timestamp(milliseconds: ${each.time}))
        .from(session: ${each.session ? `"${each.session}"` : 'nil'}, user: ${each.user ? JSON.stringify(each.user) : 'nil'})
        .when(decoded(${each.action}.self, ${text(each.payload)}))`).join('\n')}
        .then(state("after.json"))
}
`
}
