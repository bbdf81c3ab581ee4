// Keys, buttons, and the menu of a row of the state.
import { view } from './view.js'
import { json, $, element, printable } from './format.js'
import { replicaCommand } from './copy.js'

const KEYS = [
  ['/', 'filter actions, or peers'], ['s', 'search the state'], ['↑ ↓  or  k j', 'move in the focused list'], ['?', 'this list'],
  ['← →', 'close, open a subtree'], ['Enter', 'go to the revision; open or close a subtree'], ['[  ]', 'previous, next batch'],
  ['b', 'blame the path'], ['g', 'go to a revision or a time'], ['f', 'follow the newest action'], ['1  2', 'state; peers and health'],
  ['Esc', 'back to live; clear a filter; close a menu'], ['Shift F10', 'menu of the selected path'],
]
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 25, PageUp: -25, Home: -1e9, End: 1e9 }

export function listen(app) {
  const timers = new Map()
  const later = (id, run) => $(id).addEventListener('input', () => {
    clearTimeout(timers.get(id))
    timers.set(id, setTimeout(() => run($(id).value), id === 'log-filter' && !/path:/.test($(id).value) ? 40 : 250))
  })
  later('log-filter', text => app.setFilter(text))
  later('tree-filter', text => app.find(text))
  $('tree-filter').addEventListener('keydown', async ({ key, target }) => {
    if (key !== 'Enter') return
    clearTimeout(timers.get(target.id)); await app.find(target.value)
    const [first] = app.tree.found?.rows ?? [view]
    if (first) { $('tree').focus(); app.tree.select(first.path) }
  })
  $('goto').addEventListener('keydown', event => {
    if (event.key !== 'Enter') return
    const text = $('goto').value.trim(), [time, hours, minutes, seconds = 0] = text.match(/^(\d\d?):(\d\d)(?::(\d\d))?$/) ?? []
    if (time) app.timeline.goTo(hours * 3600 + minutes * 60 + Number(seconds))
    else if (/^\d[\d,. ]*$/.test(text)) app.go(Number(text.replace(/\D/g, '')))
    else app.toast('expected a revision, or a time such as 14:05')
    $('goto').blur()
  })
  const pane = name => () => { view.pane = name; app.refresh() }
  const clicks = {
    'tab-state': () => app.show('state'), 'tab-peers': () => app.show('peers'), help: showKeys, golive: () => app.go(null),
    'step-first': () => app.timeline.first(), 'step-back': () => app.step(-1), 'step-on': () => app.step(1),
    'history-live': () => app.go(null), 'tab-change': pane('change'), 'tab-blame': pane('blame'), 'tab-send': pane('send'),
    follow: () => { if (!view.follow) app.go(null); else { view.follow = false; app.heads() } },
  }
  for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run)
  $('tree').addEventListener('contextmenu', event => {
    event.preventDefault()
    const row = app.tree.row(app.tree.list.indexOf(event.target))
    if (row?.path !== undefined) app.menu.open(event.clientX, event.clientY, row.path)
  })
  document.addEventListener('pointerdown', event => { if (!event.target.closest('#menu')) app.menu.close() })
  document.addEventListener('keydown', event => pressed(app, event))
}

function pressed(app, event) {
  const { key, target } = event, isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName), isTree = document.activeElement === $('tree')
  if (document.querySelector('dialog[open]')) return
  if (app.menu.isOpen) return app.menu.key(event)
  if (key === 'Escape' && isTyping) {
    if (target.type === 'search') target.value = ''
    target.dispatchEvent(new Event('input'))
    return target.blur()
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const keys = {
    '/': () => $(view.name === 'state' ? 'log-filter' : 'peer-filter').focus(), s: () => $('tree-filter').focus(), f: () => app.go(null),
    g: () => $('goto').select(), b: () => app.blame(), '[': () => app.step(-1), ']': () => app.step(1), '?': showKeys,
    Escape: () => app.go(null), 1: () => app.show('state'), 2: () => app.show('peers'), Enter: () => app.log.enter(),
  }
  const isMenuKey = key === 'ContextMenu' || (key === 'F10' && event.shiftKey)
  const run = MOVES[key] ? () => (view.name === 'peers' ? app.peers : isTree ? app.tree : app.log).move(MOVES[key])
    : isTree && isMenuKey ? () => app.menu.openSelected()
    : isTree && /^(ArrowLeft|ArrowRight|Enter)$/.test(key) ? () => app.tree.key(key)
    : key === 'Enter' && /^(BUTTON|TR)$/.test(target.tagName) ? null : keys[key]
  if (!run) return
  event.preventDefault(); run()
}

function showKeys() {
  const list = element('dl', {}, KEYS.map(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]))
  const close = element('button', { onclick: () => $('keys').close() }, 'Close')
  $('keys').replaceChildren(element('h2', { id: 'keys-title' }, 'Keyboard'), list, close)
  $('keys').showModal()
}

export class Menu {
  constructor(app) { this.app = app }
  get isOpen() { return !$('menu').hidden }
  open(x, y, path) {
    const { app } = this, menu = $('menu'), copy = (name, make) => item('Copy ' + name, () => app.copying(make, name))
    const item = (text, run, key) => element('button', { role: 'menuitem', tabindex: -1, onclick: () => { this.close(); run() } },
      text, key && element('kbd', {}, key))
    const value = async () => json((await app.get('state', { path, whole: true, at: view.at })).value, '', '  ')
    app.tree.select(path)
    menu.replaceChildren(element('div', { class: 'path', role: 'presentation' }, printable(path)),
      item('What last changed this', () => app.blame(path), 'b'), item('Show its actions in the log', () => app.showActions(path)),
      element('hr', { role: 'separator' }), copy('path', () => path), copy('value as JSON', value),
      copy('statecast-replica --select', () => replicaCommand(app.store, path)), copy('link to this view', () => location.href))
    menu.hidden = false
    menu.style.left = Math.max(0, Math.min(x, innerWidth - menu.offsetWidth - 4)) + 'px'
    menu.style.top = Math.max(0, Math.min(y, innerHeight - menu.offsetHeight - 4)) + 'px'
    menu.querySelector('button').focus()
  }
  openSelected() {
    const box = $('tree').querySelector('[aria-selected=true]')?.getBoundingClientRect()
    if (box) this.open(box.left + 40, box.bottom, view.path)
  }
  close() {
    if (this.isOpen) $('tree').focus()
    $('menu').hidden = true
  }
  key(event) {
    const items = [...$('menu').querySelectorAll('button')], at = items.indexOf(document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) items.at(to % items.length).focus()
    else if (event.key === 'Escape' || event.key === 'Tab') this.close()
    else return
    event.preventDefault()
  }
}
