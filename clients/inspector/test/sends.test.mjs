import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './chromium.mjs'
import { live, open, stage } from './inspector.mjs'
import { sampled } from './processes.mjs'

/** The outcomes that the pane Send shows, newest first: action, outcome, revision. */
const outcomes = tab => tab.run(() => [...document.querySelectorAll('#sent tr')].map(row => [...row.cells].map(cell => cell.textContent)).map(([, action, outcome, revision]) => [action, outcome, revision]))

/** Sends an action with the form. */
async function send(tab, action, payload) {
  await tab.run(() => document.querySelector('#tab-send').click())
  await tab.until('the form is shown', () => document.querySelector('#send-payload')?.checkVisibility())
  await tab.run((action, payload) => {
    const choice = document.querySelector('#send-action')
    choice.value = action
    choice.dispatchEvent(new Event('change'))
    document.querySelector('#send-payload').value = payload
  }, action, typeof payload === 'string' ? payload : JSON.stringify(payload))
  await tab.click('.form button[type=submit]')
}
const waiting = (tab, count) => tab.until(`${count} actions have their outcomes`, count => {
  const rows = [...document.querySelectorAll('#sent tr')].map(row => row.cells[2].textContent)
  return rows.length >= count && rows.every(text => text && text !== 'waiting')
}, count)
const notes = async cluster => (await cluster.recorded()).filter(({ action, status }) => action === 'NoteAdded' && status === 'applied').map(({ payload }) => payload.text)

test('The form sends what the schema names, and shows each outcome', async t => {
  const { cluster, tab } = await stage(t, { gateway: ['--allow-send'], send: [sampled('web-1', 1)] })
  assert.equal(await tab.run(() => document.querySelector('#mode').textContent), 'sending allowed')
  await tab.run(() => document.querySelector('#tab-send').click())
  await tab.until('the form lists the actions', () => document.querySelectorAll('#send-action option').length === 4)
  await tab.run(() => { document.querySelector('#send-action').value = 'NoteAdded'; document.querySelector('#send-action').dispatchEvent(new Event('change')) })
  const { actions } = await cluster.get('schema')
  assert.deepEqual(JSON.parse(await tab.run(() => document.querySelector('#send-payload').value)), actions.find(({ name }) => name === 'NoteAdded').example)
  await send(tab, 'NoteAdded', { text: 'from the form', host: 'web-1' })
  await waiting(tab, 1)
  const [[action, outcome, revision]] = await outcomes(tab)
  assert.deepEqual([action, outcome], ['NoteAdded', 'applied'])
  const row = (await cluster.recorded()).at(-1)
  assert.deepEqual([row.payload, row.revision], [{ text: 'from the form', host: 'web-1' }, Number(revision)])
  await tab.until('the log has it', revision => inspector.live.revision >= revision, row.revision)

  await t.test('A rejection names the field', async () => {
    await send(tab, 'NoteAdded', { text: 7 })
    await waiting(tab, 2)
    assert.match((await outcomes(tab))[0][1], /rejected.*text.*expected/)
  })
  await t.test('Text that is not JSON is not sent', async () => {
    const { requests } = tab, before = requests.filter(({ method }) => method === 'POST').length
    await send(tab, 'NoteAdded', '{"text": ')
    await tab.until('the form says it', () => /JSON/.test([...document.querySelectorAll('.form [role=alert]')].map(each => each.innerText).join('')))
    assert.equal(requests.filter(({ method }) => method === 'POST').length, before)
  })
  assert.deepEqual(tab.errors, [])
})

test('An action whose answer is lost is repeated, and applied once', async t => {
  const { cluster, tab } = await stage(t, { gateway: ['--allow-send'] })
  const { lost, end } = await tab.loseAnswers('*/actions', ({ method, postData }) => method === 'POST' && postData && lost.length < 3)
  await send(tab, 'NoteAdded', { text: 'with lost answers' })
  await waiting(tab, 1)
  assert.equal(lost.length, 3)
  assert.equal(new Set(lost).size, 1, 'the same request is repeated')
  await end()
  assert.deepEqual((await outcomes(tab)).map(([action, outcome]) => [action, outcome]), [['NoteAdded', 'applied']])
  assert.deepEqual(await notes(cluster), ['with lost answers'])

  await t.test('Also over a restart of the gateway and of the primary', async () => {
    await cluster.gateway.kill()
    await send(tab, 'NoteAdded', { text: 'during a restart' })
    await tab.until('it waits', () => document.querySelector('#sent tr').cells[2].textContent === 'waiting')
    await cluster.primary.kill()
    await cluster.startPrimary()
    await cluster.startGateway()
    await waiting(tab, 2)
    assert.deepEqual((await outcomes(tab))[0].slice(0, 2), ['NoteAdded', 'applied'])
    assert.deepEqual(await notes(cluster), ['with lost answers', 'during a restart'])
  })
})

test('Two tabs, also one that has a copy of the other\'s storage, send in sessions of their own', async t => {
  const { cluster, browser, tab } = await stage(t, { gateway: ['--allow-send'] })
  await send(tab, 'NoteAdded', { text: 'first tab' })
  await waiting(tab, 1)
  const copy = await browser.opened(() => tab.run(() => { window.open(location.href) }))
  await live(copy)
  assert.equal(await copy.run(() => sessionStorage.length), await tab.run(() => sessionStorage.length))
  const other = await open(browser, cluster.url())
  await Promise.all([copy, other, tab].map((each, index) => send(each, 'NoteAdded', { text: `tab ${index}` })))
  await Promise.all([waiting(copy, 1), waiting(other, 1), waiting(tab, 2)])
  for (const each of [copy, other, tab]) assert.equal((await outcomes(each))[0][1], 'applied')
  assert.deepEqual((await notes(cluster)).sort(), ['first tab', 'tab 0', 'tab 1', 'tab 2'])
  const sessions = (await cluster.recorded()).map(({ session, number }) => `${session} ${number}`)
  assert.equal(new Set(sessions).size, 4)
  assert.equal(new Set(sessions.map(each => each.split(' ')[0])).size, 3)
  assert.deepEqual([...tab.errors, ...copy.errors, ...other.errors], [])
})

test('A page that is loaded again continues its session, and shows the first outcome', async t => {
  const { cluster, tab } = await stage(t, { gateway: ['--allow-send'] })
  await send(tab, 'NoteAdded', { text: 'before' })
  await waiting(tab, 1)
  const { lost, end } = await tab.loseAnswers('*/actions', ({ method }) => method === 'POST')
  await send(tab, 'NoteAdded', { text: 'sent before the page was loaded again' })
  await tab.until('it waits', () => document.querySelector('#sent tr').cells[2].textContent === 'waiting')
  await until('the action is applied, and its answer is lost', async () => lost.length > 0 && (await notes(cluster)).length === 2)
  await end()
  await tab.reload()
  await live(tab)
  await tab.run(() => document.querySelector('#tab-send').click())
  await waiting(tab, 1)
  const [[action, outcome, revision]] = await outcomes(tab), recorded = (await cluster.recorded()).filter(({ action }) => action === 'NoteAdded')
  assert.deepEqual([action, outcome, Number(revision)], ['NoteAdded', 'applied', recorded[1].revision])
  await send(tab, 'NoteAdded', { text: 'after' })
  await waiting(tab, 2)
  assert.deepEqual(await notes(cluster), ['before', 'sent before the page was loaded again', 'after'])
  const rows = (await cluster.recorded()).filter(({ action }) => action === 'NoteAdded')
  assert.equal(new Set(rows.map(({ session }) => session)).size, 1)
  assert.deepEqual(rows.map(({ number }) => number), [1, 2, 3])
})

test('A number that was used with another body is refused with 409', async t => {
  const { cluster, tab } = await stage(t, { gateway: ['--allow-send'] })
  const answers = await tab.run(async (store, token) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Statecast: '1' }
    const post = async (route, body) => {
      const answer = await fetch(`/v1/stores/${store}/${route}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return [answer.status, await answer.json()]
    }
    const session = 'ab'.repeat(16), [, { opened }] = await post('sessions', { session })
    const note = text => ({ session, opened, number: 1, lowest: 1, action: 'NoteAdded', payload: { text } })
    return [await post('actions', note('one')), await post('actions', note('one')), await post('actions', note('another'))]
  }, cluster.store, cluster.token)
  assert.deepEqual(answers.map(([status]) => status), [200, 200, 409])
  assert.deepEqual(answers[0], answers[1])
  assert.equal(answers[2][1].error.code, 'number-used')
  assert.deepEqual(await notes(cluster), ['one'])
})

test('A read-only gateway has no form, and refuses actions with 403', async t => {
  const { cluster, tab } = await stage(t, { send: [sampled('web-1', 1)] })
  assert.deepEqual(await tab.run(() => [document.querySelector('#mode').textContent, document.querySelector('#tab-send').checkVisibility(), document.querySelector('#send-payload')]), ['read only', false, null])
  const other = await tab.run(async (store, token) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Statecast: '1' }
    const body = JSON.stringify({ session: 'ab'.repeat(16), opened: `${inspector.live.lineage}.1`, number: 1, lowest: 1, action: 'NoteAdded', payload: { text: 'no' } })
    const answer = await fetch(`/v1/stores/${store}/actions`, { method: 'POST', headers, body })
    return [answer.status, (await answer.json()).error.code]
  }, cluster.store, cluster.token)
  assert.deepEqual(other, [403, 'read-only'])
  // Nor does a link open the form.
  await tab.run(() => { location.hash = location.hash.replace(/\?.*/, '?pane=send') })
  await tab.until('another pane is shown', () => document.querySelector('[data-pane][aria-selected=true]')?.dataset.pane !== 'send')
  assert.deepEqual(await notes(cluster), [])
})
