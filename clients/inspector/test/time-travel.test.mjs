import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settled, stage, treeRows, visit } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

const COUNT = 50

const keysOf = path => path.split('/').slice(1).map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Applies a JSON Patch (RFC 6902) of add, remove and replace to a copy. */
function patched(state, patch) {
  const result = { '': structuredClone(state) }
  for (const { op, path, value } of patch) {
    const keys = ['', ...keysOf(path)], last = keys.pop()
    const parent = keys.reduce((node, key) => node[key], result)
    if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : Number(last), op === 'add' ? 0 : 1, ...op === 'remove' ? [] : [value])
    else if (op === 'remove') delete parent[last]
    else parent[last] = value
  }
  return result['']
}

test('Time travel stands still while live goes on, and equals statecast-journal state and diff at 50 revisions', async t => {
  const { cluster, tab } = await stage(t, { view: 'open=/hosts/web-1,/totals' })
  // Batches of one, of many, which are then not the first, and, from the flow, of one.
  await cluster.send([noted('the first')])
  await cluster.send([...Array(300)].map((_, number) => number % 3 ? sampled(`web-${number % 5}`, number) : noted(`note ${number}`)))
  const flow = cluster.flow(20, number => number % 4 ? sampled(`web-${number % 5}`, 300 + number) : noted(`later note ${number}`, `web-${number % 5}`))
  await tab.until('many actions have arrived', () => inspector.live.revision > 400)
  const ends = [...new Set((await cluster.recorded()).map(({ batch }) => batch.to))]
  assert.ok(ends.length > COUNT, `${ends.length} batches`)
  const chosen = [...Array(COUNT)].map((_, index) => ends[Math.round(index * (ends.length - 1) / (COUNT - 1))])

  await t.test('A viewed revision stands still', async () => {
    await visit(tab, chosen[25])
    await settled(tab, chosen[25])
    const shown = async () => [await treeRows(tab), await tab.run(() => [document.querySelector('#history').innerText.replace(/[\d,]+ before live/, ''), document.querySelector('#detail').innerText])]
    await tab.until('the change is shown', () => document.querySelector('#detail .diff') && document.querySelector('#detail .copy'))
    const before = await shown(), live = await tab.run(() => inspector.live.revision)
    await tab.until('live goes on', revision => inspector.live.revision > revision + 40, live)
    await tab.until('the bar shows it', revision => Number(document.querySelector('#f-rev').textContent.replaceAll(',', '')) > revision, live)
    assert.deepEqual(await shown(), before)
    assert.ok(await tab.run(() => [...document.querySelectorAll('#log .row.future')].every(row => Number(row.children[0].textContent.replaceAll(',', '')) > inspector.view.at)))
  })

  await t.test(`${COUNT} revisions equal those of statecast-journal`, async () => {
    const tool = new Map()
    const stateAt = async revision => {
      if (!tool.has(revision)) tool.set(revision, await cluster.stateAt(revision))
      return tool.get(revision)
    }
    let previous = null, rows = 0, changes = 0
    for (const revision of chosen) {
      const expected = await stateAt(revision)
      await visit(tab, revision)
      await settled(tab, expected.revision)
      // The whole state, and the rows that the page shows of it.
      const whole = await tab.run(at => inspector.get('state', { path: '', whole: true, at }), expected.revision)
      assert.deepEqual([whole.position.revision, whole.value], [expected.revision, expected.state])
      for (const { keys, value, expanded } of await treeRows(tab)) {
        const part = keys.reduce((node, key) => node[key], expected.state)
        assert.notEqual(part, undefined, `${keys} exists at ${revision}`)
        if (expanded === null) assert.equal(value, JSON.stringify(part), `${keys} at ${revision}`)
        rows++
      }
      // The change that led here, as the pane shows it, and as the tool prints it.
      const from = await tab.until('the action is selected', () => {
        const { rows } = inspector.log, index = inspector.view.selected ? rows.find(inspector.view.selected) : -1
        return index >= 0 && rows.to[index] === inspector.view.at && rows.from[index] + 1
      }) - 1
      const before = await stateAt(from)
      const answer = await tab.run((from, to) => inspector.get('diff', { from, to, limit: 1000 }), from, expected.revision)
      assert.deepEqual(patched(before.state, answer.patch), expected.state, `the change ${from} to ${revision}`)
      const printed = await cluster.diff(from, expected.revision)
      assert.deepEqual(patched(before.state, printed.patch), expected.state)
      const shown = await tab.until('the pane shows the change', (from, to, count) => {
        const head = document.querySelector('#detail .diff')?.closest('.sec')?.querySelector('h3 .dim')?.textContent.replaceAll(',', '')
        return head === `${from} → ${to}` && document.querySelectorAll('#detail .diff tr:not(.p)').length === Math.min(80, count)
          && [...document.querySelectorAll('#detail .diff tr:not(.p)')].map(row => [...row.cells].map(cell => cell.title || cell.textContent))
      }, from, expected.revision, answer.patch.length)
      for (const [index, { op, value }] of answer.patch.slice(0, shown.length).entries()) {
        assert.equal(shown[index][2], op)
        if (op !== 'remove') assert.equal(shown[index][3].slice(0, 100), JSON.stringify(value).slice(0, 100))
        changes++
      }
      // From one viewed revision to the next.
      if (previous !== null) {
        const apart = await tab.run((from, to) => inspector.get('diff', { from, to, limit: 1000 }), previous, expected.revision)
        if (apart.next === null) assert.deepEqual(patched((await stateAt(previous)).state, apart.patch), expected.state)
      }
      previous = expected.revision
    }
    t.diagnostic(`${rows} rows of the state and ${changes} changes were compared at ${COUNT} revisions of ${ends.length} batches`)
  })

  await t.test('A revision inside of a batch shows the batch that ended before it', async () => {
    const { batch, revision } = (await cluster.recorded()).find(({ batch, revision }) => batch.from > 0 && revision > batch.from && revision < batch.to)
    await visit(tab, revision)
    await settled(tab, batch.from)
    assert.equal((await cluster.stateAt(revision)).revision, batch.from)
  })

  await t.test('The change to live leads to the live state', async () => {
    await flow.end()
    const newest = (await cluster.recorded()).at(-1).revision
    await tab.until('all actions have arrived', newest => inspector.live.revision === newest, newest)
    await visit(tab, chosen[10])
    await settled(tab, chosen[10])
    const answer = await tab.run(from => inspector.get('diff', { from, limit: 1000 }), chosen[10])
    assert.equal(answer.to, newest)
    if (answer.next === null) assert.deepEqual(patched((await cluster.stateAt(chosen[10])).state, answer.patch), (await cluster.stateAt(newest)).state)
    await tab.key('Escape')
    await tab.shows('the page is live', null, () => inspector.view.at)
  })
  assert.deepEqual(tab.errors, [])
})
