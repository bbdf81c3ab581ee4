import assert from 'node:assert/strict'
import { createServer, get } from 'node:http'
import { test } from 'node:test'
import { Chromium, until } from './chromium.mjs'
import { live } from './inspector.mjs'
import { Cluster, sampled } from './processes.mjs'

/** A server of another origin, whose only page is empty. */
async function foreignServer(t) {
  const server = createServer((request, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>another site</title><body>'))
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  t.after(() => new Promise(done => { server.close(done); server.closeAllConnections() }))
  return server.address().port
}

/** A request with exactly these headers. */
function ask(url, headers) {
  return new Promise((done, fail) => get(url, { headers }, async response => {
    let body = ''
    for await (const part of response) body += part
    done({ status: response.statusCode, allowed: response.headers['access-control-allow-origin'], body })
  }).on('error', fail))
}

test('Rebound names, foreign pages, requests without the token and frames are refused', async t => {
  const [cluster, browser, port] = await Promise.all([Cluster.start(t, { gateway: ['--allow-send'] }),
    Chromium.start(t, { hosts: 'MAP evil.test 127.0.0.1, MAP other.test 127.0.0.1' }), foreignServer(t)])
  await cluster.send([sampled('web-1', 1)])
  const { address, store, token } = cluster, gatewayPort = new URL(address).port
  const route = `/v1/stores/${store}/state?path=`

  await t.test('A name that resolves to this machine gets neither the page nor data', async () => {
    const tab = await browser.tab(`http://evil.test:${gatewayPort}/#token=${token}`)
    assert.equal(await tab.run(() => typeof window.inspector), 'undefined')
    assert.match(await tab.run(() => document.body.innerText), /421|host/i)
    const answer = await tab.run(async (route, token) => {
      const answer = await fetch(route, { headers: { Authorization: `Bearer ${token}` } })
      return [answer.status, await answer.text()]
    }, route, token)
    assert.equal(answer[0], 421)
    assert.doesNotMatch(answer[1], /position|web-1/)
    await tab.close()
  })

  await t.test('A page of another origin can neither read nor send, even with the token', async () => {
    for (const origin of [`http://other.test:${port}`, `http://127.0.0.1:${port}`]) {
      const tab = await browser.tab(origin)
      const results = await tab.run(async (address, route, store, token) => {
        const attempt = async (url, init) => {
          try {
            const answer = await fetch(address + url, init)
            return `${answer.type} ${answer.status}`
          } catch (error) { return error.name }
        }
        const authorization = { Authorization: `Bearer ${token}` }
        const body = JSON.stringify({ session: 'cd'.repeat(16), opened: '', number: 1, lowest: 1, action: 'NoteAdded', payload: { text: 'foreign' } })
        return {
          read: await attempt(route, { headers: authorization }),
          simple: await attempt(route),
          send: await attempt(`/v1/stores/${store}/actions`, { method: 'POST', headers: { ...authorization, 'Content-Type': 'application/json', Statecast: '1' }, body }),
          form: await attempt(`/v1/stores/${store}/actions`, { method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body }),
          stream: await attempt(`/v1/stores/${store}/events?log=1`, { headers: authorization }),
        }
      }, address, route, store, token)
      assert.deepEqual(results, { read: 'TypeError', simple: 'TypeError', send: 'TypeError', form: 'opaque 0', stream: 'TypeError' }, origin)
      await tab.close()
    }
    assert.deepEqual((await cluster.recorded()).map(({ action }) => action), ['HostSampled'])
    // What browsers send for a page of another origin, also without Origin.
    for (const headers of [{ Origin: 'http://other.test' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const { status, allowed, body } = await ask(address + route, { ...headers, Authorization: `Bearer ${token}` })
      assert.deepEqual([status, JSON.parse(body).error.code, allowed], [403, 'origin', undefined], JSON.stringify(headers))
    }
  })

  await t.test('Without the token the page asks for it, and no request has an answer with data', async () => {
    for (const headers of [{}, { Authorization: 'Bearer wrong' }, { Authorization: `Basic ${token}` }, { Cookie: `token=${token}` }]) {
      const answer = await fetch(address + route, { headers })
      assert.deepEqual([answer.status, (await answer.json()).error.code], [401, 'token'])
    }
    const tab = await browser.tab(address, { isolated: true })
    await tab.until('the page asks for the token', () => document.querySelector('#token-dialog').open && /token/.test(document.querySelector('#token-why').innerText))
    assert.equal(await tab.run(() => document.querySelectorAll('#tree .row:not(.more), #log .row:not(.gap)').length), 0)
    await tab.type('wrong')
    await tab.key('Enter')
    await tab.until('the page says that the token is refused', () => document.querySelector('#token-dialog').open && /is not the gateway's/.test(document.querySelector('#token-why').innerText))
    await tab.run(() => { document.querySelector('#token').value = ''; document.querySelector('#token').focus() })
    await tab.type(token)
    await tab.key('Enter')
    await live(tab)
    assert.deepEqual(await tab.run(token => [location.href.includes(token), document.cookie, localStorage.length, document.documentElement.outerHTML.includes(token)], token), [false, '', 0, false])
    await tab.close()
  })

  await t.test('The token leaves the address at once', async () => {
    const tab = await browser.tab(cluster.url(), { isolated: true })
    await live(tab)
    assert.ok(!(await tab.run(() => location.href)).includes(token))
    assert.equal(await tab.run(() => document.referrer), '')
    await tab.close()
  })

  await t.test('A page of another origin, or of the same one, cannot show the inspector in a frame', async () => {
    for (const origin of [`http://other.test:${port}`, `http://127.0.0.1:${port}`]) {
      const tab = await browser.tab(origin)
      await tab.run(address => {
        const frame = document.createElement('iframe')
        frame.src = address
        frame.onload = () => { window.isLoaded = true }
        document.body.append(frame)
      }, address)
      await tab.until('the frame has an answer', () => window.isLoaded)
      const { frameTree } = await tab.send('Page.getFrameTree')
      // A blocked frame shows the browser's error.
      for (const { frame } of frameTree.childFrames ?? []) assert.ok(frame.unreachableUrl !== undefined || frame.url.startsWith('chrome-error:'), JSON.stringify(frame))
      assert.ok(tab.violations.length + tab.errors.filter(error => /frame-ancestors|frame/i.test(error)).length > 0, 'the browser names the policy')
      await tab.close()
    }
  })

  await t.test('The page\'s policy permits no script, style or connection of others, and none in the page', async () => {
    const answer = await fetch(address), policy = answer.headers.get('Content-Security-Policy')
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), policy)
    assert.equal(answer.headers.get('X-Content-Type-Options'), 'nosniff')
    assert.equal(answer.headers.get('Referrer-Policy'), 'no-referrer')
    const tab = await browser.tab(cluster.url())
    await live(tab)
    assert.deepEqual(tab.violations, [])
    await tab.run(() => {
      const script = document.createElement('script')
      script.textContent = 'window.isInjected = true'
      document.body.append(script)
      document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.isInjected = true">')
    })
    await until('the browser reports it', () => tab.violations.length > 0)
    assert.equal(await tab.run(() => window.isInjected), undefined)
    assert.equal(await tab.run(() => fetch('http://127.0.0.1:9/').then(() => 'sent', error => error.name)), 'TypeError')
    await tab.close()
  })
})
