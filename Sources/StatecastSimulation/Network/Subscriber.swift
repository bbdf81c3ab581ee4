import DequeModule
import StatecastProtocol

/// A SUB socket: it connects again and again, and sends its subscriptions anew each time.
final class Subscriber {
    private let process: Process
    private let network: Network
    private let path: Path
    private let user: String
    private let endpoint: String
    /// The subscriptions, with their counts.
    private(set) var wanted: [[UInt8]: Int] = [:]
    private var pipe: FeedPipe?
    /// What had arrived on connections that broke: it is read before the messages of the next one.
    private var unread: Deque<[UInt8]> = []
    private let onReadable: (Instant) -> Void
    private var isClosed = false

    init(
        of process: Process,
        _ network: Network,
        node: String,
        user: String,
        to endpoint: String,
        onReadable: @escaping (Instant) -> Void
    ) {
        (self.process, self.network, self.user) = (process, network, user)
        (self.endpoint, self.onReadable) = (endpoint, onReadable)
        path = network.path(of: node)
        connect(after: .zero)
    }

    func subscribe(_ topic: [UInt8]) {
        wanted[topic, default: 0] += 1
        pipe?.request(true, topic)
    }

    /// Ends a subscription; without one, a rule is broken.
    func unsubscribe(_ topic: [UInt8]) {
        guard let count = wanted[topic] else {
            let text = String(decoding: topic.dropLast(), as: UTF8.self)
            return process.world.violated(
                .subscriptionsMatch,
                "\(process.name) unsubscribes from \(text) without a subscription"
            )
        }
        wanted[topic] = count > 1 ? count - 1 : nil
        if count == 1 { pipe?.request(false, topic) }
    }

    /// The next message that has arrived, without those that the socket unsubscribed from.
    func next() -> [UInt8]? {
        while let message = unread.popFirst() ?? pipe?.next(at: process.world.now) {
            if let end = message.firstIndex(of: 0), wanted[Array(message[...end])] != nil { return message }
        }
        return nil
    }

    var nextArrival: Instant? { unread.isEmpty ? pipe?.nextArrival : process.world.now }
    var hasUnread: Bool { !unread.isEmpty }

    func close() {
        isClosed = true
        unread = []
        pipe?.breaks()
        if let pipe { network.server(at: endpoint)?.remove(pipe) }
        pipe = nil
    }

    /// The node replaces the socket.
    ///
    /// - Parameter noticedAfter: when the server notices it, as a connection that delivers nothing announces no end.
    func replace(noticedAfter delay: Duration) {
        isClosed = true
        unread = []
        breakConnection(noticedAfter: delay)
    }

    /// The connection stays, and delivers nothing any more.
    ///
    /// - Returns: whether there was a connection.
    func silence() -> Bool {
        pipe?.isSilent = true
        return pipe != nil
    }

    /// The connection breaks.
    ///
    /// - Parameter noticedAfter: when the server notices it; what it publishes until then is lost.
    /// - Returns: whether there was a connection.
    @discardableResult
    func breakConnection(noticedAfter delay: Duration) -> Bool {
        guard let broken = pipe else { return false }
        broken.breaks()
        network.world.schedule(after: delay) { [server = broken.server] in server?.remove(broken) }
        return true
    }

    // MARK: Connecting

    private func connect(after delay: Duration) {
        network.world.schedule(after: delay) { [weak self] in self?.tryToConnect() }
    }

    private func tryToConnect() {
        guard !isClosed, process.isAlive, pipe == nil else { return }
        // The thread of the socket sends the subscriptions when it next touches the socket.
        guard let server = network.server(at: endpoint), !path.isBlocked(.up, at: network.world.now),
            !path.isBlocked(.down, at: network.world.now), network.world.now >= process.pausedUntil
        else { return connect(after: network.reconnectDelay()) }
        let new = FeedPipe(
            network.world,
            of: user,
            to: server,
            path,
            onReadable: { [weak self] in self?.onReadable($0) },
            onBreak: { [weak self] in self?.broken() }
        )
        pipe = new
        server.accept(new)
        for topic in wanted.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { new.request(true, topic) }
    }

    private func broken() {
        if !isClosed { while let message = pipe?.next(at: process.world.now) { unread.append(message) } }
        pipe?.dropMessages()
        pipe = nil
        connect(after: network.reconnectDelay())
    }
}

/// A connection of a SUB to an XPUB: requests travel up, messages down, each in order.
final class FeedPipe {
    private let world: World
    /// The user that the transport authenticates, if the primary has keys.
    let user: String
    private(set) weak var server: Server?
    private let path: Path
    /// The topics that the XPUB forwards.
    var filter: Set<[UInt8]> = []
    private var messages: Deque<(arrival: Instant, message: [UInt8])> = []
    private var lastRequest = Instant.origin
    private var isDropping = false
    private(set) var isBroken = false
    /// Whether nothing passes any more, in either direction, although the connection stays.
    var isSilent = false
    private let onReadable: (Instant) -> Void
    private let onBreak: () -> Void

    init(
        _ world: World,
        of user: String,
        to server: Server,
        _ path: Path,
        onReadable: @escaping (Instant) -> Void,
        onBreak: @escaping () -> Void
    ) {
        (self.world, self.user, self.server, self.path) = (world, user, server, path)
        (self.onReadable, self.onBreak) = (onReadable, onBreak)
    }

    func request(_ begins: Bool, _ topic: [UInt8]) {
        lastRequest = max(lastRequest, path.arrival(.up, from: world.now))
        world.schedule(at: lastRequest) { [self] in
            if !isBroken, !isSilent { server?.received(begins, topic, on: self) }
        }
    }

    /// Queues a message. A full queue drops messages until it is half empty.
    func publish(_ message: [UInt8], on topic: [UInt8], maxCount: Int) {
        guard filter.contains(topic) else { return }
        if messages.count >= maxCount { isDropping = true }
        if messages.count <= maxCount / 2 { isDropping = false }
        guard !isDropping, !isBroken, !isSilent else { return }
        let arrival = max(messages.last?.arrival ?? world.now, path.arrival(.down, from: world.now))
        messages.append((arrival, message))
        if messages.count == 1 { onReadable(arrival) }
    }

    var nextArrival: Instant? { messages.first?.arrival }

    func next(at now: Instant) -> [UInt8]? {
        guard let first = messages.first, first.arrival <= now else { return nil }
        return messages.removeFirst().message
    }

    /// The connection is gone. Its subscriber takes what has arrived; the rest is lost.
    func breaks() {
        guard !isBroken else { return }
        isBroken = true
        onBreak()
    }

    func dropMessages() { messages = [] }
}
