import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rows, settled, stage, treeRows } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

/** Batches of one: each follows the outcome of the one before. */
async function sendSingly(cluster, actions) {
  const revisions = []
  for (const action of actions) revisions.push((await cluster.send([action]))[0].revision)
  return revisions
}
const focused = tab => tab.run(() => document.activeElement.id)
const selected = (tab, id) => tab.run(id => {
  const active = document.getElementById(document.getElementById(id).getAttribute('aria-activedescendant'))
  return active?.getAttribute('aria-selected') === 'true' ? active.textContent : null
}, id)

test('Each shortcut does what the list of keys says, in the order of focus, and the menu needs no mouse', async t => {
  const { cluster, tab } = await stage(t, { send: [...Array(12)].map((_, number) => sampled(`web-${number % 6}`, number)) })
  const revisions = await sendSingly(cluster, [noted('first note'), sampled('web-1', 20), noted('second note', 'web-1'), sampled('web-2', 21)])
  const newest = revisions.at(-1)
  await tab.until('the newest action is in the log', newest => inspector.live.revision === newest && inspector.log.memory.count > 12, newest)

  await t.test('Tab goes through the page in the order of reading, and every stop has a name and a visible focus', async () => {
    const order = ['store', 'tab-state', 'help', 'follow', 'log-filter', 'log', 'tree-filter', 'tree', 'tab-change', 'detail', 'step-first', 'track', 'goto']
    const stops = []
    for (let count = 0; count < 80; count++) {
      await tab.key('Tab')
      const stop = await tab.run(() => {
        const { activeElement } = document
        if (activeElement === document.body) return null
        const style = getComputedStyle(activeElement)
        return { id: activeElement.id, text: activeElement.outerHTML.slice(0, 80), isVisible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 }
      })
      if (!stop || (stop.id && stop.id === stops[0]?.id)) break
      stops.push(stop)
    }
    assert.deepEqual(stops.map(({ id }) => id).filter(id => order.includes(id)), order)
    assert.deepEqual(stops.filter(({ isVisible }) => !isVisible), [])
    await tab.run(() => document.activeElement.blur())
  })

  await t.test('/ filters actions, and Escape clears the filter and leaves it', async () => {
    await tab.key('/')
    assert.equal(await focused(tab), 'log-filter')
    await tab.type('note')
    await tab.until('only notes are shown', () => [...document.querySelectorAll('#log .row')].every(row => /NoteAdded/.test(row.textContent)))
    assert.equal((await rows(tab, 'log')).length, 2)
    await tab.key('Escape')
    await tab.shows('the filter is empty', ['', 'BODY'], () => [document.querySelector('#log-filter').value, document.activeElement.tagName])
  })

  await t.test('s searches the state, and a path there shows that path', async () => {
    await tab.key('s')
    assert.equal(await focused(tab), 'tree-filter')
    await tab.type('web-3')
    await tab.until('paths with web-3 are found', () => document.querySelector('#tree .row .k')?.textContent === '/hosts/web-3')
    await tab.key('Escape')
    await tab.shows('the state is shown again', 'hosts', () => document.querySelector('#tree .row .k')?.textContent)
    await tab.key('s')
    await tab.type('/hosts/web-2/latest')
    await tab.until('the path is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'latest')
    await tab.key('Escape')
    await tab.shows('the search is left', 'BODY', () => document.activeElement.tagName)
  })

  await t.test('Arrows, j and k move in the log, and Enter goes to the revision of the action', async () => {
    await tab.run(() => document.querySelector('#log').focus())
    await tab.key('k')
    await tab.until('an action is selected', () => document.querySelector('#log [aria-selected=true]'))
    const last = await selected(tab, 'log')
    await tab.key('ArrowUp')
    await tab.until('the one before is selected', () => inspector.log.activeIndex() === inspector.log.count - 2)
    await tab.key('k')
    await tab.until('the one before that', () => inspector.log.activeIndex() === inspector.log.count - 3)
    await tab.key('j')
    await tab.key('ArrowDown')
    await tab.until('the last one again', text => document.getElementById(document.querySelector('#log').getAttribute('aria-activedescendant'))?.textContent === text, last)
    await tab.key('ArrowUp')
    await tab.key('Enter')
    await settled(tab, revisions[2])
    assert.match(await tab.run(() => document.querySelector('#history').innerText), new RegExp(`Viewing revision ${revisions[2]}`))
  })

  await t.test('[ and ] step by batches, g goes to a revision, and Escape is live again', async () => {
    await tab.key('[')
    await settled(tab, revisions[1])
    await tab.key('[')
    await settled(tab, revisions[0])
    await tab.key(']')
    await settled(tab, revisions[1])
    await tab.key('g')
    assert.equal(await focused(tab), 'goto')
    await tab.type(String(revisions[2]))
    await tab.key('Enter')
    await settled(tab, revisions[2])
    await tab.key('Escape')
    await tab.shows('the page is live', [null, true, 'live'], () => [inspector.view.at, document.querySelector('#history').hidden, document.querySelector('#live').textContent])
  })

  await t.test('f follows the newest action', async () => {
    await tab.run(() => document.querySelector('#log').focus())
    await tab.key('Home')
    await tab.shows('the log does not follow', 'false', () => document.querySelector('#follow').getAttribute('aria-pressed'))
    await tab.key('f')
    await tab.shows('the log follows', 'true', () => document.querySelector('#follow').getAttribute('aria-pressed'))
    const [{ revision }] = await cluster.send([noted('third note')])
    await tab.until('the newest action is visible', revision => {
      const list = document.querySelector('#log').getBoundingClientRect()
      return [...document.querySelectorAll('#log .row')].some(row => row.firstChild.textContent === String(revision) && row.getBoundingClientRect().bottom <= list.bottom + 1)
    }, revision)
  })

  await t.test('Arrows open, close and move in the state', async () => {
    await tab.run(() => document.querySelector('#tree').focus())
    await tab.key('Home')
    await tab.until('the first row is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'hosts')
    const isOpen = await tab.run(() => document.querySelector('#tree [aria-selected=true]').getAttribute('aria-expanded'))
    if (isOpen === 'true') await tab.key('ArrowLeft')
    await tab.shows('hosts is closed', 'false', () => document.querySelector('#tree [aria-selected=true]').getAttribute('aria-expanded'))
    await tab.key('ArrowRight')
    await tab.until('the hosts are shown', () => [...document.querySelectorAll('#tree .row .k')].some(key => key.textContent === 'web-0'))
    await tab.key('ArrowRight')
    await tab.until('the first host is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'web-0')
    await tab.key('j')
    await tab.until('the second host is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'web-1')
    await tab.key('Enter')
    await tab.until('its values are shown', () => [...document.querySelectorAll('#tree .row')].some(row => row.getAttribute('aria-level') === '3'))
    await tab.key('Enter')
    await tab.until('they are closed again', () => document.querySelector('#tree [aria-selected=true]')?.getAttribute('aria-expanded') === 'false')
    await tab.key('ArrowLeft')
    await tab.until('the parent is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'hosts')
  })

  await t.test('b shows what last changed the selected path', async () => {
    await tab.key('j')
    await tab.key('j')
    await tab.until('web-1 is selected', () => inspector.view.path === '/hosts/web-1')
    await tab.key('b')
    await tab.until('the pane Blame is shown', () => document.querySelector('#tab-blame').getAttribute('aria-selected') === 'true')
    await tab.until('it names the action', revision => document.querySelector('#detail tbody tr td')?.textContent === String(revision), revisions[1])
  })

  await t.test('The menu of a path opens, moves, runs and closes by keys', async () => {
    await tab.run(() => document.querySelector('#tree').focus())
    await tab.key('Shift+F10')
    await tab.until('the menu is open', () => !document.querySelector('#menu').hidden && document.activeElement.getAttribute('role') === 'menuitem')
    const items = await tab.run(() => [...document.querySelectorAll('#menu [role=menuitem]')].map(item => item.textContent))
    const item = () => tab.run(() => document.activeElement.textContent)
    assert.equal(await item(), items[0])
    await tab.key('ArrowDown')
    assert.equal(await item(), items[1])
    await tab.key('End')
    assert.equal(await item(), items.at(-1))
    await tab.key('ArrowDown')
    assert.equal(await item(), items[0])
    await tab.key('Escape')
    await tab.shows('Escape closes it', [true, 'tree'], () => [document.querySelector('#menu').hidden, document.activeElement.id])
    await tab.key('Shift+F10')
    await tab.until('the menu is open', () => document.activeElement.getAttribute('role') === 'menuitem')
    for (const [index] of items.entries()) {
      if ((await item()).startsWith('Copy path')) break
      assert.ok(index < items.length - 1, 'there is an item Copy path')
      await tab.key('ArrowDown')
    }
    await tab.key('Enter')
    await tab.until('the path is copied', () => inspector.copied === '/hosts/web-1')
    assert.equal(await focused(tab), 'tree')
  })

  await t.test('1 and 2 change the view, and / filters what it shows', async () => {
    await tab.key('2')
    await tab.shows('the peers are shown', [true, false, 'true'], () => ['state', 'peers'].map(name => document.querySelector('#view-' + name).hidden).concat(document.querySelector('#tab-peers').getAttribute('aria-selected')))
    await tab.key('/')
    assert.equal(await focused(tab), 'peer-filter')
    await tab.key('Escape')
    await tab.key('1')
    await tab.shows('the state is shown', [false, true], () => ['state', 'peers'].map(name => document.querySelector('#view-' + name).hidden))
  })

  await t.test('The slider steps by batches with arrows, and goes to its ends', async () => {
    await tab.run(() => document.querySelector('#track').focus())
    await tab.key('ArrowLeft')
    await settled(tab, revisions[3])
    await tab.key('ArrowLeft')
    await settled(tab, revisions[2])
    await tab.key('ArrowRight')
    await settled(tab, revisions[3])
    await tab.key('Home')
    await tab.until('the oldest revision is shown', () => inspector.view.at === inspector.timeline.data.oldest)
    await tab.key('Escape')
    await tab.shows('the page is live', null, () => inspector.view.at)
  })

  await t.test('? lists all keys', async () => {
    await tab.run(() => document.querySelector('#log').focus())
    await tab.key('?')
    await tab.until('the list is open', () => document.querySelector('#keys').open)
    const keys = (await tab.run(() => [...document.querySelectorAll('#keys kbd')].map(key => key.textContent))).join(' ')
    for (const key of ['/', 's', 'j', 'k', '←', '→', 'Enter', '[', ']', 'b', 'g', 'f', 'Esc', '1', '2', '?']) assert.ok(keys.includes(key), `${key} is in the list`)
    await tab.key('Escape')
    await tab.shows('it is closed', false, () => document.querySelector('#keys').open)
  })

  assert.ok((await treeRows(tab)).length > 0)
  assert.deepEqual(tab.errors, [])
  assert.deepEqual(tab.violations, [])
})
