import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage, treeRows } from './inspector.mjs'

/** The rows below a path after it was opened: its children with the text of their values. */
async function children(tab, path) {
  await tab.run(path => { document.querySelector('#tree').focus(); return inspector.tree.focus(path) }, path)
  await tab.until(`${path} is selected`, path => !inspector.tree.list.pending && document.querySelector('#tree [aria-selected=true] .k')?.textContent === path.split('/').at(-1), path)
  if (await tab.run(() => document.querySelector('#tree [aria-selected=true]').getAttribute('aria-expanded') === 'false')) await tab.key('ArrowRight')
  await tab.until(`${path} is open`, path => {
    const selected = document.querySelector('#tree [aria-selected=true]')
    return inspector.view.path === path && selected?.getAttribute('aria-expanded') === 'true' && !document.querySelector('#tree .row.more') && !inspector.tree.list.pending
  }, path)
  const rows = await treeRows(tab), at = rows.findIndex(({ isSelected }) => isSelected)
  const level = rows[at].level, found = []
  for (const row of rows.slice(at + 1)) {
    if (row.level <= level) break
    if (row.level === level + 1) found.push([row.key, row.value])
  }
  return found
}

/** Copies the value of the selected path with the menu. */
async function copyValue(tab) {
  await tab.run(() => { inspector.copied = null; document.querySelector('#notice').hidden = true; document.querySelector('#tree').focus() })
  await tab.key('Shift+F10')
  await tab.click('#menu [role=menuitem]', { text: 'Copy value' })
  const result = await tab.until('the value is copied, or the page says why not', () => inspector.copied !== null ? { text: inspector.copied }
    : !document.querySelector('#notice').hidden && { refusal: document.querySelector('#notice').innerText })
  if (result.refusal) throw Error(result.refusal)
  return result.text
}

test('A hostile state is shown as text: markup, odd keys, long and deep values, numbers beyond those of JavaScript', async t => {
  const { cluster, tab } = await stage(t, { app: { rows: 20, rate: 20 }, primary: ['odd'] })
  await tab.run(() => { window.alert = text => { window.alerted = text } })

  await t.test('Markup, __proto__ and other odd keys and texts', async () => {
    const texts = new Map(await children(tab, '/odd/texts'))
    assert.equal(texts.size, 13)
    assert.match(texts.get('<script>alert(1)</script>'), /^"<script>alert\(1\)<\/script><img src=x onerror=alert\(2\)>"$/)
    assert.equal(texts.get('__proto__'), '"polluted"')
    assert.equal(texts.get('constructor'), JSON.stringify('{"prototype":{"x":1}}'))
    assert.equal(texts.get('""'), '"an empty key"')
    assert.equal(texts.get('a/b'), '"a slash"')
    assert.equal(texts.get('m~n~0~1'), '"tildes"')
    assert.equal(texts.get('$int'), '"12"')
    assert.equal(texts.get('$$'), '"dollars"')
    assert.equal(texts.get('replacement'), '"\uFFFD\uFFFD"')
    assert.match(texts.get('emoji'), /👩.*e\u0301/u)
    // Controls and marks of direction are visible.
    for (const name of ['bidirectional', 'quotes']) assert.doesNotMatch(texts.get(name), /[\u0000-\u001f\u007f\u200b\u2028\u2029\u202c\u202e\ufeff]/, name)
    assert.match(texts.get('bidirectional'), /\\u202eabc\\u202c/)
    assert.match(texts.get('long'), /4 KiB of 1,048,576 bytes/)
    assert.ok(texts.get('long').length < 1000)
    assert.deepEqual(await tab.run(() => [({}).isAdmin ?? null, ({}).polluted ?? null, Object.getPrototypeOf(inspector.view) === Object.prototype]), [null, null, true])
  })

  await t.test('Objects that look like encodings', async () => {
    assert.deepEqual((await children(tab, '/odd/shapes')).map(([key]) => key).sort(), ['__proto__', 'empty', 'looks cut', 'looks like an integer'])
    assert.deepEqual(await children(tab, '/odd/shapes/__proto__'), [['isAdmin', '1']])
    assert.deepEqual(await children(tab, '/odd/shapes/looks like an integer'), [['$int', '1']])
    assert.deepEqual(await children(tab, '/odd/shapes/looks cut'), [['$cut', '2']])
  })

  await t.test('Integers keep their digits, and floats that are not finite their names', async () => {
    assert.deepEqual((await children(tab, '/odd/integers')).map(([, value]) => value),
      ['-9223372036854775808', '9223372036854775807', '9007199254740992', '9007199254740993', '-9007199254740992', '-9007199254740993'])
    assert.deepEqual((await children(tab, '/odd/unsigned')).map(([, value]) => value), ['9223372036854775808', '18446744073709551615'])
    const floats = (await children(tab, '/odd/floats')).map(([, value]) => value)
    assert.equal(floats.length, 6)
    assert.match(floats[4], /^infinity$/i)
    assert.match(floats[5], /^-infinity$/i)
    assert.equal(Number(floats[1]), 0.1)
    const odd = new Map(await children(tab, '/odd'))
    assert.match(odd.get('nan'), /nan/i)
    assert.deepEqual((await children(tab, '/odd/nothing')).map(([, value]) => value), ['null', '1'])
  })

  await t.test('Values as deep as a state can be open by keys', async () => {
    const depth = 60, path = '/odd/nest' + '/0'.repeat(depth)
    await tab.run(path => inspector.tree.focus(path), path)
    await tab.until('the deepest row is selected', level => document.querySelector('#tree [aria-selected=true]')?.getAttribute('aria-level') === String(level), depth + 2)
    await tab.run(() => document.querySelector('#tree').focus())
    await tab.key('ArrowLeft')
    await tab.until('the row above is selected', level => document.querySelector('#tree [aria-selected=true]')?.getAttribute('aria-level') === String(level), depth + 1)
  })

  await t.test('Search, blame, copies and the URL of odd paths', async () => {
    await tab.key('s')
    await tab.type('<script>')
    await tab.until('the search finds it', () => [...document.querySelectorAll('#tree .row')].some(row => row.querySelector('.k').textContent.includes('<script>alert(1)')))
    await tab.key('Escape')
    const paths = ['/odd/texts/<script>alert(1)<~1script>', '/odd/texts/__proto__', '/odd/texts/', '/odd/texts/a~1b', '/odd/texts/m~0n~00~01', '/odd/texts/emoji', '/odd/texts/$int']
    for (const path of paths) {
      await tab.run(() => inspector.find(''))
      await tab.run(path => inspector.tree.focus(path), path)
      await tab.run(path => inspector.blame(path), path)
      await tab.until(`blame of ${path} has an answer`, path => document.querySelector('#detail .meta dd')?.textContent === path && /complete|ended|go on|No change/.test(document.querySelector('#detail').innerText), path)
      const copied = await copyValue(tab)
      const { value } = await cluster.get('state', { path, whole: 1 })
      assert.equal(JSON.parse(copied), value, path)
      await tab.until('the URL names the path', path => {
        const [, text] = location.hash.match(/[?&]path=([^&]*)/) ?? []
        return text !== undefined && decodeURIComponent(text) === path
      }, path)
    }
    // 1 MiB is copied whole, or refused with a sentence.
    await tab.run(() => inspector.tree.focus('/odd/texts/long'))
    await copyValue(tab).then(text => assert.equal(text.length, (1 << 20) + 2), error => assert.match(error.message, /large|MiB|more than 1048576 bytes/))
  })

  await t.test('Actions with hostile payloads', async () => {
    const texts = ['<img src=x onerror=alert(3)>', '\u202Egnp.exe', '${alert(4)}', 'a\u0000b', 'x'.repeat(50_000)]
    await cluster.send(texts.map(text => ['NoteAdded', { text }]))
    const last = (await cluster.recorded()).filter(({ action }) => action === 'NoteAdded').at(-1)
    await tab.until('they are in the log', revision => inspector.live.revision >= revision, last.revision)
    await tab.key('/')
    await tab.type('onerror')
    await tab.until('the log shows it as text', () => inspector.view.q === 'onerror' && [...document.querySelectorAll('#log .row')].some(row => row.textContent.includes('<img src=x onerror=alert(3)>')))
    await tab.run(() => { document.querySelector('#log').focus() })
    await tab.key('k')
    await tab.until('the pane shows the payload as text', () => /<img src=x onerror=alert\(3\)>/.test(document.querySelector('#detail pre')?.textContent ?? ''))
    for (const name of ['Swift test', 'statecast-send', 'JSON Patch', 'curl']) {
      await tab.run(() => { inspector.copied = null })
      await tab.click('#detail .copy button', { text: name })
      await tab.until(`${name} is copied`, () => inspector.copied)
    }
    // Copies have values that the page shows only in part.
    await tab.run(({ batch, id }) => { inspector.go(batch.to, id) }, last)
    await tab.until('the long payload', text => document.querySelector('#detail pre')?.textContent.includes(text), texts.at(-1))
    for (const name of ['Swift test', 'JSON Patch']) {
      await tab.run(() => { inspector.copied = null })
      await tab.click('#detail .copy button', { text: name })
      const copied = await tab.until(`${name} is copied`, () => inspector.copied)
      assert.ok(copied.includes(texts.at(-1)), `${name} has the whole text`)
    }
  })

  assert.equal(await tab.run(() => window.alerted ?? null), null)
  assert.equal(await tab.run(() => document.querySelectorAll('#tree script, #tree img, #log img, #detail img, #detail script, main script').length), 0)
  assert.deepEqual(tab.violations, [])
  assert.deepEqual(tab.errors.filter(error => !/413/.test(error)), [])
})
