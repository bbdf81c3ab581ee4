// What the page shows, and its URL: #/fleet?at=176204&path=/hosts/web-1&open=/hosts&q=…
export const view = {
  store: null, name: 'state', at: null, path: '', open: ['/'], q: '', find: '', hide: new Set(), pane: 'change', span: 'batch',
  lineage: null, follow: true, selected: null, peers: '', kind: 'all',
}
let timer, known
const encode = text => encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%3A', ':')
const list = (name, items) => items.length ? `${name}=${items.map(encode).join(',')}` : null

function decode(text) { try { return decodeURIComponent(text.replaceAll('+', ' ')) } catch { return text } }

export function readURL() {
  const [, store = '', query = ''] = location.hash.match(/^#\/([^?]*)\??(.*)$/) ?? []
  const raw = new Map(query.split('&').filter(Boolean).map(part => part.split(/=(.*)/s))), text = name => decode(raw.get(name) ?? '')
  const isRevision = /^\d{1,15}$/.test(text('at'))
  const items = name => (raw.get(name) ?? '').split(',').filter(Boolean).map(decode)
  Object.assign(view, {
    store: decode(store) || null, name: text('view') === 'peers' ? 'peers' : 'state', q: text('q'), find: text('find'),
    path: text('path').startsWith('/') ? text('path') : '',
    at: isRevision ? Number(text('at')) : null, open: items('open'), hide: new Set(items('hide')),
    pane: /^(blame|send)$/.test(text('pane')) ? text('pane') : 'change', span: text('span') === 'live' ? 'live' : 'batch',
    lineage: /^[0-9a-f]{4,32}$/.test(text('lineage')) ? text('lineage') : null,
    selected: isRevision && /^\d+\.\d+$/.test(text('action')) ? text('action') : null,
    peers: text('peers'), kind: /^(replica|sender)$/.test(text('kind')) ? text('kind') : 'all',
  })
  view.follow = view.at == null; known = location.hash
  return text('at') && !isRevision ? `The link has no revision in at=${text('at')}: this is the live state.` : ''
}

/** The URL of the view, with other values of some of its members. */
export function url(changes) {
  const { store, name, at, path, open, q, find, hide, pane, span, lineage, selected, peers, kind } = { ...view, ...changes }
  const parts = [name === 'peers' && 'view=peers', at != null && 'at=' + at, at != null && selected && 'action=' + selected,
    path && 'path=' + encode(path), list('open', open), q && 'q=' + encode(q), find && 'find=' + encode(find), list('hide', [...hide]),
    pane !== 'change' && 'pane=' + pane, span !== 'batch' && 'span=' + span, peers && 'peers=' + encode(peers),
    kind !== 'all' && 'kind=' + kind, lineage && 'lineage=' + lineage]
  return `#/${encode(store ?? '')}?${parts.filter(Boolean).join('&')}`
}

/** Writes the URL soon: browsers limit how often it may change. */
export function saveURL() {
  timer ??= setTimeout(() => {
    timer = null
    // Not over a link that the page has not read yet.
    if (location.hash === known && known !== url()) { history.replaceState(null, '', url()); known = location.hash }
  }, 150)
}
