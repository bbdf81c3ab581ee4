import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Chromium } from './chromium.mjs'
import { live, open, stage } from './inspector.mjs'
import { reduced } from './png.mjs'
import { Cluster, noted, ROOT, sampled } from './processes.mjs'

const MAX_FIRST_PAINT = 300, MAX_BYTES = 200 * 1024

test(`The page that the gateway was built with paints in less than ${MAX_FIRST_PAINT} ms, and loads nothing from elsewhere`, async t => {
  const [cluster, browser] = await Promise.all([Cluster.start(t, { pages: false }), Chromium.start(t)])
  await cluster.send([...Array(40)].map((_, number) => sampled(`web-${number % 8}`, number)))
  const paints = []
  for (let load = 0; load < 7; load++) {
    const tab = await open(browser, cluster.url(), { isolated: true })
    const { paint, resources } = await tab.run(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.getEntriesByName('first-paint')[0]?.startTime,
      resources: performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin),
    }))
    paints.push(paint)
    assert.ok(resources.every(origin => origin === cluster.address || origin === 'null'), `${resources}`)
    assert.deepEqual(tab.errors, [])
    await tab.close()
  }
  paints.sort((a, b) => a - b)
  t.diagnostic(`first paint: ${paints.map(paint => paint.toFixed(0)).join(', ')} ms`)
  assert.ok(paints[3] < MAX_FIRST_PAINT, `the median first paint is ${paints[3]} ms`)
})

test('A screenshot of a fleet can be made', async t => {
  const hosts = ['web-1', 'web-2', 'web-3', 'web-4', 'db-1', 'db-2', 'cache-1', 'queue-1', 'build-1', 'build-2']
  const texts = [['web-1', 'new disk on Friday'], ['db-2', 'replica is being rebuilt'], [null, 'release 2.4.0 is out'], ['build-1', 'kernel update tonight'], ['queue-1', 'watch the backlog']]
  const { cluster, tab } = await stage(t, { view: 'path=/hosts/web-1&open=/hosts/web-1/latest,/totals', gateway: ['--allow-send'] })
  for (let round = 0; round < 12; round++) {
    await cluster.send(hosts.map((host, index) => sampled(host, round * 7 + index, 0.2 + index / 14)))
    const [host, text] = texts[round % texts.length]
    if (round % 2) await cluster.send([noted(text, host ?? undefined)])
    if (round === 6) await cluster.send([['HostRetired', { host: 'build-2' }], ['NoteAdded', { text: 7 }]])
  }
  const flow = cluster.flow(120, number => number % 10 ? sampled(hosts[number % 9], 90 + number) : noted(texts[number % 5][1], texts[number % 5][0] ?? undefined))
  await tab.until('there is a rate, and changes are shown', () => inspector.log.memory.count > 170 && document.querySelector('#detail .diff') && Number(document.querySelector('#f-rate').textContent) > 1)
  await tab.key('b')
  await tab.until('blame is shown', () => document.querySelectorAll('#detail tbody tr').length > 3)
  await live(tab)
  await tab.until('the slider is drawn', () => inspector.timeline.data?.buckets.length > 3)
  const image = reduced(await tab.screenshot())
  await flow.end()
  assert.deepEqual([image.readUInt32BE(16), image.readUInt32BE(20)], [1440, 900])
  assert.ok(image.length <= MAX_BYTES, `the image has ${image.length} bytes`)
  if (process.env.SCREENSHOT) writeFileSync(join(ROOT, 'docs/inspector.png'), image)
  t.diagnostic(`the image has ${(image.length / 1024).toFixed(0)} KiB`)
  assert.deepEqual(tab.errors, [])
})
