import Logging
import StatecastCore
import StatecastProtocol

/// Replaces the list of peers.
struct PeersReplaced: Action {
    let peers: Peers
}

/// The peers of a store, which it publishes as a store of its own: known from the subscriptions that exist as long as
/// their peers are connected. Used on the node's loop only.
///
/// It publishes at most once a second, and only while it is followed.
final class PeerStore {
    let listed: any RunningStore
    private let mailbox: LocalMailbox<Peers>
    private let environment: any StoreEnvironment
    private(set) var list = Peers()
    /// The subscriptions to its feed.
    private var isFollowed = false
    private var due: Instant
    private var published = Peers()
    /// The number of each sender's next action at the last publication, and its time.
    private var numbers: [SessionID: (number: ActionNumber, at: Instant)] = [:]
    /// The running store that publishes the list.
    let store: any RunningStore

    /// Further peers are not listed.
    static let maxPeers = 10_000
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
        let lineage = Lineage(bits: environment.randomBits())
        let history = History(lineage: lineage, epoch: Epoch(1), summary: definition.summary)
        let recovered = RecoveredStore(definition: definition, state: Peers(), history: history, journal: nil)
        store = recovered.serve(on: node)
    }

    // MARK: Subscriptions

    /// A subscription to a topic of the listed store.
    func subscribed(to topic: Topic, user: String?) {
        switch topic {
        case .peer(let nonce, let name, let revision):
            let id = nonce.peerID
            guard list.peers[id] != nil || list.peers.count < Self.maxPeers else { return }
            var peer = list.peers[id] ?? Peer(kind: .replica, name: "", user: user, since: now)
            (peer.name, peer.revision) = (name.description, revision?.rawValue)
            list.peers[id] = peer
        case .receipts(let session):
            let id = session.description
            guard list.peers[id] == nil, list.peers.count < Self.maxPeers else { return }
            list.peers[id] = Peer(kind: .sender, name: String(id.prefix(8)), user: user, since: now)
        default: break
        }
    }

    private var now: Int64 { environment.time.milliseconds }

    /// The end of the last subscription to a topic of the listed store.
    func unsubscribed(from topic: Topic) {
        switch topic {
        // It has announced another one before.
        case .peer(let nonce, _, let revision):
            let id = nonce.peerID
            if list.peers[id]?.revision == revision?.rawValue { list.peers[id] = nil }
        case .receipts(let session):
            list.peers[session.description] = nil
            numbers[session] = nil
        default: break
        }
    }

    /// A subscription to a topic of the list itself.
    func followed(_ topic: Topic, isFollowed: Bool) {
        guard topic == .feed else { return }
        if isFollowed { due = environment.now }
        self.isFollowed = isFollowed
    }

    // MARK: Publication

    /// When the list may have to be published; `nil` while nobody follows it.
    var nextDeadline: Instant? { isFollowed ? due : nil }

    /// Publishes what has changed, if it is due and followed.
    func publishIfDue() {
        let now = environment.now
        guard isFollowed, now >= due else { return }
        due = now.advanced(by: Self.interval)
        update(at: now)
        guard list != published else { return }
        published = list
        mailbox.enqueue(.action(.dispatched(PeersReplaced(peers: list))))
    }

    /// Fills in what follows from the listed store.
    private func update(at now: Instant) {
        let head = listed.position.revision.rawValue
        for (id, peer) in list.peers {
            var peer = peer
            switch peer.kind {
            case .replica: peer.lag = peer.revision.map { head > $0 ? head - $0 : 0 }
            case .sender:
                guard let session = SessionID(id), let number = listed.nextNumber(of: session) else { continue }
                let last = numbers.updateValue((number, now), forKey: session)
                peer.actionsPerSecond = last.map { last in
                    let seconds = last.at.duration(to: now) / .seconds(1)
                    return (Double(number.distance(beyond: last.number)) / seconds).rounded()
                }
            }
            if peer != list.peers[id] { list.peers[id] = peer }
        }
    }
}
