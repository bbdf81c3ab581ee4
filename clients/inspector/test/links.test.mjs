import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { open, settled, stage } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

const found = tab => tab.run(() => inspector.log.loading || inspector.log.list.pending ? null : [...document.querySelectorAll('#log .row:not(.gap)')].map(row => row.children[2].textContent))

test('A filter finds what is not loaded, a link shows what it names, and what is not understood is named', async t => {
  const { cluster, browser, tab } = await stage(t)
  await cluster.send([['NoteAdded', { text: 7 }], sampled('web-1', 1), ['HostRetired', { host: 'web-1' }]])
  await cluster.send([...Array(1100)].map((_, number) => noted(`note ${number}`)))
  const [{ revision: newest }] = await cluster.send([sampled('web-2', 2)])

  for (const [name, q, pattern] of [['an outcome', 'outcome:rejected', /not decoded.*undecodable.*text/], ['a name', 'name:HostRetired', /^HostRetired/]]) {
    await t.test(`A link with ${name} that only the journal has`, async () => {
      const link = await open(browser, cluster.url(`q=${encodeURIComponent(q)}`))
      await link.until('the row is found', () => document.querySelectorAll('#log .row:not(.gap)').length === 1 && /^1 found/.test(document.querySelector('#log-count').textContent))
      assert.match((await found(link))[0], pattern)
      assert.ok(await link.run(() => inspector.log.memory.names.get('NoteAdded') >= 490), 'the newest page is loaded')
      await link.close()
    })
  }
  await t.test('A search of the journal that found nothing follows live', async () => {
    const link = await open(browser, cluster.url('q=name:HostRestored'))
    await link.until('nothing is found', () => /^0 found, by the whole name$/.test(document.querySelector('#log-count').textContent))
    await cluster.send([['HostRestored', { host: 'web-1' }]])
    await link.until('the new row', () => [...document.querySelectorAll('#log .row:not(.gap)')].some(row => /HostRestored/.test(row.textContent)))
    await link.close()
  })
  await t.test('Unknown terms and values are named', async () => {
    for (const [q, text] of [['outcme:rejected', /no term outcme:/], ['delay:>x', /delay: has no such value/], ['outcome:reject', /outcome: has no such value/]]) {
      await tab.run(q => inspector.setFilter(q), q)
      await tab.until(`${q} is named`, source => new RegExp(source).test(document.querySelector('#log-count').textContent), text.source)
    }
    await tab.run(() => inspector.setFilter(''))
  })
  await t.test('A revision that does not exist yet is live with a word', async () => {
    const link = await open(browser, cluster.url('at=99999'))
    await link.until('it says so', () => /no revision 99,999 yet/.test(document.querySelector('#toast').textContent))
    await link.shows('live', null, () => inspector.view.at)
    await link.close()
  })
  await t.test('A link without a valid revision says so', async () => {
    const link = await open(browser, cluster.url('at=abc'))
    await link.until('a sentence', () => /no revision in at=abc/.test(document.querySelector('#notice').textContent))
    await link.close()
  })
  await t.test('Enter in the search selects the first row, for b', async () => {
    await tab.key('s')
    await tab.type('web-2')
    await tab.key('Enter')
    await tab.shows('the row is selected, and the tree has the focus', ['/hosts/web-2', 'tree'], () => [inspector.view.path, document.activeElement.id])
    await tab.key('b')
    await tab.until('blame', () => document.querySelector('#detail .meta dd')?.textContent === '/hosts/web-2')
    await tab.run(() => { inspector.find(''); document.activeElement.blur() })
  })
  await t.test('A copy is of the action that is shown, and the pane stays at it', async () => {
    await tab.key('Escape')
    await tab.run(() => { inspector.view.pane = 'change'; inspector.view.path = ''; inspector.go(null) })
    const [{ revision }] = await cluster.send([noted('to be copied')])
    await tab.until('it is shown', () => /to be copied/.test(document.querySelector('#detail pre')?.textContent))
    await tab.run(() => document.querySelector('#detail .copy').scrollIntoView())
    await tab.click('#detail .copy button', { text: 'session' })
    await tab.until('a whole session', () => /^[0-9a-f]{32}$/.test(inspector.copied))
    await cluster.send([noted('later')])
    await tab.until('the next one has arrived', revision => inspector.live.revision > revision, revision)
    await tab.click('#detail .copy button', { text: 'link' })
    const link = await tab.until('a link', () => /^http/.test(inspector.copied) && inspector.copied)
    assert.match(link, new RegExp(`[?&]at=${revision}&action=[\\d.]+&path=/notes`))
    assert.match(await tab.run(() => document.querySelector('#detail pre').textContent), /to be copied/)
    const other = await open(browser, `${link}&token=${cluster.token}`, { isolated: true })
    await settled(other, revision)
    await other.until('the same action', () => /to be copied/.test(document.querySelector('#detail pre')?.textContent))
    await other.close()
  })
  await t.test('g accepts a time, and says what else it expects', async () => {
    const visit = async text => {
      await tab.key('g')
      await tab.shows('focus', 'goto', () => document.activeElement.id)
      await tab.run(() => document.querySelector('#goto').select())
      await tab.type(text)
      await tab.key('Enter')
    }
    await visit('now')
    await tab.until('what is expected', () => /expected a revision, or a time/.test(document.querySelector('#toast').textContent))
    await tab.until('the timeline', () => inspector.timeline.data?.newest > 1000)
    const time = new Date(Date.now()).toISOString().slice(11, 19)
    await visit(time)
    await tab.until('a revision of history', () => inspector.view.at !== null)
  })
  await t.test('Series are rates, and what health does not have has no row', async () => {
    await tab.run(() => { inspector.series = []; const { peers } = inspector, charts = peers.charts.bind(peers); peers.charts = series => charts(inspector.series = series) })
    await tab.key('Escape')
    await tab.key('2')
    await tab.until('actions of the last interval', () => inspector.series.actions?.some(value => value > 1000))
    const [shown, last] = await tab.run(() => [[...document.querySelectorAll('#health .chart')].find(each => /actions a second/.test(each.textContent)).querySelector('b').textContent, inspector.series.actions.findLast(value => value !== null) * 1000 / inspector.series.interval])
    assert.equal(shown, last.toFixed(1))
    assert.ok(!/history|snapshots/.test(await tab.run(() => document.querySelector('#health .meta').textContent)))
  })
  await t.test('Peers of one kind', async () => {
    await tab.until('the gateway is listed', () => [...document.querySelectorAll('#peer-list .kind')].some(each => each.textContent === 'replica'))
    await tab.click('#peer-kinds button', { text: 'sender' })
    await tab.until('no replica is shown', () => ![...document.querySelectorAll('#peer-list .kind')].some(each => each.textContent === 'replica'))
    await tab.click('#peer-kinds button', { text: 'all' })
    await tab.until('the gateway is shown', () => [...document.querySelectorAll('#peer-list .kind')].some(each => each.textContent === 'replica'))
  })
  assert.ok(newest > 1100)
  assert.deepEqual(tab.errors, [])
})

test('The page says why there is no history, and shows it when the journal can be read', async t => {
  const { cluster, browser, tab } = await stage(t, { history: false, send: [noted('the first')] })
  await tab.until('the reason', () => /the gateway has no journal/.test(document.querySelector('#detail').textContent))
  const link = join(cluster.folder, 'another')
  const { address } = await cluster.anotherGateway(['--journal', link])
  const other = await open(browser, cluster.url('', address), { isolated: true })
  await other.until('the reason', () => /there is no journal in/.test(document.querySelector('#detail').textContent))
  symlinkSync(cluster.journal, link)
  await other.until('the action', () => /the first/.test(document.querySelector('#detail pre')?.textContent))
  assert.deepEqual([...tab.errors, ...other.errors], [])
})
