import assert from 'node:assert/strict'
import { test } from 'node:test'
import { live, settled, stage, visit } from './inspector.mjs'
import { noted, sampled } from './processes.mjs'

const ROLES = ['button', 'tab', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'tree', 'treeitem', 'grid', 'row', 'gridcell', 'columnheader', 'slider', 'menu', 'menuitem', 'dialog', 'tabpanel', 'region', 'img', 'status', 'alert']
/** Roles whose elements need a name. The cells of a row may be empty. */
const NAMED = ['button', 'tab', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'tree', 'treeitem', 'grid', 'columnheader', 'slider', 'menu', 'menuitem', 'dialog', 'tabpanel', 'region', 'img', 'link']

/** The ratio of the contrast of each visible text with what is behind it, of those below the minimum of WCAG AA. */
const lowContrast = tab => tab.run(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const parse = color => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a / 255]
  }
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1]
  const luminance = ([r, g, b]) => [r, g, b].map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)
  const behind = element => {
    const layers = []
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor)
      if (color[3] > 0) layers.push(color)
      if (color[3] === 1) break
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), parse(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? 'black' : 'white'))
  }
  const found = new Map()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const texts = []
  while (walker.nextNode()) if (walker.currentNode.textContent.trim()) texts.push([walker.currentNode.parentElement, walker.currentNode.textContent])
  for (const input of document.querySelectorAll('input, select, textarea')) texts.push([input, input.value])
  for (const [element, text] of texts) {
    const style = getComputedStyle(element)
    // Disabled controls are exempt.
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || element.closest(':disabled')) continue
    if (!element.getBoundingClientRect().width || style.clipPath !== 'none') continue
    const back = behind(element), front = over(parse(style.color), back)
    const [bright, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a), ratio = (bright + 0.05) / (dark + 0.05)
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
    const name = `${element.tagName.toLowerCase()}${element.id && '#' + element.id}.${element.className} ${style.color} on ${back.slice(0, 3).map(Math.round)}`
    if (ratio < (isLarge ? 3 : 4.5)) found.set(name, `${ratio.toFixed(2)} “${text.slice(0, 20)}”`)
  }
  return [...found].map(([name, text]) => `${name}: ${text}`)
})

test('The page has roles, names and contrast, works at 200 %, and reports no errors', async t => {
  const send = [...Array(30)].map((_, number) => number % 5 ? sampled(`web-${number % 4}`, number) : noted(`note ${number}`))
  const { cluster, tab } = await stage(t, { view: 'path=/hosts/web-1/latest/load1&open=/hosts/web-1/latest', gateway: ['--allow-send'], send: [...send, ['NoteAdded', { text: 7 }], ['HostRetired', { host: 'web-2' }]] })
  for (const action of [sampled('web-1', 40), noted('the last', 'web-1')]) await cluster.send([action])
  const recorded = await cluster.recorded(), newest = recorded.at(-1).revision
  await tab.until('all actions have arrived', newest => inspector.live.revision === newest, newest)

  /** What the page can show: name, and what leads to it. */
  const scenes = {
    'the live state': async () => { await tab.until('the change is shown', () => document.querySelector('#detail .diff')) },
    'a rejected action': async () => {
      await tab.run(() => document.querySelector('#log').focus())
      for (let count = 0; count < 40; count++) {
        await tab.key('k')
        await tab.until('the selection is drawn', () => !inspector.log.list.pending && document.querySelector('#log [aria-selected=true]'))
        if (await tab.run(() => document.querySelector('#log [aria-selected=true]').classList.contains('rejected'))) break
      }
      await tab.until('the rejection is shown', () => /rejected/.test(document.querySelector('#detail').innerText))
    },
    'a revision of history': async () => { await visit(tab, newest - 1); await settled(tab, newest - 1) },
    blame: async () => { await tab.key('b'); await tab.until('blame is shown', () => document.querySelector('#detail tbody tr')) },
    'the form': async () => { await tab.key('Escape'); await tab.click('#tab-send'); await tab.until('the form is shown', () => document.querySelector('#send-payload')) },
    'a search': async () => { await tab.key('s'); await tab.type('web-1'); await tab.until('paths are found', () => document.querySelector('#tree mark')) },
    'the menu': async () => {
      await tab.key('Escape')
      await tab.until('the search is left', () => !document.querySelector('#tree mark') && document.querySelector('#tree .row .k')?.textContent === 'hosts')
      await tab.run(() => document.querySelector('#tree').focus())
      await tab.key('Home')
      await tab.until('a row is selected', () => document.querySelector('#tree [aria-selected=true] .k')?.textContent === 'hosts')
      await tab.key('Shift+F10')
      await tab.until('the menu is open', () => !document.querySelector('#menu').hidden)
    },
    'the keys': async () => { await tab.key('Escape'); await tab.key('?'); await tab.until('the list is open', () => document.querySelector('#keys').open) },
    'peers and health': async () => { await tab.key('Escape'); await tab.key('2'); await tab.until('the checks are shown', () => document.querySelector('#health table')) },
  }
  const seen = new Map()
  for (const [name, show] of Object.entries(scenes)) {
    await t.test(`Names and contrast of ${name}`, async () => {
      await show()
      const nodes = await tab.accessible()
      for (const { role } of nodes) seen.set(role, (seen.get(role) ?? 0) + 1)
      assert.deepEqual(nodes.filter(({ role, name }) => NAMED.includes(role) && !name.trim()).map(({ role, node }) => `${role} ${node}`), [], 'elements without a name')
      for (const scheme of ['light', 'dark']) {
        await tab.scheme(scheme)
        await tab.until(`the scheme is ${scheme}`, scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches, scheme)
        assert.deepEqual(await lowContrast(tab), [], scheme)
      }
    })
  }

  await t.test('Each list, tree and grid says what is active, and which elements it has', async () => {
    await tab.key('1')
    await tab.run(() => document.querySelector('#log').focus())
    await tab.key('k')
    await tab.until('the list names its active option', () => document.getElementById(document.querySelector('#log').getAttribute('aria-activedescendant'))?.getAttribute('role') === 'option')
    const nodes = await tab.accessible()
    const missing = ROLES.filter(role => !seen.has(role) && !nodes.some(node => node.role === role))
    // A role may be absent if what has it is not needed for this state.
    assert.deepEqual(missing.filter(role => ['listbox', 'option', 'tree', 'treeitem', 'grid', 'row', 'slider', 'tab', 'searchbox', 'menu', 'menuitem', 'dialog'].includes(role)), [])
    const attributes = await tab.run(() => ({
      options: [...document.querySelectorAll('#log [role=option]')].every(row => row.hasAttribute('aria-posinset') && row.hasAttribute('aria-setsize')),
      items: [...document.querySelectorAll('#tree [role=treeitem]')].every(row => row.hasAttribute('aria-level')),
      slider: ['min', 'max', 'now', 'text'].every(name => document.querySelector('[role=slider]').hasAttribute('aria-value' + name)),
      tabs: [...document.querySelectorAll('[role=tab]')].every(tab => document.getElementById(tab.getAttribute('aria-controls'))),
      language: document.documentElement.lang, heading: document.querySelectorAll('h1, h2').length > 0,
    }))
    assert.deepEqual(attributes, { options: true, items: true, slider: true, tabs: true, language: 'en', heading: true })
  })

  await t.test('At 200 % everything can be reached, without scrolling sideways', async () => {
    // Zoom halves the page's size in CSS pixels and doubles their density.
    await tab.size(720, 450, 2)
    await live(tab)
    const { width, hidden } = await tab.run(() => ({
      width: document.documentElement.scrollWidth,
      hidden: ['store', 'tab-peers', 'log-filter', 'log', 'tree-filter', 'tree', 'tab-change', 'detail', 'track', 'goto', 'help'].filter(id => {
        const element = document.getElementById(id)
        element.scrollIntoView({ block: 'nearest' })
        const { left, right, top, bottom, width, height } = element.getBoundingClientRect()
        return !(width > 0 && height > 0 && left >= 0 && right <= innerWidth + 1 && bottom > 0 && top < innerHeight)
      }),
    }))
    assert.ok(width <= 720, `the page is ${width} pixels wide`)
    assert.deepEqual(hidden, [])
    await tab.run(() => document.querySelector('#log').focus())
    await tab.key('k')
    await tab.until('the log answers', () => document.querySelector('#log [aria-selected=true]'))
    await tab.size(1440, 900)
  })

  await t.test('Nothing moves by itself', async () => {
    assert.deepEqual(await tab.run(() => [...document.querySelectorAll('*')].filter(each => getComputedStyle(each).animationName !== 'none' || parseFloat(getComputedStyle(each).transitionDuration) > 0).map(each => each.id || each.className)), [])
  })
  assert.deepEqual(tab.errors, [])
  assert.deepEqual(tab.violations, [])
})
