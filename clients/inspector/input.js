// Keys, buttons, and the menu of a row of the state.
import { view } from './view.js'
import { $, element, printable } from './format.js'

const KEYS = [
  ['/', 'filter actions, or peers'], ['s', 'search the state'], ['↑ ↓  or  k j', 'move in the focused list'], ['← →', 'close, open a subtree'],
  ['Enter', 'go to the revision of the action; open or close a subtree'], ['[  ]', 'previous, next batch'],
  ['b', 'blame the selected path'], ['g', 'go to a revision'], ['f', 'follow the newest action'],
  ['Esc', 'back to live; clear a filter; close a menu'], ['1  2', 'state; peers and health'], ['Shift F10', 'menu of the selected path'], ['?', 'this list'],
]
const TYPING = /^(INPUT|SELECT|TEXTAREA)$/
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 25, PageUp: -25, Home: -1e9, End: 1e9 }

export function listen(app) {
  let timer
  const typed = (id, change) => $(id).addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => change($(id).value), id === 'log-filter' && !/path:/.test($(id).value) ? 40 : 250)
  })
  typed('log-filter', text => app.setFilter(text))
  typed('tree-filter', text => app.find(text))
  $('goto').addEventListener('change', () => {
    const digits = $('goto').value.replace(/\D/g, '')
    if (digits) app.go(Number(digits))
    $('goto').blur()
  })
  for (const pane of document.querySelectorAll('[data-pane]')) {
    pane.addEventListener('click', () => { view.pane = pane.dataset.pane; app.refresh() })
  }
  const clicks = {
    'tab-state': () => app.show('state'), 'tab-peers': () => app.show('peers'), help: showKeys, 'step-first': () => app.first(),
    'step-back': () => app.step(-1), 'step-on': () => app.step(1), golive: () => app.go(null), 'history-live': () => app.go(null),
    follow: () => { if (!view.follow) app.go(null); else { view.follow = false; app.heads() } },
  }
  for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run)
  $('tree').addEventListener('contextmenu', event => {
    event.preventDefault()
    const row = app.tree.row(app.tree.list.indexOf(event.target)), selected = $('tree').querySelector('[aria-selected=true]')
    const box = (event.target.closest('.row') ?? selected)?.getBoundingClientRect()
    const path = row?.path ?? view.path
    if (box && path) app.menu.open(event.clientX || box.left + 40, event.clientY || box.bottom, path)
  })
  document.addEventListener('pointerdown', event => { if (!event.target.closest('#menu')) app.menu.close() })
  document.addEventListener('keydown', event => pressed(app, event))
}

function pressed(app, event) {
  const { key, target } = event
  if (document.querySelector('dialog[open]')) return
  if (app.menu.isOpen) return app.menu.key(event)
  const isTyping = TYPING.test(target.tagName)
  if (key === 'Escape') {
    if (!isTyping) return void app.go(null)
    if (target.type === 'search') {
      target.value = ''
      target.dispatchEvent(new Event('input'))
    }
    return target.blur()
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const isTree = document.activeElement === $('tree'), isButton = target.tagName === 'BUTTON' || target.tagName === 'TR'
  const run = MOVES[key] ? () => (view.name === 'peers' ? app.peers : isTree ? app.tree : app.log).move(MOVES[key])
    : isTree && /^(ArrowLeft|ArrowRight|Enter)$/.test(key) ? () => app.tree.key(key)
    : key === 'Enter' && isButton ? null
    : {
      '/': () => $(view.name === 'state' ? 'log-filter' : 'peer-filter').focus(), s: () => $('tree-filter').focus(),
      g: () => { $('goto').focus(); $('goto').select() }, f: () => app.go(null), b: () => app.blame(), '[': () => app.step(-1), ']': () => app.step(1),
      '?': showKeys, 1: () => app.show('state'), 2: () => app.show('peers'), Enter: () => app.log.enter(),
    }[key]
  if (!run) return
  event.preventDefault()
  run()
}

function showKeys() {
  const list = element('dl', {}, KEYS.flatMap(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]))
  const close = element('button', { class: 'btn', onclick: () => $('keys').close() }, 'Close')
  $('keys').replaceChildren(element('h2', { id: 'keys-title' }, 'Keyboard'), list, close)
  $('keys').showModal()
}

export class Menu {
  constructor(app) { this.app = app }
  get isOpen() { return !$('menu').hidden }

  open(x, y, path) {
    const { app } = this
    const item = (text, run, key) => element('button', { role: 'menuitem', tabindex: -1, onclick: () => { this.close(); run() } },
      text, key && element('kbd', {}, key))
    app.tree.select(path)
    $('menu').replaceChildren(
      element('div', { class: 'path', role: 'presentation' }, printable(path)),
      item('What last changed this', () => app.blame(path), 'b'), item('Show its actions in the log', () => app.showActions(path)),
      element('hr', { role: 'separator' }), item('Copy path', () => app.copying(() => path, 'the path')),
      item('Copy value as JSON', () => app.copyValue(path)),
      item('Copy statecast-replica --select', () => app.copying(() => app.replicaCommand(path), 'the command')),
      item('Copy link to this view', () => app.copying(() => location.href, 'the link')))
    $('menu').hidden = false
    $('menu').style.left = Math.max(0, Math.min(x, innerWidth - $('menu').offsetWidth - 4)) + 'px'
    $('menu').style.top = Math.max(0, Math.min(y, innerHeight - $('menu').offsetHeight - 4)) + 'px'
    $('menu').querySelector('button').focus()
  }
  close() {
    if (!this.isOpen) return
    $('menu').hidden = true
    $('tree').focus()
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
