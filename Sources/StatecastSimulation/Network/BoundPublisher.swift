import DequeModule
import Statecast
import StatecastProtocol

/// An XPUB with connections of subscribers.
final class BoundPublisher: SimulatedSocket {
    private(set) var pipes: [FeedPipe] = []
    /// What has arrived: a flag and a topic each.
    private var requests: Deque<PeerMessage> = []
    private var acceptedCount = 0
    /// Called with each message that the node sends. Whether it is sent.
    var onSend: ([UInt8]) -> Bool = { _ in true }

    func accept(_ pipe: FeedPipe) {
        acceptedCount += 1
        // As `AccessControl` names it.
        pipe.userID = hasKeys ? "\(UserRights.key(of: pipe.user)) \(acceptedCount)" : nil
        pipes.append(pipe)
    }

    /// Publishes to the pipes that subscribed to the topic: no topic of the protocol is a prefix of another.
    override func send(_ message: [UInt8]) {
        guard let end = message.firstIndex(of: 0), onSend(message) else { return }
        let topic = Array(message[...end])
        for pipe in pipes { pipe.publish(message, on: topic, maxCount: network.maxQueue) }
    }

    /// A request has arrived on a pipe. Every subscription is reported; with keys each end of one, too, and without
    /// the end of the last one to a topic.
    func received(_ begins: Bool, _ topic: [UInt8], on pipe: FeedPipe) {
        if begins {
            pipe.filter.insert(topic)
        } else {
            guard pipe.filter.remove(topic) != nil, hasKeys || !isWanted(topic) else { return }
        }
        requests.append(PeerMessage([begins ? 1 : 0] + topic, from: pipe.userID))
        arrives(at: network.world.now)
    }

    /// The socket has noticed that a connection is gone. The ends of its subscriptions have no user.
    func remove(_ pipe: FeedPipe) {
        guard let index = pipes.firstIndex(where: { $0 === pipe }) else { return }
        pipes.remove(at: index)
        for topic in pipe.filter.sorted(by: { $0.lexicographicallyPrecedes($1) }) where hasKeys || !isWanted(topic) {
            requests.append(PeerMessage([0] + topic, from: nil))
        }
        if !requests.isEmpty { arrives(at: network.world.now) }
    }

    private func isWanted(_ topic: [UInt8]) -> Bool { pipes.contains { $0.filter.contains(topic) } }

    override func next() -> PeerMessage? {
        let next = requests.popFirst()
        if let key = next?.user?.split(separator: " ").first { onUser(String(key)) }
        return next
    }

    override var nextArrival: Instant? { requests.isEmpty ? nil : network.world.now }

    override func breakConnections() {
        for pipe in pipes { pipe.breaks() }
        (pipes, requests) = ([], [])
    }
}

/// A PULL with connections of senders.
final class BoundPuller: SimulatedSocket {
    private(set) var pipes: [PushPipe] = []
    private var nextPipe = 0

    func accept(_ pipe: PushPipe) { pipes.append(pipe) }

    /// The next message, fairly among the connections. A broken connection stays until it is empty: what had arrived
    /// can still be read.
    override func next() -> PeerMessage? {
        pipes.removeAll { $0.isBroken && $0.isEmpty }
        for offset in pipes.indices {
            let pipe = pipes[(nextPipe + offset) % pipes.count]
            guard let message = pipe.next(at: network.world.now) else { continue }
            nextPipe = (nextPipe + offset + 1) % pipes.count
            let user = hasKeys ? UserRights.key(of: pipe.user) : nil
            user.map(onUser)
            return PeerMessage(message, from: user)
        }
        return nil
    }

    override var nextArrival: Instant? { pipes.compactMap(\.nextArrival).min() }

    override func breakConnections() {
        for pipe in pipes { pipe.breaks() }
        pipes = []
    }
}

/// A bound socket on the loop of a primary.
class SimulatedSocket: BoundSocket {
    let network: Network
    let endpoint: String
    /// Whether its messages have a User-Id.
    let hasKeys: Bool
    private let process: Process?
    /// Called when it becomes readable, with the time.
    var onReadable: (Instant) -> Void = { _ in }
    /// Called with the key of the peer of each message that the node receives.
    var onUser: (String) -> Void = { _ in }
    private var isClosed = false

    /// - Parameter process: that has bound it.
    init(_ network: Network, at endpoint: String, hasKeys: Bool = false, of process: Process? = nil) {
        (self.network, self.endpoint, self.hasKeys, self.process) = (network, endpoint, hasKeys, process)
        network.bind(self)
    }

    func next() -> PeerMessage? { nil }
    func send(_ message: [UInt8]) {}
    var nextArrival: Instant? { nil }
    func breakConnections() {}

    var wantsMessages = true { didSet { if let nextArrival { arrives(at: nextArrival) } } }

    func arrives(at time: Instant) { if wantsMessages { onReadable(time) } }

    /// Whether the loop calls the node now.
    var isReadable: Bool { wantsMessages && nextArrival.map { $0 <= network.world.now } ?? false }

    /// Binds again soon, as `RenewableSocket`.
    func closeConnections(because reason: String) {
        network.unbind(self)
        breakConnections()
        network.world.schedule(after: .milliseconds(5)) { [weak self] in
            if let self, !isClosed, process?.isAlive != false { network.bind(self) }
        }
    }

    func close() {
        isClosed = true
        network.unbind(self)
        breakConnections()
    }
}
