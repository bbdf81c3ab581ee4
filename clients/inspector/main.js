// The inspector: connects the panes with the gateway, the URL, and the keyboard.
import { Statecast } from './statecast.js'
import { readURL, saveURL, view } from './view.js'
import { Log } from './log.js'
import { Tree } from './tree.js'
import { Detail } from './detail.js'
import { Send } from './send.js'
import { Timeline } from './timeline.js'
import { Peers } from './peers.js'
import { journalCommands, write } from './copy.js'
import { listen, Menu } from './input.js'
import { $, button, clock, duration, element, group, printable, setText, UNKNOWN } from './format.js'

const TOKEN = 'statecast token', TICK = 500, RATE_WINDOW = 3000
const REFUSED = "This token is not the gateway's. Use the link that it prints at its start, or the content of its --token-file; "
  + 'without that file each start makes another one.'

class Inspector {
  view = view
  features = []
  live = { revision: null, epoch: null, lineage: null }
  status = { status: 'connecting', why: null }
  arrivals = []
  ticks = 0
  constructor() {
    Object.assign(this, { log: new Log(this), tree: new Tree(this), detail: new Detail(this), send: new Send(this) })
    Object.assign(this, { timeline: new Timeline(this), peers: new Peers(this), menu: new Menu(this) })
    listen(this)
    $('store').addEventListener('change', () => { location.hash = `#/${encodeURIComponent($('store').value)}` })
    addEventListener('hashchange', () => this.begin())
    $('token-dialog').addEventListener('close', () => { sessionStorage.setItem(TOKEN, $('token').value.trim()); this.begin() })
    setInterval(() => this.tick(), TICK)
    this.begin()
  }
  /** Takes the token from the URL, and opens the store that the URL names. */
  async begin() {
    const [found, token] = location.hash.match(/[#&?]token=([^&]*)/) ?? []
    if (token) {
      sessionStorage.setItem(TOKEN, decodeURIComponent(token))
      history.replaceState(null, '', location.hash.replace(found, '') || location.pathname)
    }
    clearTimeout(this.retry)
    const problem = readURL()
    $('log-filter').value = view.q; $('tree-filter').value = view.find; $('peer-filter').value = view.peers
    const saved = sessionStorage.getItem(TOKEN)
    if (!saved) return this.askToken('This gateway needs a token. It prints a link with it when it starts.')
    if (saved !== this.token) this.client = new Statecast(new URL('.', location.href), { token: this.token = saved })
    try {
      const { stores } = await this.client.stores(), chosen = stores.find(({ store }) => store === view.store)
      if (!stores.length) throw Error('The gateway follows no store')
      this.notice(view.store && !chosen ? `This gateway has no store “${view.store}”.` : problem)
      $('store').replaceChildren(...stores.map(({ store }) => element('option', { value: store }, printable(store))))
      await this.open(chosen ?? stores[0])
    } catch (error) {
      if (error.status === 401) return this.refused()
      this.notice(`${error.message}. The page tries again.`)
      this.retry = setTimeout(() => this.begin(), 1000 * (error.retryAfter ?? 2))
    }
  }
  refused() { this.askToken(REFUSED) }
  askToken(message) {
    this.following?.close()
    this.token = null; setText($('token-why'), message)
    if (!$('token-dialog').open) $('token-dialog').showModal()
  }
  async open({ store, features, position, status, why, journal, noHistory = 'the gateway has no journal' }) {
    if (store !== this.store) this.live = { revision: null, epoch: null, lineage: null }
    view.store = this.store = $('store').value = store
    document.title = `${printable(store)} – Statecast inspector`
    Object.assign(this, { features, journal, noHistory, status: { status, why }, linked: view.lineage })
    $('tab-send').hidden = !this.has('send')
    if (!this.has('send') && view.pane === 'send') view.pane = 'change'
    this.reset()
    if (position) this.seen(position)
    this.follow(); this.tree.restore(view.open)
    this.refresh(); this.peers.refresh()
    if (view.at != null) await this.go(view.at, view.selected)
    if (view.path) await this.tree.focus(view.path)
    if (view.find) await this.tree.search()
  }
  reset() {
    for (const pane of [this.log, this.tree, this.timeline, this.peers, this.send, this.detail]) pane.reset()
    this.arrivals = []
  }
  follow() {
    this.following?.close()
    let wasOffline = false
    this.following = this.client.follow(this.store, [], null, {
      onLog: (actions, { skipped }) => this.arrived(actions, skipped),
      onStatus: (status, { why, error }) => {
        if (error?.status === 401) return this.refused()
        if (wasOffline) this.log.reconnected()
        wasOffline = status === 'offline'
        this.status = { status, why: why ?? error?.message }; this.heads()
        // The primary may have begun a new epoch or lineage, which the log does not say.
        if (status === 'live') this.get('state', { path: '', limit: 1 }).then(({ position }) => this.seen(position), () => {})
      },
    })
  }
  /** A journal that could not be read may be readable now. */
  async awaitHistory() {
    if (this.has('history') || !this.journal) return
    const { stores } = await this.client.stores().catch(() => ({ stores: [] }))
    if (stores.some(({ store, features }) => store === this.store && features.includes('history'))) this.begin()
  }
  has(feature) { return this.features.includes(feature) }
  async get(route, params) {
    const { store } = this
    try {
      const answer = await this.client.get(store, route, params)
      if (store !== this.store) throw Error('The page shows another store now')
      return answer
    } catch (error) {
      if (error.status === 401) this.refused()
      error.isTemporary = error.status == null || error.status === 429 || error.status >= 500
      throw error
    }
  }
  arrived(actions, skipped) {
    this.log.append(actions, skipped)
    const last = actions.at(-1)
    this.live.revision = Math.max(last?.update?.to ?? last?.revision ?? 0, this.live.revision)
    this.delay = last?.delay; this.arrivals.push([performance.now(), actions.length + skipped])
    this.headsSoon()
  }
  /** The live position in an answer. */
  seen(position) {
    const before = this.live.lineage, isSame = before === position.lineage
    const revision = isSame && position.epoch === this.live.epoch ? Math.max(position.revision, this.live.revision) : position.revision
    this.live = { ...position, revision }; view.lineage = position.lineage
    if (this.linked && !position.lineage.startsWith(this.linked)) {
      const shown = view.at == null ? '' : ` Revision ${group(view.at)} of the link is not shown.`
      this.notice(`This link is of another history, ${this.linked.slice(0, 8)}: the store now has ${position.lineage.slice(0, 8)}.${shown}`)
      Object.assign(view, { at: null, selected: null, follow: true })
    }
    this.linked = null
    if (before !== null && !isSame) {
      this.notice(`The store has begun a new history, ${position.lineage.slice(0, 8)}: the log was cleared.`)
      this.reset(); this.go(null)
    }
    this.headsSoon()
  }
  /** The position of a state of history: the end of a batch. */
  shown(position) { this.at = position.revision; this.headsSoon() }
  pruned(error) {
    const go = () => { this.notice(''); this.go(error.oldest) }
    this.notice(error.message, error.oldest != null && button(`Go to revision ${group(error.oldest)}`, go))
  }
  tick() {
    if (document.hidden || !this.store) return
    this.ticks += 1; this.tree.refresh()
    if (this.ticks % 2) return
    this.log.drawChips(); this.log.poll()
    this.detail.refresh(); this.timeline.refresh()
    this.headsSoon()
    if (this.ticks % 20 === 0) this.awaitHistory()
    if (this.ticks % 20 === 0 || (view.name === 'peers' && this.ticks % 4 === 0)) this.peers.refresh()
  }
  /** Shows the state at the end of the last batch at or before a revision; null shows the live state. */
  async go(revision, id = null) {
    const isBeyond = revision > (this.live.revision ?? Infinity)
    if (isBeyond) this.toast(`There is no revision ${group(revision)} yet; showing live`)
    if (revision == null || isBeyond) {
      Object.assign(view, { at: null, selected: null, follow: true, span: 'batch' }); this.refresh()
      return this.log.list.scrollToEnd()
    }
    if (!this.has('history')) return this.toast(`Only the live state is known: ${this.noHistory}`)
    const { rows, memory } = this.log, known = rows === memory ? rows.after(revision) - 1 : -1
    const at = known >= 0 && !rows.gap[known] ? rows.to[known] : revision
    Object.assign(view, { at, selected: id, follow: false })
    this.at = this.atTime = null; this.refresh()
    const i = await this.log.locate(at)
    if (at !== view.at) return
    if (i >= 0) {
      if (rows === memory) view.at = rows.to[i]
      view.selected ??= rows.idOf(i); this.atTime = rows.time[i]
    }
    if (view.selected) this.log.reveal()
    this.refresh()
  }
  async step(direction) {
    if (view.at == null && direction > 0) return
    const next = await this.log.neighbour(view.at ?? this.live.revision, direction)
    if (next !== null || direction > 0) this.go(next)
    else this.toast('No earlier batch is known')
  }
  setFilter(text) {
    view.q = $('log-filter').value = text; this.log.applyFilter()
    this.refresh()
  }
  find(text) { view.find = $('tree-filter').value = text; this.refresh(); return this.tree.search() }
  showActions(path) { this.setFilter('path:' + path) }
  blame(path = view.path) { Object.assign(view, { path, pane: 'blame' }); this.refresh() }
  show(name) { view.name = name; this.refresh(); this.peers.refresh() }
  async copying(make, name) {
    try {
      this.copied = await make(); await write(this.copied)
      this.toast('copied ' + name)
    } catch (error) { this.notice(`${name}: ${error.message}`) }
  }
  toast(text) {
    setText($('toast'), text); $('toast').hidden = false
    clearTimeout(this.toastTimer)
    this.toastTimer = setTimeout(() => { $('toast').hidden = true }, 2500)
  }
  notice(text, more) {
    $('notice').hidden = !text
    const close = button('Close', () => this.notice(''))
    $('notice').replaceChildren(element('span', { class: 'grow' }, printable(text)), ...[more].filter(Boolean), close)
  }
  refresh() {
    for (const name of ['state', 'peers']) {
      $('view-' + name).hidden = view.name !== name
      $('tab-' + name).setAttribute('aria-selected', view.name === name)
    }
    $('time').hidden = view.name !== 'state'; this.heads()
    this.detail.refresh()
    for (const list of [this.log.list, this.tree.list, this.peers.list, this.timeline]) list.schedule()
    saveURL()
  }
  /** At most 15 times a second. */
  headsSoon() { this.headsTimer ??= setTimeout(() => { this.headsTimer = null; this.heads() }, 66) }
  heads() {
    const { revision, epoch, lineage } = this.live, { status, why } = this.status, isHistory = view.at != null, now = performance.now()
    this.arrivals = this.arrivals.filter(([time]) => now - time < RATE_WINDOW)
    const rate = this.arrivals.reduce((sum, [, count]) => sum + count, 0) * 1000 / RATE_WINDOW
    const texts = { 'f-rev': group(revision), 'f-epoch': group(epoch), 'f-lineage': lineage?.slice(0, 8) ?? UNKNOWN,
      'f-rate': status !== 'live' ? UNKNOWN : rate < 10 ? rate.toFixed(1) : group(Math.round(rate)), 'f-lag': duration(this.delay),
      mode: this.has('send') ? 'sending allowed' : 'read only',
      live: [isHistory && 'history', !(isHistory && status === 'live') && status].filter(Boolean).join(', ') }
    for (const [id, text] of Object.entries(texts)) setText($(id), text)
    $('live').className = 'live' + (isHistory ? ' hist' : status === 'live' ? '' : ' stale')
    $('live').title = why ?? ''; $('mode').classList.toggle('on', this.has('send'))
    if (document.activeElement !== $('goto')) $('goto').value = group(view.at ?? revision)
    $('golive').setAttribute('aria-pressed', !isHistory)
    for (const pane of [this.log, this.tree]) pane.heads()
    $('history').hidden = !isHistory
    if (isHistory) this.banner(this.at ?? view.at)
  }
  banner(at) {
    const time = this.atTime ? ` of ${clock(this.atTime)} UTC` : ''
    setText($('viewed'), `Viewing revision ${group(at)}${time}, ${group(Math.max(0, this.live.revision - at))} before live`)
    if (this.commandsAt === at) return
    this.commandsAt = at
    const title = 'Copy this command, for the machine with the journal'
    const copy = command => element('button', { title, onclick: () => this.copying(() => command, command) }, command)
    $('commands').replaceChildren(...journalCommands(this.journal, at).map(copy))
  }
}

window.inspector = new Inspector()
