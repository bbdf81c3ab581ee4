import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memory, settled, stage, visit } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'
import { until } from './chromium.mjs'

const ids = rows => rows.map(({ id }) => id)
const order = (a, b) => a.split('.')[0] - b.split('.')[0] || a.split('.')[1] - b.split('.')[1]
const status = tab => tab.run(() => document.querySelector('#live').textContent)

/** The log in memory, after its gaps were scrolled into view and so loaded. */
async function wholeLog(tab, newest) {
  await tab.until(`the page has reached ${newest}`, newest => inspector.live.revision >= newest, newest)
  await tab.run(() => document.querySelector('#log').focus())
  await tab.until('no action is missing in the log', () => {
    const { memory } = inspector.log, list = document.querySelector('#log')
    const gap = inspector.log.shown.subarray(0, inspector.log.count).findIndex(i => memory.gap[i])
    if (gap < 0) return true
    inspector.view.follow = false
    list.scrollTop = gap * 21
    inspector.log.list.schedule()
    return false
  })
  const { ids } = await memory(tab)
  await tab.key('f')
  return ids
}
/** The page's log is the journal's: nothing is missing, nothing is repeated. */
async function equalsJournal(tab, cluster) {
  const recorded = await cluster.recorded(), log = await wholeLog(tab, recorded.at(-1).revision)
  assert.deepEqual(log, [...log].sort(order))
  assert.equal(new Set(log).size, log.length, 'no row is repeated')
  assert.deepEqual(log, ids(recorded))
  return recorded.length
}
const action = number => number % 7 ? sampled(`web-${number % 5}`, number) : noted(`note ${number}`)

test('After a kill of the primary the page goes on without a missed or a repeated row', async t => {
  const { cluster, tab } = await stage(t, { send: [...Array(60)].map((_, number) => action(number)) })
  const flow = cluster.flow(10, action)
  await tab.until('actions arrive', () => inspector.live.revision > 120)
  const documents = await tab.run(() => window.began = performance.timeOrigin)
  for (let epoch = 2; epoch <= 3; epoch++) {
    await cluster.primary.kill()
    await tab.until('the page says that it is not live', () => !/^live$/.test(document.querySelector('#live').textContent) && document.querySelector('#live').classList.contains('stale'))
    const revision = await tab.run(() => inspector.live.revision)
    // History can be read meanwhile.
    await tab.run(() => inspector.go(40))
    await tab.until('a revision is shown', () => inspector.view.at !== null && inspector.view.at <= 60 && !document.querySelector('#tree .row.more'))
    await tab.key('Escape')
    await cluster.startPrimary()
    await tab.shows('the page is live in the next epoch', ['live', String(epoch)], () => ['live', 'f-epoch'].map(id => document.getElementById(id).textContent))
    await tab.until('new actions arrive', revision => inspector.live.revision > revision + 50, revision)
  }
  await flow.end()
  const count = await equalsJournal(tab, cluster)
  assert.equal(await tab.run(() => window.began), documents, 'the page was not loaded again')
  assert.deepEqual(tab.errors.filter(error => !/ERR_|status of 5/.test(error)), [])
  t.diagnostic(`${count} rows of 3 epochs`)
})

test('After a kill of the gateway the page connects again and misses and repeats no row', async t => {
  const { cluster, tab } = await stage(t, { send: [...Array(60)].map((_, number) => action(number)) })
  // A second stream, which follows the state and so resumes by its position.
  await tab.run(store => {
    window.events = []
    window.followed = inspector.client.follow(store, ['/totals'], (values, { position, reason }) => { events.push([reason, position.revision]); window.totals = values['/totals'] })
  }, cluster.store)
  const flow = cluster.flow(10, action)
  await tab.until('actions arrive', () => inspector.live.revision > 120 && window.totals?.samples > 80)
  for (let round = 0; round < 2; round++) {
    await cluster.gateway.kill()
    await tab.until('the page is offline', () => /offline/.test(document.querySelector('#live').textContent))
    const revision = await tab.run(() => inspector.live.revision)
    // More than one event of the log can have.
    await cluster.send([...Array(300)].map((_, number) => action(number)))
    await cluster.startGateway()
    await tab.until('the page is live', () => document.querySelector('#live').textContent === 'live')
    await tab.until('new actions arrive', revision => inspector.live.revision > revision + 350, revision)
  }
  await flow.end()
  const count = await equalsJournal(tab, cluster)
  const [newest] = (await cluster.recorded()).slice(-1)
  await tab.until('the followed state is the newest', revision => followed.position.revision === revision, newest.revision)
  const { state } = await cluster.stateAt(newest.revision)
  assert.deepEqual(await tab.run(() => window.totals), state.totals)
  const events = await tab.run(() => window.events)
  const revisions = events.map(([, revision]) => revision)
  assert.deepEqual(revisions, [...new Set(revisions)].sort((a, b) => a - b), 'no state is repeated or goes back')
  const whole = events.filter(([reason]) => reason !== 'patch').map(([reason]) => reason)
  assert.equal(whole[0], 'joined')
  assert.ok(whole.length <= 3 && whole.slice(1).every(reason => reason === 'behind'), `at most one whole state for each restart: ${whole}`)
  t.diagnostic(`${count} rows; ${events.length} events, of which ${whole.length} had a whole state`)
  assert.deepEqual(tab.errors.filter(error => !/ERR_|status of 5/.test(error)), [])
})

test('When old history is removed, the page says so and offers what remains, and live goes on', async t => {
  const { cluster, tab } = await stage(t, { primary: ['--snapshot-records', '20', '--history-bytes', '0'] })
  for (let number = 0; number < 8; number++) await cluster.send([action(number)])
  await tab.until('actions arrive', () => inspector.live.revision >= 8)
  await visit(tab, 5)
  await settled(tab, 5)
  const flow = cluster.flow(5, action)
  await until('old history is removed', async () => {
    const answer = await cluster.get('timeline', { buckets: 10 })
    return answer.oldest > 5
  })
  // Another path of the removed revision is asked for.
  await tab.key('Escape')
  await visit(tab, 3)
  await tab.until('the notice says it', () => !document.querySelector('#notice').hidden && [...document.querySelectorAll('#notice button')].some(button => /^Go to revision/.test(button.textContent)))
  await tab.click('#notice button', { text: 'Go to revision' })
  await tab.until('the oldest revision, or a new offer, is shown', () => inspector.view.at > 5)
  await flow.end()
  // The last snapshot may still be written, after which more is removed.
  await until('the oldest revision has a state', async () => {
    const { oldest } = await cluster.get('timeline', { buckets: 10 })
    const answer = await cluster.get('state', { path: '', at: oldest }).catch(error => { if (error.status !== 410) throw error })
    return answer?.position.revision === oldest
  })
  await assert.rejects(cluster.get('state', { path: '', at: 1 }), error => error.status === 410 && error.body.error.code === 'pruned' && error.body.error.oldest > 5)
  const recorded = await cluster.recorded(), { batch } = recorded.at(-1)
  await visit(tab, batch.from)
  await settled(tab, batch.from)
  await tab.key('Escape')
  await tab.shows('live goes on', 'live', () => document.querySelector('#live').textContent)
  await tab.until('the newest action is in the log', id => inspector.log.memory.find(id) >= 0, recorded.at(-1).id)
  const { ids: log } = await memory(tab)
  const afterGaps = await tab.run(() => inspector.log.memory.count - 1 - inspector.log.memory.gap.subarray(0, inspector.log.memory.count).findLastIndex(missing => missing))
  const compared = Math.min(afterGaps, recorded.length)
  assert.ok(compared > 10, `${compared} rows are compared`)
  assert.deepEqual(log.slice(-compared), ids(recorded).slice(-compared), 'no row is missing')
  assert.equal(new Set(log).size, log.length)
  assert.deepEqual(log, [...log].sort(order))
  assert.equal(await status(tab), 'live')
})

test('A new history of the store clears the log with a notice', async t => {
  const { cluster, tab } = await stage(t, { send: [...Array(20)].map((_, number) => action(number)) })
  const { lineage } = await tab.run(() => inspector.live)
  await cluster.primary.end()
  await cluster.gateway.end()
  await cluster.removeJournal()
  await cluster.startPrimary()
  await cluster.send([noted('a new beginning')])
  await cluster.startGateway()
  await tab.until('the notice says it', () => /new history/.test(document.querySelector('#notice').innerText))
  await tab.until('the new lineage is shown', lineage => inspector.live.lineage !== lineage && document.querySelector('#f-lineage').textContent === inspector.live.lineage.slice(0, 8), lineage)
  assert.deepEqual(await wholeLog(tab, 1), ids(await cluster.recorded()))
})
