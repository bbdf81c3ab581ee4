// The inspector: connects the panes with the gateway, the URL, and the keyboard.
import { Statecast } from './statecast.js'
import { readURL, saveURL, view } from './view.js'
import { Log } from './log.js'
import { Tree } from './tree.js'
import { Detail } from './detail.js'
import { Send } from './send.js'
import { Timeline } from './timeline.js'
import { Peers } from './peers.js'
import { journalCommands, quoted } from './copy.js'
import { listen, Menu } from './input.js'
import { $, button, clock, duration, element, group, json, printable, setText, UNKNOWN } from './format.js'

const TOKEN = 'statecast token'

class Inspector {
  view = view
  features = []
  live = { revision: null, epoch: null, lineage: null }
  status = { status: 'connecting', why: null }
  arrivals = []

  constructor() {
    this.log = new Log(this)
    this.tree = new Tree(this)
    this.send = new Send(this)
    this.detail = new Detail(this)
    this.timeline = new Timeline(this)
    this.peers = new Peers(this)
    this.menu = new Menu(this)
    listen(this)
    $('store').addEventListener('change', () => { location.hash = `#/${encodeURIComponent($('store').value)}` })
    addEventListener('hashchange', () => this.begin())
    $('token-form').addEventListener('submit', event => {
      event.preventDefault()
      sessionStorage.setItem(TOKEN, $('token').value.trim())
      $('token-dialog').close()
      this.begin()
    })
    setInterval(() => this.tick(), Tree.interval)
    this.begin()
  }

  // MARK: Connection

  async begin() {
    const [, token] = location.hash.match(/[#&?]token=([^&]*)/) ?? []
    if (token) {
      sessionStorage.setItem(TOKEN, decodeURIComponent(token))
      history.replaceState(null, '', location.hash.replace(/[#&?]token=[^&]*/, '') || location.pathname)
    }
    clearTimeout(this.retry)
    readURL()
    $('log-filter').value = view.q
    $('tree-filter').value = view.find
    const saved = sessionStorage.getItem(TOKEN)
    if (!saved) return this.askToken('This gateway needs a token. It prints a link with it when it starts.')
    if (saved !== this.token) this.client = new Statecast(new URL('.', location.href), { token: this.token = saved })
    try {
      const { stores } = await this.client.stores()
      if (!stores.length) throw Error('The gateway follows no store')
      this.notice('')
      $('store').replaceChildren(...stores.map(({ store }) => element('option', { value: store }, printable(store))))
      const chosen = stores.find(({ store }) => store === view.store)
      if (view.store && !chosen) this.notice(`This gateway has no store “${view.store}”.`)
      this.open(chosen ?? stores[0])
    } catch (error) {
      if (error.status === 401) return this.refused(error)
      this.notice(`${error.message}. The page tries again.`)
      this.retry = setTimeout(() => this.begin(), 1000 * (error.retryAfter ?? 2))
    }
  }

  askToken(message) {
    setText($('token-why'), message)
    if (!$('token-dialog').open) $('token-dialog').showModal()
  }
  refused(error) {
    this.following?.close()
    sessionStorage.removeItem(TOKEN)
    this.token = null
    this.askToken(`The gateway refuses this token: ${error.message}`)
  }

  open({ store, features, position, status, why, since }) {
    const isOther = store !== this.store
    view.store = this.store = $('store').value = store
    document.title = `${printable(store)} – Statecast inspector`
    this.features = features
    this.status = { status, why, since }
    $('tab-send').hidden = !this.has('send')
    if (!this.has('send') && view.pane === 'send') view.pane = 'change'
    if (isOther) this.live = { revision: null, epoch: null, lineage: null }
    this.linked = view.lineage
    this.reset()
    if (position) this.seen(position)
    this.follow()
    this.restore()
  }

  /** Shows what the URL names. */
  async restore() {
    this.tree.restore(view.open)
    this.refresh()
    if (view.at != null) await this.go(view.at)
    if (view.path) await this.tree.focus(view.path)
    else this.tree.list.schedule()
    if (view.find) await this.tree.search()
    this.timeline.refresh()
    this.refreshHealth()
  }

  reset() {
    for (const pane of [this.log, this.tree, this.timeline, this.peers]) pane.reset()
    this.arrivals = []
    this.send.connect()
    this.detail.forget()
  }

  follow() {
    this.following?.close()
    let wasOffline = false
    this.following = this.client.follow(this.store, [], null, {
      onLog: (actions, { skipped }) => this.arrived(actions, skipped),
      onStatus: (status, { why, since, error }) => {
        if (error?.status === 401) return this.refused(error)
        if (wasOffline) this.log.reconnected()
        wasOffline = status === 'offline'
        if (status === 'live') this.checkPosition()
        this.status = { status, since, why: why ?? error?.message ?? null }
        this.heads()
      },
    })
  }
  /** A new lineage or epoch is not part of the log. */
  checkPosition() { this.get('state', { path: '', limit: 1 }).then(({ position }) => this.seen(position), () => {}) }

  has(feature) { return this.features.includes(feature) }

  async get(route, params) {
    const { store } = this
    try {
      const answer = await this.client.get(store, route, params)
      if (store !== this.store) throw Error('The page shows another store now')
      return answer
    } catch (error) {
      if (error.status === 401) this.refused(error)
      error.isTemporary = error.status == null || error.status === 429 || error.status >= 500
      throw error
    }
  }

  // MARK: What arrives

  arrived(actions, skipped) {
    const last = this.log.append({ actions, skipped })
    if (!last) return
    const revision = last.update ? last.update.to : last.revision
    if (!(revision <= this.live.revision)) this.live.revision = revision
    this.delay = last.delay ?? null
    this.arrivals.push([performance.now(), actions.length + skipped])
    this.headsSoon()
  }

  /** The live position in an answer. */
  seen(position) {
    const before = this.live.lineage
    if (before === position.lineage) {
      this.live = { ...position, revision: Math.max(position.revision, position.epoch > this.live.epoch ? 0 : this.live.revision) }
      return this.headsSoon()
    }
    this.live = position
    view.lineage = position.lineage
    if (this.linked && !position.lineage.startsWith(this.linked)) {
      const shown = view.at == null ? '' : ` Revision ${group(view.at)} of the link is not shown.`
      this.notice(`This link is of another history, ${this.linked.slice(0, 8)}: the store now has ${position.lineage.slice(0, 8)}.${shown}`)
      view.at = null
    }
    this.linked = null
    if (before !== null) {
      this.notice(`The store has begun a new history, ${position.lineage.slice(0, 8)}: the log was cleared.`)
      this.reset()
      this.go(null)
    }
    this.refresh()
  }

  /** The position of a state of history: the end of a batch. */
  shown(position) {
    this.at = position
    this.heads()
  }

  pruned(error) {
    if (error.oldest == null || view.at == null) return this.notice(error.message)
    this.notice(error.message, button(`Go to revision ${group(error.oldest)}`, () => { this.notice(''); this.go(error.oldest) }))
  }

  tick() {
    if (document.hidden || !this.store || !this.client) return
    this.count = (this.count ?? 0) + 1
    this.tree.refresh()
    if (this.count % 2) {
      this.log.drawChips()
      this.log.pollFound()
      this.detail.refresh()
      this.timeline.refresh()
      this.timeline.schedule()
      this.headsSoon()
    }
    if (this.count % 20 === 0 || (view.name === 'peers' && this.count % 4 === 0)) this.refreshHealth()
  }
  async refreshHealth() {
    if (view.name === 'peers') await this.peers.refresh()
    await this.peers.refreshHealth(view.name === 'peers')
  }

  // MARK: Navigation

  /** Shows the state at the end of the last batch at or before a revision; null shows the live state. */
  async go(revision, id = null) {
    if (revision == null || revision > (this.live.revision ?? Infinity)) {
      Object.assign(view, { at: null, selected: null, follow: true, span: 'batch' })
      this.at = null
      this.refresh()
      return this.log.list.scrollToEnd()
    }
    if (!this.has('history')) return this.toast('This gateway has no journal: only the live state is known')
    const { rows } = this.log, known = rows.after(revision) - 1
    const isKnown = known >= 0 && !rows.gap[known] && rows === this.log.memory
    Object.assign(view, { at: isKnown ? rows.to[known] : revision, selected: id, follow: false })
    const { at } = view
    if (this.at?.revision !== at) this.at = null
    this.refresh()
    const i = await this.log.locate(at)
    if (at !== view.at) return
    if (i >= 0) {
      if (rows === this.log.memory) view.at = rows.to[i]
      view.selected ??= rows.idOf(i)
      this.atTime = rows.time[i]
    } else this.atTime = null
    if (view.selected) this.log.reveal()
    this.refresh()
  }

  async step(direction) {
    if (view.at == null && direction > 0) return
    const next = await this.log.neighbour(view.at ?? this.live.revision, direction)
    if (next !== null) this.go(next)
    else if (direction > 0) this.go(null)
    else this.toast('No earlier batch is known')
  }
  first() {
    if (this.timeline.data) this.go(this.timeline.data.oldest)
  }

  setFilter(text) {
    view.q = $('log-filter').value = text
    this.log.applyFilter()
    this.log.drawChips()
    this.refresh()
  }
  find(text) {
    view.find = $('tree-filter').value = text
    const done = this.tree.search()
    this.refresh()
    return done
  }
  showActions(path) { this.setFilter('path:' + path) }
  blame(path = view.path) {
    view.path = path
    view.pane = 'blame'
    this.refresh()
  }
  show(name) {
    view.name = name
    this.refresh()
    if (name === 'peers') this.refreshHealth()
  }

  // MARK: Texts

  async copying(make, name) {
    try {
      const text = this.copied = await make()
      await write(text)
      this.toast('copied ' + name)
    } catch (error) { this.notice(`${name}: ${error.message}`) }
  }
  copyValue(path) {
    return this.copying(async () => json((await this.get('state', { path, whole: true, at: view.at ?? undefined })).value, '', '  '), 'the value')
  }
  replicaCommand(path) { return `statecast-replica --store ${quoted(this.store)} --select ${quoted(path)}` }

  toast(text) {
    setText($('toast'), text)
    $('toast').hidden = false
    clearTimeout(this.toastTimer)
    this.toastTimer = setTimeout(() => { $('toast').hidden = true }, 1500)
  }
  notice(text, ...more) {
    $('notice').hidden = !text
    $('notice').replaceChildren(element('span', {}, printable(text)), element('span', { class: 'grow' }), ...more, button('Close', () => this.notice('')))
  }

  // MARK: Drawing

  refresh() {
    for (const name of ['state', 'peers']) {
      $('view-' + name).hidden = view.name !== name
      $('tab-' + name).setAttribute('aria-selected', view.name === name)
    }
    $('time').hidden = view.name !== 'state'
    this.heads()
    this.detail.refresh()
    for (const list of [this.log.list, this.tree.list, this.peers.list, this.timeline]) list.schedule()
    saveURL()
  }

  /** At most 15 times a second. */
  headsSoon() { this.headsTimer ??= setTimeout(() => { this.headsTimer = null; this.heads() }, 66) }
  heads() {
    const { revision, epoch, lineage } = this.live, now = performance.now()
    this.arrivals = this.arrivals.filter(([time]) => now - time < 3000)
    const rate = this.arrivals.reduce((sum, [, count]) => sum + count, 0) / 3
    setText($('f-rev'), group(revision))
    setText($('f-epoch'), group(epoch))
    setText($('f-lineage'), lineage?.slice(0, 8) ?? UNKNOWN)
    $('f-lineage').title = lineage ?? ''
    setText($('f-rate'), this.status.status === 'live' ? rate < 10 ? rate.toFixed(1) : group(Math.round(rate)) : UNKNOWN)
    setText($('f-lag'), duration(this.delay))
    const { status, why } = this.status, isHistory = view.at != null
    $('live').className = 'live' + (isHistory ? ' hist' : status === 'live' ? '' : ' stale')
    setText($('live'), (isHistory ? 'history' : '') + (isHistory && status !== 'live' ? ', ' : '') + (isHistory && status === 'live' ? '' : status))
    $('live').title = why ?? ''
    setText($('mode'), this.has('send') ? 'sending allowed' : 'read only')
    $('mode').classList.toggle('on', this.has('send'))
    if (document.activeElement !== $('goto')) $('goto').value = group(view.at ?? revision)
    $('golive').setAttribute('aria-pressed', !isHistory)
    this.log.heads()
    this.tree.heads()
    this.banner()
  }

  banner() {
    const at = this.at?.revision ?? view.at, behind = this.live.revision - at
    const key = view.at == null ? '' : [at, this.atTime].join()
    $('history').hidden = view.at == null
    setText($('behind'), `, ${group(Math.max(0, behind))} before live`)
    if (key === this.bannerKey) return
    this.bannerKey = key
    setText($('viewed'), group(at))
    setText($('viewed-time'), this.atTime ? ` of ${clock(this.atTime)} UTC` : '')
    const commands = journalCommands(at, null)
    $('commands').replaceChildren(...commands.map(command => element('button',
      { title: 'Copy this command; DIR is the directory of the journal', onclick: () => this.copying(() => command, command) }, command)))
  }
}

async function write(text) {
  try { return await navigator.clipboard.writeText(text) } catch { /* not a secure context, or not permitted */ }
  const area = element('textarea', { class: 'sr', 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

window.inspector = new Inspector()
