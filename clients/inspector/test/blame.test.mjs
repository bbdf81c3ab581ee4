import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { settled, stage, visit } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

const at = (state, path) => path.split('/').slice(1).reduce((node, key) => node !== null && typeof node === 'object' && Object.hasOwn(node, key) ? node[key] : undefined, state)

test('Blame equals a brute-force search of the history, for batches of one and of many', async t => {
  const { cluster, tab } = await stage(t)
  // Singles, whose author is certain, and pipelined batches, for which the actions are hints.
  const singles = [sampled('web-1', 1), sampled('web-2', 1), noted('one', 'web-1'), ['HostRetired', { host: 'web-2' }], sampled('web-1', 2), ['HostRetired', { host: 'web-9' }]]
  for (const action of singles) await cluster.send([action])
  await cluster.send([...Array(40)].map((_, number) => number % 5 ? sampled(`web-${number % 4}`, number) : noted(`of many ${number}`)))
  for (const action of [['HostRestored', { host: 'web-2' }], sampled('web-2', 50), noted('two')]) await cluster.send([action])
  // More notes than the state keeps: elements of the array shift.
  await cluster.send([...Array(48)].map((_, number) => noted(`late ${number}`)))
  for (const action of [sampled('web-3', 60), ['HostRetired', { host: 'web-1' }], noted('the last')]) await cluster.send([action])
  const recorded = await cluster.recorded(), newest = recorded.at(-1).revision
  await tab.until('all actions have arrived', newest => inspector.live.revision === newest, newest)

  // Each batch with its state: changes are where the values before and after differ.
  const batches = [...new Map(recorded.map(({ batch }) => [batch.to, batch])).values()].filter(({ from, to }) => to > from)
  const states = new Map()
  for (const revision of new Set(batches.flatMap(({ from, to }) => [from, to]))) states.set(revision, (await cluster.stateAt(revision)).state)
  const sizes = batches.map(({ to }) => recorded.filter(({ batch, status }) => batch.to === to && status === 'applied').length)
  assert.ok(sizes.includes(1) && sizes.some(size => size > 5), `batches of one and of many: ${sizes}`)
  const isChanged = (path, { from, to }) => !isDeepStrictEqual(at(states.get(from), path), at(states.get(to), path))
  // A patch that changes an array counts for elements after that place, which it may have left as they were.
  const isMoved = (path, { from, to }) => path.startsWith('/notes/') && !isChanged(path, { from, to }) && isChanged('/notes', { from, to })
  const changes = (path, before = Infinity) => batches.filter(({ to }) => to <= before).filter(batch => isChanged(path, batch))
    .map(({ from, to }) => {
      const applied = recorded.filter(({ batch, status }) => batch.to === to && status === 'applied'), value = at(states.get(to), path)
      return { to, isExact: applied.length === 1, isRemoved: value === undefined, value, from, ids: applied.map(({ id }) => id).sort(), names: applied.map(({ action }) => action) }
    }).reverse()

  const paths = ['/totals/notes', '/totals/samples', '/totals/ignored', '/totals', '/hosts/web-1', '/hosts/web-1/isRetired', '/hosts/web-2/isRetired', '/hosts/web-3/samples', '/notes', '/notes/0', '/notes/49/text', '/hosts']
  const middle = batches[Math.floor(batches.length / 2)].to
  let compared = 0
  for (const before of [null, middle]) {
    if (before !== null) {
      await visit(tab, before)
      await settled(tab, before)
    }
    for (const path of paths) {
      const expected = changes(path, before ?? Infinity)
      await t.test(`${path} ${before === null ? 'live' : `at ${before}`}: ${expected.length} changes`, async () => {
        if (at(states.get(before ?? newest), path) !== undefined) await tab.run(path => inspector.tree.focus(path), path)
        await tab.run(path => inspector.blame(path), path)
        await tab.until('the pane shows the path', path => document.querySelector('#detail .meta dd')?.textContent === path && /Newest first/.test(document.querySelector('#detail').innerText), path)
        // The whole history.
        for (;;) {
          const state = await tab.until('the search can go on or is complete', () => {
            if (document.querySelector('#detail [role=alert]')) return document.querySelector('#detail').innerText
            const more = [...document.querySelectorAll('#detail button')].find(button => /further back/.test(button.textContent))
            return more ? 'more' : /whole kept history/.test(document.querySelector('#detail').innerText) ? 'complete' : null
          })
          if (state === 'complete') break
          assert.equal(state, 'more')
          const count = await tab.run(() => document.querySelectorAll('#detail tbody tr').length)
          await tab.click('#detail button', { text: 'further back' })
          await tab.until('the next part is shown', count => document.querySelectorAll('#detail tbody tr').length > count
            || ![...document.querySelectorAll('#detail button')].some(button => /further back/.test(button.textContent)), count)
        }
        const batchAt = revision => batches.find(({ to }) => to === Number(revision.replaceAll(',', '')))
        const shown = (await tab.run(() => [...document.querySelectorAll('#detail tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))))
          .filter(([revision, , , , , remark]) => !(/a part that contains it/.test(remark) && isMoved(path, batchAt(revision))))
        assert.deepEqual(shown.map(([revision]) => Number(revision.replaceAll(',', ''))), expected.map(({ to }) => to))
        for (const [index, { isExact, names, isRemoved, value, ids }] of expected.entries()) {
          const [, , action, from, text, remark] = shown[index]
          assert.ok(names.includes(action), `${action} is one of ${names}`)
          assert.match(from, /^[0-9a-f]{8}$/, 'without keys, the session is all that is known')
          assert.equal(remark.replace(/(, )?(set|changed) with a part that contains it/, ''), isExact ? '' : `1 of ${ids.length}`)
          if (isRemoved) assert.match(text, /removed|–/)
          else if (value === null || typeof value !== 'object') assert.ok(text === JSON.stringify(value).slice(0, text.length).replace(/…$/, '') || text.endsWith('…') || (text === '–' && /^changed|, changed/.test(remark)), `${text} is ${JSON.stringify(value)}`)
          compared++
        }
        // The gateway's answer itself.
        const found = []
        let next
        do {
          const answer = await cluster.get('blame', { path, limit: 10, ...before === null ? {} : { at: before }, ...next ? { before: next } : {} })
          found.push(...answer.changes)
          next = answer.next
        } while (next)
        const certain = found.filter(({ kind, batch }) => !(kind === 'replaced-above' && isMoved(path, batch)))
        assert.deepEqual(certain.map(({ batch, exact, actions }) => ({ batch, exact, ids: actions.map(({ id }) => id).sort() })),
          expected.map(({ from, to, isExact, ids }) => ({ batch: { from, to }, exact: isExact, ids })))
      })
    }
  }

  await t.test('A row leads to its revision', async () => {
    await tab.key('Escape')
    await tab.run(() => inspector.blame('/hosts/web-2/isRetired'))
    const [{ to }] = changes('/hosts/web-2/isRetired')
    await tab.until('the change is shown', to => Number(document.querySelector('#detail tbody td')?.textContent) === to, to)
    await tab.click('#detail tbody tr')
    await settled(tab, to)
    await tab.until('the tab Change shows its session', () => document.querySelector('#tab-change').ariaSelected === 'true' && /session [0-9a-f]{8}…, number \d+/.test(document.querySelector('#detail').innerText))
    assert.match(await tab.run(() => document.querySelector('#detail [title]').title), /^[0-9a-f]{32}$/)
  })
  await t.test('A value that came with its parent is shown, and a path that does not exist is named', async () => {
    await tab.run(() => inspector.go(null))
    await tab.run(() => inspector.blame('/notes/0/text'))
    await tab.until('the value', () => [...document.querySelectorAll('#detail tbody tr')].some(row => /^"/.test(row.cells[4].textContent) && row.cells[5].textContent.endsWith('set with a part that contains it')))
  })
  t.diagnostic(`${compared} changes at ${paths.length} paths were compared, in batches of ${sizes.join(', ')}`)
  assert.deepEqual(tab.errors, [])
  // Then Chromium reports the answer with 404 as an error.
  await tab.run(() => inspector.blame('/nope'))
  await tab.until('the path is named', () => /has nothing at \/nope/.test(document.querySelector('#detail').innerText))
})
