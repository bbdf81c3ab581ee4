// Makes an image smaller: 256 colours, which a page of text hardly exceeds.
import { deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The pixels of a PNG with 8 bits for each of 3 or 4 channels, not interlaced, as numbers 0xRRGGBB. */
function decode(image) {
  const data = []
  let width, height, channels
  for (let at = 8; at < image.length;) {
    const length = image.readUInt32BE(at), type = image.toString('latin1', at + 4, at + 8), body = image.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), { 2: 3, 6: 4 }[body[9]]]
    if (type === 'IDAT') data.push(body)
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(data)), stride = width * channels, pixels = new Uint32Array(width * height)
  let above = new Uint8Array(stride)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)], line = new Uint8Array(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)))
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : line[x - channels], up = above[x], corner = x < channels ? 0 : above[x - channels]
      const estimate = left + up - corner, [a, b, c] = [left, up, corner].map(value => Math.abs(estimate - value))
      line[x] += [0, left, up, (left + up) >> 1, a <= b && a <= c ? left : b <= c ? up : corner][filter]
    }
    for (let x = 0; x < width; x++) pixels[y * width + x] = line[x * channels] << 16 | line[x * channels + 1] << 8 | line[x * channels + 2]
    above = line
  }
  return { width, height, pixels }
}

function chunk(type, body) {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]), result = Buffer.alloc(typed.length + 8)
  result.writeUInt32BE(body.length, 0)
  typed.copy(result, 4)
  result.writeUInt32BE(checksum(typed), typed.length + 4)
  return result
}
function checksum(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const distance = (one, other) => [16, 8, 0].reduce((sum, shift) => sum + ((one >> shift & 255) - (other >> shift & 255)) ** 2, 0)

/** At most 256 colours: the most frequent ones, of which no two are almost equal, so that rare ones are among them. */
function choose(pixels) {
  const counts = new Map(), palette = []
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  for (const [pixel] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (palette.length < 256 && palette.every(other => distance(pixel, other) >= (palette.length < 32 ? 1 : 200))) palette.push(pixel)
  }
  return palette
}

/** The image with few colours; others become the nearest of these. */
export function reduced(image) {
  const { width, height, pixels } = decode(image), palette = choose(pixels), indices = new Map(palette.map((pixel, index) => [pixel, index]))
  const nearest = pixel => palette.reduce((best, each, index) => distance(pixel, each) < distance(pixel, palette[best]) ? index : best, 0)
  const lines = Buffer.alloc((width + 1) * height)
  pixels.forEach((pixel, at) => {
    if (!indices.has(pixel)) indices.set(pixel, nearest(pixel))
    lines[(Math.floor(at / width)) * (width + 1) + 1 + at % width] = indices.get(pixel)
  })
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0])
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  const colors = Buffer.from(palette.flatMap(pixel => [pixel >> 16, pixel >> 8 & 255, pixel & 255]))
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', colors), chunk('IDAT', deflateSync(lines, { level: 9 })), chunk('IEND', Buffer.alloc(0))])
}
