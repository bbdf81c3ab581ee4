import Logging
import StatecastCore
package import StatecastProtocol

/// Where a subscription comes from.
package struct PeerOrigin {
    /// `nil` without keys.
    var user: String?
    /// As ``PeerMessage/address``.
    var address: String?

    package init(user: String? = nil, address: String? = nil) { (self.user, self.address) = (user, address) }
}

/// Replaces the list of peers.
struct PeersReplaced: Action {
    let peers: Peers
}

/// The peers of a store, known from the subscriptions that exist as long as they are connected, and the store that
/// publishes them. Used on the node's loop only.
///
/// It publishes at most once a second, and only while it is followed.
package final class PeerList {
    let listed: any RunningStore
    /// The store that publishes the list; `nil` if it is not published.
    let store: (any RunningStore)?
    private let mailbox: LocalMailbox<Peers>?
    private let environment: any StoreEnvironment
    private var list = Peers()
    private var published = Peers()
    /// Of the listed peers, what readers do not see.
    private var sources: [String: Source] = [:]
    /// Those whose subscription has ended since the last update: a sender that asks again begins another one.
    private var ended: Set<String> = []
    /// When the rates were measured.
    private var measured: (actions: UInt64, at: Instant)?
    /// Whether there was a reader. Before, the store takes no turns.
    private var isUsed = false
    private var isFollowed = false
    private var due: Instant

    /// Where a row comes from.
    private enum Source {
        /// - Parameter announced: how far it was then, and when.
        case replica(Position?, announced: (lag: UInt64?, at: Instant))
        /// - Parameter last: the number of its next action when the rates were measured.
        case sender(SessionID, last: ActionNumber?)
    }

    private let maxPeers: Int
    /// The largest row: a user and a name of 64 bytes each, an address, and numbers.
    static let maxRowBytes = 512
    private static let interval = Duration.seconds(1)
    /// Beyond it, a replica whose position is not the newest one lags.
    private static let maxAnnouncementAge = Announcement.interval + .seconds(2)

    /// Further peers are not listed. The patch of all of them has to fit into a frame.
    package static func maxPeers(_ limits: Limits) -> Int { limits.maxFrameBytes / maxRowBytes }

    /// - Returns: `nil` if the name of the list would be too long.
    init?(of listed: any RunningStore, on node: NodeServices) {
        guard let name = listed.name.peers else { return nil }
        environment = node.environment
        due = environment.now
        maxPeers = Self.maxPeers(node.limits)
        self.listed = listed
        guard node.publishedLists.contains(name) else {
            (store, mailbox) = (nil, nil)
            return
        }
        let definition: TypedStore<Peers>
        do throws(StatecastError) {
            definition = try TypedStore(
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
        } catch { preconditionFailure("a list of peers is no state: \(error)") }
        mailbox = definition.mailbox
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

    /// A subscription to a topic of a store.
    func subscribed(to topic: Topic, of name: StoreName, _ origin: PeerOrigin) {
        if name == listed.name { return listedSubscribed(to: topic, origin) }
        guard let store, name == store.name else { return }
        isUsed = true
        if topic == .feed { isFollowed = true }
        store.subscribed(to: topic, from: nil)
    }

    /// The end of the last subscription to a topic of a store.
    func unsubscribed(from topic: Topic, of name: StoreName) {
        if name == listed.name { return listedUnsubscribed(from: topic) }
        guard let store, name == store.name else { return }
        if topic == .feed { unfollowed() }
        store.unsubscribed(from: topic)
    }

    /// All connections of replicas of some stores are closed, or of their senders, without reports of their ends.
    func disconnected(replicasOf replicas: Set<StoreName>, sendersOf senders: Set<StoreName>) {
        for (id, peer) in list.peers where (peer.kind == .replica ? replicas : senders).contains(listed.name) {
            ended.insert(id)
        }
        if let store, replicas.contains(store.name) { unfollowed() }
    }

    private func listedSubscribed(to topic: Topic, _ origin: PeerOrigin) {
        switch topic {
        case .peer(let nonce, let name, let position):
            guard let id = row(nonce.peerID, .replica, origin) else { return }
            list.peers[id]?.name = name.description
            sources[id] = .replica(position, announced: (lag(of: position), environment.now))
        case .receipts(let session):
            guard let id = row(session.peerID, .sender, origin) else { return }
            sources[id] = sources[id] ?? .sender(session, last: nil)
        default: break
        }
    }

    /// The row of a peer, which is added if there is none.
    ///
    /// - Returns: `nil` if there are too many, or if it is another user's.
    private func row(_ id: String, _ kind: Peer.Kind, _ origin: PeerOrigin) -> String? {
        if let peer = list.peers[id] {
            guard peer.user == origin.user else { return nil }
            if peer.address != origin.address { list.peers[id]?.address = origin.address }
        } else {
            if list.peers.count >= maxPeers { removeEnded() }
            guard list.peers.count < maxPeers else { return nil }
            list.peers[id] = Peer(
                kind: kind,
                name: String(id.prefix(8)),
                user: origin.user,
                address: origin.address,
                since: environment.time.milliseconds
            )
        }
        ended.remove(id)
        return id
    }

    private func listedUnsubscribed(from topic: Topic) {
        switch topic {
        case .peer(let nonce, let name, let position):
            // It has announced another position before, or another user has subscribed.
            guard case .replica(position, _) = sources[nonce.peerID],
                list.peers[nonce.peerID]?.name == name.description
            else { return }
            ended.insert(nonce.peerID)
        case .receipts(let session): ended.insert(session.peerID)
        default: break
        }
    }

    /// The revisions from a position to the newest one; `nil` if it is of another history.
    private func lag(of position: Position?) -> UInt64? {
        guard let position, case let head = listed.position, position.lineage == head.lineage else { return nil }
        return UInt64(head.revision.distance(beyond: position.revision))
    }

    /// Rates are those of the last second.
    private func unfollowed() {
        (isFollowed, measured, list.actionsPerSecond) = (false, nil, nil)
        for case (let id, .sender(let session, _)) in sources {
            sources[id] = .sender(session, last: nil)
            list.peers[id]?.actionsPerSecond = nil
        }
    }

    private func removeEnded() {
        for id in ended { (list.peers[id], sources[id]) = (nil, nil) }
        ended = []
    }

    // MARK: Turns

    /// Whether its store has work now.
    var hasWork: Bool { isUsed && store?.hasWork ?? false }

    /// The time of the next tick and turn; `nil`: nothing changes by itself.
    var nextDeadline: Instant? {
        let update = isFollowed ? due : nil
        guard isUsed, let tick = store?.nextDeadline else { return update }
        return update.map { min($0, tick) } ?? tick
    }

    func tick() { if isUsed { store?.tick() } }

    /// Publishes what has changed, if it is due and followed.
    func turn() {
        if isFollowed, case let now = environment.now, now >= due {
            due = now.advanced(by: Self.interval)
            measure(at: now)
            let list = update()
            if list != published {
                published = list
                mailbox?.enqueue(.action(.dispatched(PeersReplaced(peers: list))))
            }
        }
        if isUsed { store?.turn() }
    }

    /// Brings the list up to date, except for its rates.
    func update() -> Peers {
        removeEnded()
        let (now, activity) = (environment.now, listed.activity)
        for case (let id, .replica(let position, let announced)) in sources {
            // One that follows announces its progress in time.
            let isRecent = announced.at.duration(to: now) < Self.maxAnnouncementAge
            let lag = isRecent ? announced.lag : lag(of: position)
            let revision = position?.revision.rawValue
            guard let peer = list.peers[id], peer.lag != lag || peer.revision != revision else { continue }
            list.peers[id]?.lag = lag
            list.peers[id]?.revision = revision
        }
        list.revision = listed.position.revision.rawValue
        list.commitP99Milliseconds = activity.commits.percentile99.map { ($0 / .microseconds(1)).rounded() / 1000 }
        list.rejected = activity.rejected
        return list
    }

    /// Measures the rates since the last time.
    private func measure(at now: Instant) {
        let actions = listed.activity.actions
        let seconds = measured.map { $0.at.duration(to: now) / .seconds(1) }
        func rate(_ count: UInt64) -> Double? { seconds.map { (Double(count) / max($0, 0.001)).rounded() } }
        list.actionsPerSecond = measured.flatMap { rate(actions - $0.actions) }
        measured = (actions, now)
        for case (let id, .sender(let session, let last)) in sources {
            let number = listed.nextNumber(of: session)
            let rate = last.flatMap { last in number.flatMap { rate(UInt64($0.distance(beyond: last))) } }
            if list.peers[id]?.actionsPerSecond != rate { list.peers[id]?.actionsPerSecond = rate }
            sources[id] = .sender(session, last: number)
        }
    }
}
