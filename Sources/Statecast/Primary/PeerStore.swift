import Logging
import StatecastCore
import StatecastProtocol

/// Replaces the list of peers.
struct PeersReplaced: Action {
    let peers: Peers
}

/// The peers of a store, known from the subscriptions that exist as long as they are connected, and the store that
/// publishes them. Used on the node's loop only.
///
/// It publishes at most once a second, and only while it is followed.
final class PeerStore {
    let listed: any RunningStore
    /// The store that publishes the list; `nil` if it is not published.
    let store: (any RunningStore)?
    private let mailbox: LocalMailbox<Peers>
    private let environment: any StoreEnvironment
    private var list = Peers()
    private var published = Peers()
    /// Of the listed peers, what readers do not see.
    private var sources: [String: Source] = [:]
    /// Those whose subscription has ended since the last update: a sender that asks again ends it and begins another one.
    private var ended: Set<String> = []
    private var isFollowed = false
    private var due: Instant

    /// Where a row comes from.
    private enum Source {
        case replica(Position?)
        /// - Parameter last: the number of its next action at the last update.
        case sender(SessionID, last: (number: ActionNumber, at: Instant)?)
    }

    /// Further peers are not listed. The patch of all of them has to fit into a frame.
    static let maxPeers = 4096
    private static let interval = Duration.seconds(1)

    /// - Returns: `nil` if the name of the list would be too long.
    init?(of listed: any RunningStore, on node: NodeServices) {
        guard let name = listed.name.peers else { return nil }
        let definition = try? TypedStore(
            name: name.text,
            state: Peers(),
            actions: [],
            reducer: Reducer { state, action in
                if let action = action as? PeersReplaced { state = action.peers }
            },
            middleware: [],
            initialEffect: { _ in .none },
            journal: nil,
            evolution: StateEvolution(),
            logger: Logger(label: "statecast.peers") { _ in SwiftLogNoOpLogHandler() }
        )
        guard let definition else { return nil }
        environment = node.environment
        due = environment.now
        (self.listed, mailbox) = (listed, definition.mailbox)
        guard node.publishedLists.contains(name) else {
            store = nil
            return
        }
        var node = node
        // A replica of the list that lags takes a snapshot.
        node.limits.maxRingUpdates = 16
        node.limits.maxSnapshots = 1
        let lineage = Lineage(bits: environment.randomBits())
        let history = History(lineage: lineage, epoch: Epoch(1), summary: definition.summary)
        let recovered = RecoveredStore(definition: definition, state: Peers(), history: history, journal: nil)
        store = recovered.serve(on: node)
    }

    // MARK: Subscriptions

    /// A subscription to a topic of the listed store.
    ///
    /// - Parameter user: `nil` without keys.
    func subscribed(to topic: Topic, user: String?) {
        switch topic {
        case .peer(let nonce, let name, let position):
            guard let id = row(nonce.peerID, .replica, name.description, user) else { return }
            list.peers[id]?.name = name.description
            sources[id] = .replica(position)
        case .receipts(let session):
            guard let id = row(session.peerID, .sender, String(session.description.prefix(8)), user) else { return }
            sources[id] = sources[id] ?? .sender(session, last: nil)
        default: break
        }
    }

    /// The row of a peer, which is added if there is none.
    ///
    /// - Returns: `nil` if there are too many, or if it is another user's.
    private func row(_ id: String, _ kind: Peer.Kind, _ name: String, _ user: String?) -> String? {
        if let peer = list.peers[id] {
            guard peer.user == user else { return nil }
        } else {
            guard list.peers.count < Self.maxPeers else { return nil }
            list.peers[id] = Peer(kind: kind, name: name, user: user, since: environment.time.milliseconds)
        }
        ended.remove(id)
        return id
    }

    /// The end of the last subscription to a topic of the listed store.
    func unsubscribed(from topic: Topic) {
        switch topic {
        case .peer(let nonce, _, let position):
            // It has announced another one before.
            guard case .replica(position) = sources[nonce.peerID] else { return }
            ended.insert(nonce.peerID)
        case .receipts(let session): ended.insert(session.peerID)
        default: break
        }
    }

    /// All connections to a socket are closed, without reports of their ends.
    func disconnected(replicas: Bool, senders: Bool, followers: Bool) {
        for (id, peer) in list.peers where peer.kind == .replica ? replicas : senders { ended.insert(id) }
        if followers { isFollowed = false }
    }

    /// The first subscription to the feed of the list, or the end of the last one.
    func followed(_ isFollowed: Bool) {
        self.isFollowed = isFollowed
        guard !isFollowed else { return }
        // Rates are those of a second.
        for case (let id, .sender(let session, _)) in sources { sources[id] = .sender(session, last: nil) }
    }

    // MARK: Publication

    /// The next time of ``publishIfDue()``; `nil`: nothing changes by itself.
    var nextDeadline: Instant? { isFollowed || !ended.isEmpty ? due : nil }

    /// Publishes what has changed, if it is due and followed.
    func publishIfDue() {
        guard isFollowed || !ended.isEmpty, case let now = environment.now, now >= due else { return }
        due = now.advanced(by: Self.interval)
        let list = current()
        guard isFollowed, list != published else { return }
        published = list
        mailbox.enqueue(.action(.dispatched(PeersReplaced(peers: list))))
    }

    /// The list, brought up to date.
    func current() -> Peers {
        for id in ended { (list.peers[id], sources[id]) = (nil, nil) }
        ended = []
        let now = environment.now
        for (id, source) in sources {
            guard let peer = list.peers[id] else { continue }
            let updated = self.updated(peer, id, source, at: now)
            if updated != peer { list.peers[id] = updated }
        }
        return list
    }

    private func updated(_ peer: Peer, _ id: String, _ source: Source, at now: Instant) -> Peer {
        var peer = peer
        switch source {
        case .replica(let position):
            let head = listed.position
            peer.revision = position?.revision.rawValue
            let isOfHistory = position?.lineage == head.lineage
            peer.lag = isOfHistory ? position.map { UInt64(head.revision.distance(beyond: $0.revision)) } : nil
        case .sender(let session, let last):
            guard let number = listed.nextNumber(of: session) else { break }
            peer.actionsPerSecond = last.map { last in
                let seconds = max(last.at.duration(to: now) / .seconds(1), 0.001)
                return (Double(number.distance(beyond: last.number)) / seconds).rounded()
            }
            sources[id] = .sender(session, last: (number, now))
        }
        return peer
    }
}
