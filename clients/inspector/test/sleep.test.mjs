import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from './chromium.mjs'
import { memory, stage } from './inspector.mjs'

/** How long the tab sleeps, in seconds: more than the 30 after which the client gives up a silent stream. */
const SLEEP = Number(process.env.SLEEP ?? 35)
const RATE = 1000

test(`A tab that slept for ${SLEEP} s gets one state and no backlog`, async t => {
  const { cluster, tab } = await stage(t, { app: { rows: 1000, rate: RATE } })
  await tab.run(store => {
    window.events = []
    window.logs = []
    // All rows: so that the buffers on the way fill.
    window.followed = inspector.client.follow(store, [''], (values, { position, reason }) => { events.push({ reason, revision: position.revision }); window.totals = values[''].totals },
      { onLog: (actions, { skipped }) => logs.push(actions.length + skipped) })
  }, cluster.store)
  await tab.until('the state and the log arrive', () => events.length > 20 && logs.length > 20)
  await tab.freeze(true)
  const before = (await cluster.get('state', { path: '', limit: 1 })).position.revision
  // The length of the sleep is what is tested.
  await pause(SLEEP * 1000)
  const { position } = await cluster.get('state', { path: '', limit: 1 })
  assert.ok(position.revision > before + SLEEP * RATE / 4, `the store went on: ${before} to ${position.revision}`)
  const asleep = await tab.run(() => ({ events: events.length, logs: logs.length, revision: inspector.live.revision }))
  await tab.freeze(false)
  const woke = performance.now()
  await tab.until('the page has caught up', revision => followed.position?.revision >= revision && inspector.live.revision >= revision, position.revision)
  const took = performance.now() - woke
  const after = await tab.run(asleep => ({ events: events.slice(asleep.events), logs: logs.slice(asleep.logs) }), asleep)
  const caughtUp = after.events.findIndex(({ revision }) => revision >= position.revision)
  const whole = after.events.slice(0, caughtUp + 1).filter(({ reason }) => reason !== 'patch')
  t.diagnostic(`after ${position.revision - before} revisions: ${caughtUp + 1} events of the state until it was the newest, of which ${whole.length} had a whole state, ${took.toFixed(0)} ms after waking`)
  t.diagnostic(`${after.logs.length} events of the log; ${asleep.events} events before the sleep`)
  assert.ok(whole.length <= 1, `whole states: ${JSON.stringify(whole)}`)
  // What the buffers between the processes held, not what happened meanwhile: without a limit there would be 20 events for each second.
  const revisions = after.events.map(({ revision }) => revision), steps = revisions.slice(0, caughtUp + 1)
  assert.deepEqual(revisions, [...revisions].sort((a, b) => a - b))
  const jump = Math.max(...steps.map((revision, index) => revision - (steps[index - 1] ?? asleep.revision)))
  t.diagnostic(`the largest step was ${jump} revisions`)
  assert.ok(jump > (position.revision - before) / 4, 'the events of the sleep are left out')

  await t.test('The log goes on with a gap, and repeats nothing', async () => {
    await tab.until('new actions arrive', revision => inspector.live.revision > revision, position.revision + RATE)
    const { ids, gaps } = await memory(tab)
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(ids, [...ids].sort((a, b) => a.split('.')[0] - b.split('.')[0] || a.split('.')[1] - b.split('.')[1]))
    t.diagnostic(`${ids.length} rows in memory, ${gaps} gaps`)
    await until('the state is equal', async () => {
      const { value } = await cluster.get('state', { path: '/totals/samples' })
      return await tab.run(() => totals.samples) >= value - RATE
    })
    assert.equal(await tab.run(() => document.querySelector('#live').textContent), 'live')
  })
  assert.deepEqual(tab.errors.filter(error => !/ERR_/.test(error)), [])
})
