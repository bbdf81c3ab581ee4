import assert from 'node:assert/strict'
import { test } from 'node:test'
import { live, memory, open, rows, stage, treeRows, visit } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

const names = async tab => (await rows(tab, 'log')).map(([, , action]) => action)
async function filter(tab, text) {
  await tab.key('/')
  await tab.type(text)
  await tab.key('Enter')
  await tab.shows('the filter is in the view', text, () => inspector.view.q)
}
async function clear(tab) {
  await tab.run(() => document.querySelector('#log-filter').focus())
  await tab.key('Escape')
  await tab.shows('the filter is cleared', '', () => inspector.view.q)
  await tab.run(() => document.activeElement.blur())
}

test('Filters change the rows that are shown and not the log, and the URL restores every view in a new tab', async t => {
  const first = [...Array(10)].map((_, number) => sampled(`web-${number % 5}`, number))
  const others = [noted('disk is full', 'web-1'), noted('disk was replaced', 'web-1'), ['HostRetired', { host: 'web-2' }], ['NoteAdded', { text: 7 }], ['Unknown', {}], noted('all is well')]
  const { cluster, browser, tab } = await stage(t, { send: first })
  await cluster.send(others)
  const [{ revision: newest }] = await cluster.send([noted('the end')])
  await tab.until('all actions are in the log', newest => inspector.live.revision === newest && inspector.log.memory.rejected === 2, newest)
  const before = await memory(tab)
  assert.equal(before.ids.length, first.length + others.length + 1)

  await t.test('Words, negated words and keys choose rows', async () => {
    const cases = [
      ['note', 6, /NoteAdded/], ['disk.was', 0, /./], ['note disk', 2, /disk/], ['note disk -full', 1, /replaced/], ['outcome:rejected', 2, /rejected/], ['outcome:applied note', 4, /NoteAdded/],
      ['name:HostRetired', 1, /^HostRetired/], ['-name:HostSampled -outcome:rejected', 5, /./], ['nothing-has-this', 0, /./],
    ]
    for (const [text, count, pattern] of cases) {
      await filter(tab, text)
      const shown = () => tab.run(() => inspector.log.loading ? null : [...document.querySelectorAll('#log .row:not(.gap)')].map(row => row.children[2].textContent))
      await tab.until(`${text} shows ${count} rows`, count => !inspector.log.loading && !inspector.log.list.pending && document.querySelectorAll('#log .row:not(.gap)').length === count, count)
        .catch(async error => { throw Error(`${error.message} It shows ${JSON.stringify(await shown())}`, { cause: error }) })
      const texts = await shown()
      for (const each of texts) assert.match(each, pattern, text)
      await clear(tab)
    }
    // The actions of the batches that changed the path, from the journal.
    const { actions } = await cluster.get('actions', { path: '/hosts/web-2/isRetired' })
    assert.ok(actions.some(({ action }) => action === 'HostRetired') && actions.length < before.ids.length)
    await filter(tab, 'path:/hosts/web-2/isRetired')
    await tab.shows('these actions', actions.map(({ revision }) => revision).reverse(), () => [...document.querySelectorAll('#log .row:not(.gap)')]
      .sort((a, b) => a.index - b.index).map(row => Number(row.firstChild.textContent)))
    await clear(tab)
    const { session } = (await cluster.recorded()).at(-1)
    await filter(tab, `session:${session.slice(0, 4)}`)
    await tab.until('the rows of a session', () => document.querySelectorAll('#log .row:not(.gap)').length >= 1)
    await clear(tab)
    // Half of those whose delay is known.
    const [limit, slower] = await tab.run(() => {
      const { memory } = inspector.log, delays = [...memory.delay.subarray(0, memory.count)].filter(delay => delay >= 0).sort((a, b) => a - b)
      const limit = delays[Math.floor(delays.length / 2)]
      return [limit, [...Array(memory.count).keys()].filter(i => memory.delay[i] > limit).map(i => memory.revision[i])]
    })
    await filter(tab, `delay:>${limit}`)
    await tab.shows('the rows that took longer', slower, () => [...document.querySelectorAll('#log .row:not(.gap)')].sort((a, b) => a.index - b.index).map(row => Number(row.firstChild.textContent)))
    await clear(tab)
  })

  await t.test('Terms compare users and delays, and pass no row whose delay is unknown', async () => {
    const cases = { 'user:ana': [1, 4], 'user:bob': [2], '-user:ana': [2, 3], 'user:null': [], 'delay:>20': [3], 'delay:<20': [1], '-delay:>20': [1, 2], 'user:ana delay:>1': [1] }
    // This primary has no keys, so that its actions have no users.
    const passed = await tab.run(async texts => {
      const [{ compile, parse }, { ActionRows }] = await Promise.all([import('/filter.js'), import('/rows.js')])
      const rows = new ActionRows(10), users = ['ana', 'Bob', null, 'ana'], delays = [5, 20, 30, undefined]
      rows.append(users.map((user, i) => ({ id: `${i + 1}.0`, revision: i + 1, batch: { from: i, to: i + 1 }, time: 0, action: 'A', payload: null, user, delay: delays[i] })), 0)
      return texts.map(text => [text, [...rows.revision.subarray(0, 4)].filter((_, i) => compile(parse(text), new Set())(rows, i))])
    }, Object.keys(cases))
    assert.deepEqual(Object.fromEntries(passed), cases)
  })

  await t.test('Chips hide a type, and with Alt all others', async () => {
    await tab.until('there are chips', () => [...document.querySelectorAll('#types button')].some(chip => chip.textContent.startsWith('NoteAdded')))
    await tab.click('#types button', { text: 'HostSampled' })
    await tab.until('samples are hidden', () => ![...document.querySelectorAll('#log .row')].some(row => /^HostSampled/.test(row.children[2].textContent)))
    await tab.until('the URL has it', () => location.hash.includes('hide=HostSampled'))
    await tab.click('#types button', { text: 'HostSampled' })
    await tab.until('samples are shown', () => [...document.querySelectorAll('#log .row')].some(row => /^HostSampled/.test(row.children[2].textContent)))
    await tab.click('#types button', { text: 'NoteAdded', modifiers: ['Alt'] })
    await tab.until('only notes', () => inspector.view.hide.has('HostSampled') && inspector.view.hide.has('HostRetired') && !inspector.view.hide.has('NoteAdded'))
    await tab.until('and rejections', () => [...document.querySelectorAll('#log .row')].every(row => /^NoteAdded|rejected/.test(row.children[2].textContent)))
    await tab.click('#types button', { text: 'NoteAdded', modifiers: ['Alt'] })
    await tab.shows('everything is shown', 0, () => inspector.view.hide.size)
    assert.deepEqual(await tab.run(() => [...inspector.log.memory.names].sort()), [['HostRetired', 1], ['HostSampled', 10], ['NoteAdded', 4]])
  })

  assert.deepEqual(await memory(tab), before)
  const revision = (await cluster.recorded()).find(row => row.action === 'HostSampled').batch.to

  // Not the last action of its batch, if a batch has several.
  const recorded = await cluster.recorded(), inside = recorded.find(({ batch, revision }) => revision < batch.to) ?? recorded[0]
  const views = {
    'a filter': 'q=disk%20-full',
    'hidden types': 'hide=HostSampled,HostRetired',
    'a path with open subtrees': 'path=/hosts/web-1/latest/load1&open=/hosts/web-1/latest',
    'a search': 'find=web-4',
    'a revision': `at=${revision}&path=/totals&open=/totals`,
    'the change to live': `at=${revision}&span=live`,
    'blame of a path': 'path=/hosts/web-1&pane=blame',
    'peers': 'view=peers',
    'peers of one kind': 'view=peers&peers=gate&kind=replica',
    'an action inside of a batch': `at=${inside.batch.to}&action=${inside.id}`,
    'several of them': `at=${revision}&path=/notes&open=/hosts,/totals&q=note&hide=HostSampled&pane=blame`,
  }
  for (const [name, view] of Object.entries(views)) {
    await t.test(`The URL restores ${name}`, async () => {
      const one = await open(browser, cluster.url(view))
      const shown = async tab => ({
        rows: await names(tab), tree: (await treeRows(tab)).map(({ keys, value }) => [keys, value]),
        detail: (await tab.run(() => document.querySelector('#detail').innerText)).replace(/, here .*/g, ''),
        ...await tab.run(() => ({
          filter: document.querySelector('#log-filter').value, find: document.querySelector('#tree-filter').value, at: inspector.view.at, path: inspector.view.path,
          selected: document.querySelector('#tree [aria-selected=true]')?.innerText ?? null, peers: document.querySelector('#view-peers').hidden,
          panes: [...document.querySelectorAll('[data-pane]')].map(pane => pane.getAttribute('aria-selected')),
          hidden: [...document.querySelectorAll('#types button:not(.red)[aria-pressed=false]')].map(chip => chip.firstChild.textContent),
          history: document.querySelector('#history').hidden ? null : document.querySelector('#history').innerText,
        })),
      })
      // The view is complete when what it shows does not change any more: without new actions, that is so after all answers.
      const still = async tab => {
        let last = ''
        await tab.until('all answers have arrived', () => inspector.view.name === 'peers' ? document.querySelector('#health table')
          : !inspector.log.loading && inspector.timeline.data && !document.querySelector('#tree .row.more') && document.querySelector('#types button'))
        for (let equal = 0; equal < 5;) {
          const next = JSON.stringify(await shown(tab))
          equal = next === last ? equal + 1 : 0
          last = next
          await tab.run(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 60))))
        }
        return JSON.parse(last)
      }
      const expected = await still(one)
      const { hash } = new URL(await one.run(() => location.href))
      for (const part of view.split('&')) assert.ok(hash.includes(part), `${hash} has ${part}`)
      assert.ok(!hash.includes('token'), 'the token is not part of the URL')
      const other = await open(browser, `${cluster.address}/${hash}&token=${cluster.token}`, { isolated: true })
      assert.deepEqual(await still(other), expected)
      for (const each of [one, other]) {
        assert.deepEqual(each.errors, [])
        await each.close()
      }
    })
  }

  await t.test('A link of another history opens with a notice, and is live', async () => {
    const other = await open(browser, cluster.url('at=3&lineage=0123456789abcdef'))
    await other.until('the notice', () => !document.querySelector('#notice').hidden && /another history/.test(document.querySelector('#notice').innerText))
    await other.shows('live', null, () => inspector.view.at)
  })

  await t.test('Back and forward of the browser change the view', async () => {
    await tab.run(() => { location.hash = location.hash.replace(/\?.*/, '?view=peers') })
    await tab.until('the peers', () => !document.querySelector('#view-peers').hidden)
    await tab.run(() => history.back())
    await tab.until('the state', () => !document.querySelector('#view-state').hidden)
    await live(tab)
  })
  assert.deepEqual(tab.errors, [])
})

test('An open subtree shows what is added to it, also if it was empty, and in history', async t => {
  const { cluster, tab } = await stage(t, { view: 'open=/hosts' })
  const added = (count, key) => tab.until(`${count} hosts are shown`, (count, key) => {
    const keys = [...document.querySelectorAll('#tree .row[aria-level="2"] .k')].map(each => each.textContent)
    return keys.length === count && (!key || keys.includes(key))
  }, count, key)
  await added(0)
  await cluster.send([sampled('web-1', 1)])
  await added(1, 'web-1')
  await cluster.send([sampled('web-2', 1)])
  await added(2, 'web-2')
  await visit(tab, 0)
  await added(0)
  await visit(tab, 1)
  await added(1, 'web-1')
  await tab.key('Escape')
  await added(2, 'web-2')
  assert.deepEqual(tab.errors, [])
})
