// A driver of headless Chromium: its protocol over the WebSocket of Node, without packages.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { start } from './children.mjs'

/** Only what hangs takes that long, in milliseconds. */
export const HANG = 1000 * Number(process.env.HANG ?? 60)
const POLL = 25

const pause = time => new Promise(done => setTimeout(done, time))

/** Polls until `read` returns something other than undefined, null or false; names `what` if that does not happen. */
export async function until(what, read, describe = () => '') {
  const end = performance.now() + HANG
  for (;;) {
    const value = await read()
    if (value !== undefined && value !== null && value !== false) return value
    if (performance.now() > end) throw Error(`This did not happen in ${HANG / 1000} s: ${what}. ${await describe()}`)
    await pause(POLL)
  }
}

/** One connection with the browser, over which each tab has a session. */
class Connection {
  waiting = new Map()
  listeners = new Map()
  last = 0

  static async open(url) {
    if (typeof WebSocket === 'undefined') throw Error('This Node has no WebSocket: use Node 22, or Node 20 with --experimental-websocket')
    const connection = new Connection()
    connection.socket = new WebSocket(url)
    await new Promise((done, fail) => {
      connection.socket.onopen = done
      connection.socket.onerror = event => fail(Error(`Chromium refuses the connection: ${event.message ?? 'unknown'}`))
    })
    connection.socket.onmessage = ({ data }) => connection.received(JSON.parse(data))
    connection.socket.onclose = () => connection.ended()
    return connection
  }

  send(method, params = {}, sessionId) {
    if (this.isEnded) return Promise.reject(Error(`Chromium has ended before ${method}`))
    const id = ++this.last
    this.socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise((done, fail) => this.waiting.set(id, { done, fail, method }))
  }

  received({ id, result, error, method, params, sessionId }) {
    if (id === undefined) return this.listeners.get(sessionId)?.(method, params)
    const { done, fail, method: sent } = this.waiting.get(id)
    this.waiting.delete(id)
    if (error) fail(Error(`${sent}: ${error.message} ${error.data ?? ''}`))
    else done(result)
  }

  ended() {
    this.isEnded = true
    for (const { fail, method } of this.waiting.values()) fail(Error(`The connection with Chromium ended during ${method}`))
    this.waiting.clear()
  }
}

export class Chromium {
  /** Starts a browser that ends with the test `t`. `hosts` are rules such as `MAP evil.test 127.0.0.1`. */
  static async start(t, { hosts } = {}) {
    const browser = new Chromium()
    const profile = mkdtempSync(join(tmpdir(), 'statecast-chromium.'))
    const isRoot = process.getuid?.() === 0
    browser.process = start(process.env.CHROMIUM ?? 'chromium', [
      '--headless', ...isRoot ? ['--no-sandbox'] : [], '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-background-timer-throttling',
      '--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows', '--enable-precise-memory-info',
      `--user-data-dir=${profile}`, '--window-size=1440,900', '--remote-debugging-port=0',
      ...hosts ? [`--host-resolver-rules=${hosts}`] : [], 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'pipe'] })
    const exited = new Promise(done => browser.process.on('exit', done))
    t.after(async () => {
      if (browser.connection) browser.connection.send('Browser.close').catch(() => {})
      else browser.process.kill()
      const timer = setTimeout(() => browser.process.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(timer)
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    })
    browser.connection = await Connection.open(await address(browser.process))
    return browser
  }

  /** Opens a tab. Tabs of one context share its storage; `isolated` makes another context. */
  async tab(url = 'about:blank', { isolated = false } = {}) {
    const { browserContextId } = isolated ? await this.connection.send('Target.createBrowserContext') : {}
    const { targetId } = await this.connection.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const tab = await this.attach(targetId)
    if (url !== 'about:blank') await tab.go(url)
    return tab
  }

  async attach(targetId) {
    const { sessionId } = await this.connection.send('Target.attachToTarget', { targetId, flatten: true })
    const tab = new Tab(this.connection, sessionId, targetId)
    this.connection.listeners.set(sessionId, (method, params) => tab.received(method, params))
    for (const domain of ['Runtime', 'Log', 'Page', 'Audits', 'Network']) await tab.send(`${domain}.enable`)
    await tab.size(1440, 900)
    return tab
  }

  /** The tab that `open` opens from a page. */
  async opened(open) {
    const pages = async () => (await this.connection.send('Target.getTargets')).targetInfos.filter(({ type }) => type === 'page')
    const known = new Set((await pages()).map(({ targetId }) => targetId))
    await open()
    const target = await until('a page opens a tab', async () => (await pages()).find(({ targetId }) => !known.has(targetId)))
    return this.attach(target.targetId)
  }
}

function address(browser) {
  return new Promise((done, fail) => {
    let output = ''
    browser.on('error', cause => fail(Error('Chromium cannot be started: install it, or name it in CHROMIUM', { cause })))
    browser.on('exit', code => fail(Error(`Chromium ended with ${code}: ${output}`)))
    browser.stderr.on('data', data => {
      output = (output + data).slice(-10_000)
      const [, url] = output.match(/DevTools listening on (ws:\S+)/) ?? []
      if (url) done(url)
    })
  })
}

const KEYS = {
  Enter: [13, '\r'], Tab: [9], Escape: [27], Backspace: [8], Delete: [46], ' ': [32, ' '], PageUp: [33], PageDown: [34], End: [35], Home: [36],
  ArrowLeft: [37], ArrowUp: [38], ArrowRight: [39], ArrowDown: [40], F10: [121], ContextMenu: [93],
}
const MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

export class Tab {
  /** Uncaught errors, logged errors and failed requests that the browser reports as errors. */
  errors = []
  /** Violations of the policy for content. */
  violations = []
  /** Methods and URLs of all requests. */
  requests = []
  handlers = new Map()

  constructor(connection, session, target) { Object.assign(this, { connection, session, target }) }

  send(method, params) { return this.connection.send(method, params, this.session) }
  on(method, handle) { this.handlers.set(method, handle) }

  received(method, params) {
    if (method === 'Runtime.exceptionThrown') {
      const { exception, text } = params.exceptionDetails
      this.errors.push(exception?.description ?? text)
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'assert'].includes(params.type)) {
      this.errors.push(params.args.map(({ value, description }) => value ?? description).join(' '))
    }
    if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(`${params.entry.text} ${params.entry.url ?? ''}`.trim())
    if (method === 'Audits.issueAdded' && params.issue.code === 'ContentSecurityPolicyIssue') {
      this.violations.push(JSON.stringify(params.issue.details.contentSecurityPolicyIssueDetails))
    }
    if (method === 'Network.requestWillBeSent') this.requests.push({ method: params.request.method, url: params.request.url })
    this.handlers.get(method)?.(params)
  }

  async go(url) {
    const { errorText } = await this.send('Page.navigate', { url })
    if (errorText) throw Error(`${url}: ${errorText}`)
    // A change of the fragment alone loads nothing.
    await this.until('the page has loaded', () => document.readyState === 'complete')
  }
  async reload() {
    const { frameTree } = await this.send('Page.getFrameTree')
    const loaded = new Promise(done => this.on('Page.frameNavigated', ({ frame }) => { if (frame.id === frameTree.frame.id) done() }))
    await this.send('Page.reload')
    await loaded
    await this.until('the page has loaded', () => document.readyState === 'complete')
  }
  close() { return this.connection.send('Target.closeTarget', { targetId: this.target }) }

  /** The result of a function that runs in the page, or of an expression: at most 4 MiB, as Node ends the connection at a larger message. */
  async run(code, ...values) {
    const expression = typeof code === 'function' ? `(${code})(...${JSON.stringify(values)})` : code
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true, userGesture: true })
    if (exceptionDetails) throw Error(`${exceptionDetails.exception?.description ?? exceptionDetails.text} in ${expression.slice(0, 300)}`)
    return result.value
  }
  /** Waits until a function that runs in the page returns something other than undefined, null or false. */
  until(what, code, ...values) {
    const read = async () => {
      try { return await this.run(code, ...values) } catch (error) {
        // The page is being replaced.
        if (/context was destroyed|Cannot find context|navigated or closed/.test(error.message)) return null
        throw error
      }
    }
    return until(what, read, async () => `The page has the errors ${JSON.stringify(this.errors)} and shows: ${(await this.run('document.body?.innerText ?? ""')).slice(0, 1500)}`)
  }
  /** Waits until the page's value is `expected`. */
  async shows(what, expected, code, ...values) {
    let value
    await until(what, async () => isDeepStrictEqual(value = await this.run(code, ...values), expected),
      () => `Expected ${JSON.stringify(expected)}, got ${JSON.stringify(value)}`)
  }

  // MARK: Input

  /** Presses a key such as `j`, `Enter` or `Shift+F10`. */
  async key(name) {
    const parts = name === '+' ? ['+'] : name.split('+'), key = parts.pop()
    const modifiers = parts.reduce((sum, part) => sum | MODIFIERS[part], 0)
    const [windowsVirtualKeyCode, text = key.length === 1 ? key : undefined] = KEYS[key] ?? [/^[a-z\d]$/i.test(key) ? key.toUpperCase().charCodeAt(0) : 0]
    const code = /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : /^\d$/.test(key) ? `Digit${key}` : key === '/' ? 'Slash' : key
    const event = { key, code, modifiers, windowsVirtualKeyCode }
    await this.send('Input.dispatchKeyEvent', { ...event, type: text ? 'keyDown' : 'rawKeyDown', text })
    await this.send('Input.dispatchKeyEvent', { ...event, type: 'keyUp' })
  }
  async type(text) { for (const character of text) await this.key(character) }

  async mouse(x, y, { button = 'left', count = 1, modifiers = [] } = {}) {
    const event = { x, y, button, clickCount: count, modifiers: modifiers.reduce((sum, name) => sum | MODIFIERS[name], 0) }
    await this.send('Input.dispatchMouseEvent', { ...event, type: 'mousePressed' })
    await this.send('Input.dispatchMouseEvent', { ...event, type: 'mouseReleased' })
  }
  /** Clicks an element, which may still have to appear. */
  async click(selector, { text, ...options } = {}) {
    const box = await this.until(`${selector} ${text ?? ''} is visible`, (selector, text) => {
      const found = [...document.querySelectorAll(selector)].find(each => each.checkVisibility() && (!text || each.textContent.includes(text)))
      const { left, top, width, height } = found?.getBoundingClientRect() ?? {}
      return width > 0 && [left + Math.min(width / 2, 100), top + height / 2]
    }, selector, text)
    await this.mouse(...box, options)
  }

  // MARK: The network, the device

  /** Loses the answers to requests whose URL matches: they reach the server. Returns the bodies of these, and a function that ends it. */
  async loseAnswers(urlPattern, isLost = () => true) {
    const lost = []
    this.on('Fetch.requestPaused', ({ requestId, request }) => {
      if (!isLost(request)) return this.send('Fetch.continueRequest', { requestId })
      lost.push(request.postData)
      return this.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' })
    })
    await this.send('Fetch.enable', { patterns: [{ urlPattern, requestStage: 'Response' }] })
    return { lost, end: () => this.send('Fetch.disable') }
  }
  freeze(isFrozen) { return this.send('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' }) }
  scheme(name) { return this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: name }] }) }
  size(width, height, deviceScaleFactor = 1) {
    return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile: false })
  }

  // MARK: Measures

  async screenshot() { return Buffer.from((await this.send('Page.captureScreenshot', { format: 'png' })).data, 'base64') }

  /** The bytes of the heap after garbage collection. */
  async heap() {
    await this.send('HeapProfiler.enable')
    await this.send('HeapProfiler.collectGarbage')
    return (await this.send('Runtime.getHeapUsage')).usedSize
  }
  nodes() {
    return this.run(() => {
      const walker = document.createTreeWalker(document)
      let count = 1
      while (walker.nextNode()) count++
      return count
    })
  }
  async accessible() {
    await this.send('Accessibility.enable')
    const { nodes } = await this.send('Accessibility.getFullAXTree')
    return nodes.filter(node => !node.ignored).map(({ role, name, properties = [], backendDOMNodeId }) => (
      { role: role?.value, name: name?.value ?? '', node: backendDOMNodeId, ...Object.fromEntries(properties.map(({ name, value }) => [name, value.value])) }))
  }
}
