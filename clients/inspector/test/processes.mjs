// Starts, kills and ends the processes of a test: a primary, a gateway, and what sends actions. Each test has its own folder and ports.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start } from './children.mjs'
import { until } from './chromium.mjs'

const INSPECTOR = dirname(dirname(fileURLToPath(import.meta.url)))
export const ROOT = dirname(dirname(INSPECTOR))
const PROGRAMS = resolve(process.env.PROGRAMS ?? join(ROOT, '.build/debug'))

const program = name => join(PROGRAMS, name)

class Running {
  output = ''

  constructor(name, options, { input = 'ignore' } = {}) {
    this.name = name
    // Nothing of the caller's settings.
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('STATECAST_')))
    this.process = start(program(name), options, { stdio: [input, 'pipe', 'pipe'], env })
    this.exited = new Promise((done, fail) => { this.process.on('error', fail).on('exit', (code, signal) => done(this.code = code ?? signal)) })
    this.exited.catch(error => { this.code = error.message })
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', data => { this.output = (this.output + data).slice(-100_000) })
  }

  /** The first match in the output. */
  line(pattern) {
    return until(`${this.name} prints ${pattern}`, () => {
      const match = this.output.match(pattern)
      if (!match && this.code !== undefined) throw Error(`${this.name} ended with ${this.code}: ${this.output}`)
      return match
    }, () => this.output)
  }
  async end(signal = 'SIGTERM') {
    if (this.code === undefined) this.process.kill(signal)
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 20_000)
    await this.exited.catch(() => {})
    clearTimeout(timer)
  }
  kill() { return this.end('SIGKILL') }
}

/** Runs a program to its end; returns its standard output. */
export async function output(name, options, { input, codes = [0] } = {}) {
  const child = start(program(name), options, { stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] })
  const chunks = { stdout: [], stderr: [] }
  for (const name of ['stdout', 'stderr']) child[name].on('data', data => chunks[name].push(data))
  if (input !== undefined) child.stdin.on('error', () => {}).end(input)
  const code = await new Promise((done, fail) => child.on('error', fail).on('close', done))
  const [text, errors] = [chunks.stdout, chunks.stderr].map(parts => Buffer.concat(parts).toString())
  if (!codes.includes(code)) throw Error(`${name} ${options.join(' ')} ended with ${code}: ${errors || text}`)
  return text
}

const lines = text => text.split('\n').filter(Boolean).map(line => JSON.parse(line))

/** A store with its primary, journal and gateway. All of it ends with the test `t`. */
export class Cluster {
  /**
   * `app` is fleet, counter, or `{ rows, rate }` for wide-primary; `primary` and `gateway` are further options of each. `pages` are the page's
   * present files, unless it is false: then the gateway serves those of its build.
   */
  static async start(t, { app = 'fleet', primary = [], gateway = [], pages = true, history = true } = {}) {
    const cluster = new Cluster()
    cluster.folder = mkdtempSync(join(tmpdir(), 'statecast-inspector.'))
    const { folder } = cluster
    Object.assign(cluster, { app, store: typeof app === 'string' ? app : 'wide', journal: join(folder, 'journal'), children: new Set() })
    t.after(async () => {
      await Promise.all([...cluster.children].map(child => child.end()))
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    })
    if (pages) {
      cluster.pages = join(folder, 'pages')
      cpSync(INSPECTOR, cluster.pages, { recursive: true, filter: path => !path.endsWith('/test') })
      cpSync(join(ROOT, 'clients/js/statecast.js'), join(cluster.pages, 'statecast.js'))
    }
    Object.assign(cluster, { primaryOptions: primary, gatewayOptions: gateway, history })
    await cluster.startPrimary()
    await cluster.startGateway()
    return cluster
  }

  run(...command) {
    const child = new Running(...command)
    this.children.add(child)
    return child
  }

  // MARK: Primary

  /** Starts the primary at the ports of its first start. */
  async startPrimary() {
    const { publish = 'tcp://127.0.0.1:*', actions = 'tcp://127.0.0.1:*' } = this
    const { rows, rate } = this.app
    this.primary = this.app === 'fleet' || this.app === 'counter'
      ? this.run('statecast-primary', ['--app', this.app, '--journal', this.journal, '--publish', publish, '--actions', actions, ...this.primaryOptions])
      : this.run('wide-primary', [String(rows), String(rate), publish, actions, this.journal, ...this.primaryOptions])
    const [, first, second] = await this.primary.line(/ready .*publish=(\S+) actions=(\S+)/)
    Object.assign(this, { publish: first, actions: second })
  }

  // MARK: Gateway

  /** Starts the gateway at the port of its first start. */
  async startGateway() {
    const { child, address } = await this.anotherGateway(this.gatewayOptions, this.address?.replace('http://', ''))
    Object.assign(this, { gateway: child, address })
    this.token ??= readFileSync(join(this.folder, 'token'), 'utf8').trim()
  }
  async anotherGateway(options = [], listen = '127.0.0.1:0') {
    const place = name => join(this.folder, name)
    const child = this.run('statecast-gateway', ['--from', this.publish, '--store', this.store, '--listen', listen,
      '--token-file', place('token'), '--session-secret-file', place('secret'), ...this.history ? ['--journal', this.journal] : [],
      ...this.pages ? ['--pages', this.pages] : [], ...options])
    const [, address] = await child.line(/serving \(address=(http:\/\/[^ )]+)/)
    await until('the gateway has a state', () => fetch(`${address}/readyz`).then(({ status }) => status === 200, () => false), () => child.output)
    return { child, address }
  }

  /** A URL of the page: `view` is what follows the name of the store in its fragment. */
  url(view = '', address = this.address) { return `${address}/#/${this.store}?${view}${view ? '&' : ''}token=${this.token}` }

  /** An answer of the gateway to a program. */
  async get(route, query = {}, address = this.address) {
    const answer = await fetch(`${address}/v1/stores/${this.store}/${route}?${new URLSearchParams(query)}`, { headers: { Authorization: `Bearer ${this.token}` } })
    const body = await answer.json()
    if (!answer.ok) throw Object.assign(Error(`${route}: ${answer.status} ${JSON.stringify(body)}`), { status: answer.status, body })
    return body
  }
  /** All actions that the gateway's history has, oldest first. */
  async recorded() {
    const rows = []
    let before
    do {
      const { actions, next } = await this.get('actions', { limit: 500, ...before ? { before } : {} })
      rows.push(...actions)
      before = next
    } while (before)
    return rows.reverse()
  }

  // MARK: Actions

  /** Sends actions `[name, payload]`, pipelined, and returns their outcomes. */
  async send(actions) {
    const input = actions.map(([action, payload = {}]) => JSON.stringify({ action, payload })).join('\n') + '\n'
    return lines(await output('statecast-send', ['--from', this.publish, '--store', this.store, '--ndjson', '--json'], { input, codes: [0, 2] }))
  }
  /** Sends the actions that `make(number)` returns, one each `interval` milliseconds, until `end()` of the result. */
  flow(interval, make) {
    const child = this.run('statecast-send', ['--from', this.publish, '--store', this.store, '--ndjson', '--json'], { input: 'pipe' })
    let number = 0
    const write = () => {
      const [action, payload] = make(number++)
      child.process.stdin.write(JSON.stringify({ action, payload }) + '\n')
    }
    child.process.stdin.on('error', () => {})
    const timer = setInterval(write, interval)
    return {
      get count() { return number },
      /** Waits for all outcomes. */
      async end() {
        clearInterval(timer)
        child.process.stdin.end()
        await child.exited
        return number
      },
    }
  }

  // MARK: The journal, and its tool

  removeJournal() { rmSync(this.journal, { recursive: true }) }

  async stateAt(revision) { return JSON.parse(await output('statecast-journal', ['state', '--at', String(revision), this.journal])) }
  async diff(from, to) { return JSON.parse(await output('statecast-journal', ['diff', '--from', String(from), '--to', String(to), this.journal])) }
  async journalActions() { return lines(await output('statecast-journal', ['actions', this.journal])) }
}

// MARK: Actions of the fleet

export const sample = (number, share = 0.5) => ({
  load1: 1 + (number % 17) / 10, load5: 1.2, load15: 1.1, cpuCount: 4, cpuSeconds: 34_560 + number * share * 4, diskFreeBytes: 64_424_509_440 - number * 4096,
  uptimeSeconds: 86_400 + number, diskTotalBytes: 107_374_182_400, memoryTotalBytes: 8_589_934_592, memoryAvailableBytes: 5_368_709_120 - (number * 7919 % 1000) * 1_048_576,
})
export const sampled = (host, number, share) => ['HostSampled', { host, sample: sample(number, share) }]
export const noted = (text, host) => ['NoteAdded', host ? { host, text } : { text }]
