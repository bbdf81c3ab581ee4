// What tests do with the inspector's page, and read from it.
import { Chromium } from './chromium.mjs'
import { Cluster } from './processes.mjs'

/** A cluster, a browser, and a tab with the page, which is live. */
export async function stage(t, { view, send = [], ...options } = {}) {
  const [cluster, browser] = await Promise.all([Cluster.start(t, options), Chromium.start(t)])
  if (send.length) await cluster.send(send)
  const tab = await open(browser, cluster.url(view))
  return { cluster, browser, tab }
}

export async function open(browser, url, options) {
  const tab = await browser.tab(url, options)
  await live(tab)
  return tab
}
/** Waits until the page follows its store and shows rows. */
export async function live(tab) {
  await tab.until('the page follows the store', () => window.inspector?.status?.status === 'live' && inspector.live.revision !== null)
  await tab.until('the page shows rows of the state', () => document.querySelector('#view-state').hidden || document.querySelector('#tree .row .k')?.textContent)
}

/** The rows of a list that exist in the page, from top to bottom, as texts of their cells. */
export const rows = (tab, id) => tab.run(id => [...document.querySelectorAll(`#${id} .row`)].filter(row => row.checkVisibility())
  .sort((a, b) => a.index - b.index).map(row => [...row.children].map(cell => cell.textContent)), id)

/** The rows of the state that exist in the page: paths, texts of values and of the last change. */
export const treeRows = tab => tab.run(() => {
  const keys = []
  return [...document.querySelectorAll('#tree .row')].filter(row => row.checkVisibility()).sort((a, b) => a.index - b.index).map(row => {
    const level = Number(row.getAttribute('aria-level')), key = row.querySelector('.k').textContent
    keys.length = level - 1
    keys.push(key)
    return { level, key, keys: [...keys], value: row.querySelector('.v').textContent, changed: row.querySelector('.b').textContent, expanded: row.getAttribute('aria-expanded'), isSelected: row.getAttribute('aria-selected') === 'true' }
  })
})

/** Goes to a revision as a reader does: `g`, the number, Enter. */
export async function visit(tab, revision) {
  await tab.key('g')
  await tab.shows('g puts the focus on the revision', 'goto', () => document.activeElement.id)
  await tab.type(String(revision))
  await tab.key('Enter')
}
/** Waits until the page shows the state of the batch that ends at a revision. */
export const settled = (tab, revision) => tab.shows(`the state at ${revision} is shown`, { bar: String(revision), pages: [] }, () => ({
  bar: document.querySelector('#history').hidden ? null : document.querySelector('#history').innerText.match(/revision ([\d,]+)/i)?.[1].replaceAll(',', ''),
  pages: [...inspector.tree.visible ?? []].filter(([page]) => !page.rows || page.at !== inspector.view.at || inspector.tree.list.pending).map(([{ at, after, error }]) => ({ at, after, error: error?.message })),
}))

/** The rows of the log in memory without its gaps: ids, in order; and the number of gaps. */
export const memory = tab => tab.run(() => {
  const { memory } = inspector.log, ids = []
  let gaps = 0
  for (let i = 0; i < memory.count; i++) memory.gap[i] ? gaps++ : ids.push(memory.idOf(i))
  return { ids, gaps }
})
