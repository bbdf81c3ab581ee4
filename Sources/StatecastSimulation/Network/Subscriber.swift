import DequeModule
import Statecast
import StatecastProtocol

/// A SUB socket and a timer on the loop of a node: it connects to each of its endpoints again and again, and sends its
/// subscriptions anew each time.
final class Subscriber: Transport {
    private let process: Process
    private let network: Network
    private let store: StoreName
    private var links: [Link] = []
    /// The link whose message is taken next, if it has one.
    private var nextLink = 0
    private var loop: Loop!
    /// The subscriptions, with their counts.
    private(set) var wanted: [[UInt8]: Int] = [:]
    private var deadline: Instant?
    /// Called when messages have arrived, when the timer is due, and with each message that is received.
    var onReadable: () -> Void = {}
    var onDeadline: () -> Void = {}
    var onMessage: ([UInt8]) -> Void = { _ in }

    init(
        of process: Process,
        _ network: Network,
        node: String,
        user: String,
        of store: StoreName,
        to endpoints: [String]
    ) {
        (self.process, self.network, self.store) = (process, network, store)
        loop = Loop(of: process) { [weak self] in self?.poll() }
        links = endpoints.map { endpoint in
            let link = Link(of: process, network, network.path(from: node, to: endpoint), user: user, to: endpoint)
            link.onReadable = { [weak self] in if self?.wantsReadable == true { self?.loop.wake(at: $0) } }
            link.onConnect = { [weak self] pipe in
                let topics = (self?.wanted ?? [:]).keys.sorted { $0.lexicographicallyPrecedes($1) }
                for topic in topics { pipe.request(true, topic) }
            }
            link.connect(after: .zero)
            return link
        }
    }

    // MARK: The node's loop

    private func poll() {
        if wantsReadable, hasArrived { onReadable() }
        if let deadline, process.now >= deadline {
            self.deadline = nil
            onDeadline()
        }
        wake()
    }

    private func wake() {
        loop.wake(atLocal: deadline)
        if wantsReadable, let arrival = nextArrival { loop.wake(at: arrival) }
    }

    var wantsReadable = true { didSet { wake() } }

    func setTimer(_ deadline: Instant?) {
        self.deadline = deadline
        loop.wake(atLocal: deadline)
    }

    private var nextArrival: Instant? { links.compactMap(\.nextArrival).min() }
    private var hasArrived: Bool { nextArrival.map { $0 <= process.world.now } ?? false }

    /// The next message that has arrived, fairly among the connections, without those that the socket unsubscribed
    /// from.
    func next() -> [UInt8]? {
        while let message = nextOfLinks() {
            guard let end = message.firstIndex(of: 0), wanted[Array(message[...end])] != nil else { continue }
            onMessage(message)
            return message
        }
        return nil
    }

    private func nextOfLinks() -> [UInt8]? {
        for offset in links.indices {
            let index = (nextLink + offset) % links.count
            guard let message = links[index].next() else { continue }
            nextLink = (index + 1) % links.count
            return message
        }
        return nil
    }

    // MARK: Subscriptions

    func subscribe(_ topic: Topic) {
        if case .join = topic {
            process.world.require(
                wanted[Address(store, .feed).bytes] != nil,
                .subscriptionsMatch,
                "\(process.name) joins before it subscribes to the feed"
            )
        }
        let topic = Address(store, topic).bytes
        wanted[topic, default: 0] += 1
        for link in links { link.pipe?.request(true, topic) }
    }

    /// Ends a subscription; without one, a rule is broken.
    func unsubscribe(_ topic: Topic) {
        let topic = Address(store, topic).bytes
        guard let count = wanted[topic] else {
            let text = String(decoding: topic.dropLast(), as: UTF8.self)
            return process.world.violated(
                .subscriptionsMatch,
                "\(process.name) unsubscribes from \(text) without a subscription"
            )
        }
        wanted[topic] = count > 1 ? count - 1 : nil
        if count == 1 { for link in links { link.pipe?.request(false, topic) } }
    }

    // MARK: Connections

    func reconnect() {
        wanted = [:]
        for link in links { link.reconnect() }
    }

    func close() { for link in links { link.close() } }

    /// A connection stays, and delivers nothing any more in some directions.
    ///
    /// - Returns: whether there was a connection.
    func silence(_ directions: Set<Path.Direction>, link index: Int = 0) -> Bool {
        let pipe = links[index % links.count].pipe
        pipe?.silentDirections = directions
        return pipe != nil
    }

    /// Whether requests are lost on a connection.
    var losesRequests: Bool { links.contains { $0.pipe?.silentDirections.contains(.up) ?? false } }

    /// A connection breaks.
    ///
    /// - Parameter noticedAfter: when the server notices it; what it publishes until then is lost.
    /// - Returns: whether there was a connection.
    @discardableResult
    func breakConnection(noticedAfter delay: Duration, link index: Int = 0) -> Bool {
        links[index % links.count].breakConnection(noticedAfter: delay)
    }

    /// The connection to one endpoint.
    private final class Link {
        private let process: Process
        private let network: Network
        private let path: Path
        private let user: String
        private let endpoint: String
        private(set) var pipe: FeedPipe?
        /// What had arrived on connections that broke: it is read before the messages of the next one.
        private var unread: Deque<[UInt8]> = []
        /// The number of attempts to connect; only the last one counts.
        private var attempts = 0
        private var isClosed = false
        var onReadable: (Instant) -> Void = { _ in }
        var onConnect: (FeedPipe) -> Void = { _ in }

        init(of process: Process, _ network: Network, _ path: Path, user: String, to endpoint: String) {
            (self.process, self.network, self.path) = (process, network, path)
            (self.user, self.endpoint) = (user, endpoint)
        }

        var nextArrival: Instant? { unread.isEmpty ? pipe?.nextArrival : process.world.now }

        func next() -> [UInt8]? { unread.popFirst() ?? pipe?.next(at: process.world.now) }

        /// The server notices the end later, as a connection that delivers nothing announces none.
        func reconnect() {
            let old = pipe
            (pipe, unread) = (nil, [])
            old.map { breaks($0, noticedAfter: network.noticeDelay()) }
            connect(after: .zero)
        }

        func close() {
            isClosed = true
            let old = pipe
            (pipe, unread) = (nil, [])
            old?.breaks()
            if let old { old.publisher?.remove(old) }
        }

        func breakConnection(noticedAfter delay: Duration) -> Bool {
            guard let pipe else { return false }
            breaks(pipe, noticedAfter: delay)
            return true
        }

        private func breaks(_ pipe: FeedPipe, noticedAfter delay: Duration) {
            pipe.breaks()
            network.world.schedule(after: delay) { [publisher = pipe.publisher] in publisher?.remove(pipe) }
        }

        func connect(after delay: Duration) {
            attempts += 1
            network.world.schedule(after: delay) { [weak self, attempts] in
                if let self, attempts == self.attempts { tryToConnect() }
            }
        }

        private func tryToConnect() {
            guard !isClosed, process.isAlive, pipe == nil else { return }
            // The thread of the socket sends the subscriptions when it next touches the socket.
            guard let publisher = network.publisher(at: endpoint), path.isOpen(at: network.world.now),
                network.world.now >= process.pausedUntil
            else { return connect(after: network.reconnectDelay()) }
            let new = FeedPipe(
                network.world,
                of: user,
                to: publisher,
                path,
                onReadable: { [weak self] in self?.onReadable($0) },
                onBreak: { [weak self] in self?.broken($0) }
            )
            pipe = new
            publisher.accept(new)
            onConnect(new)
        }

        private func broken(_ broken: FeedPipe) {
            // The node may have replaced it.
            guard broken === pipe else { return broken.dropMessages() }
            if !isClosed { while let message = broken.next(at: process.world.now) { unread.append(message) } }
            broken.dropMessages()
            pipe = nil
            connect(after: network.reconnectDelay())
        }
    }
}

/// A connection of a SUB to an XPUB: requests travel up, messages down, each in order.
final class FeedPipe {
    private let world: World
    /// The user that the transport authenticates, if the primary has keys.
    let user: String
    private(set) weak var publisher: BoundPublisher?
    /// What the socket reports of its messages.
    var userID: String?
    private let path: Path
    /// The topics that the XPUB forwards.
    var filter: Set<[UInt8]> = []
    private var messages: Deque<(arrival: Instant, message: [UInt8])> = []
    private var lastRequest = Instant.origin
    private var isDropping = false
    private(set) var isBroken = false
    /// Where nothing passes any more, although the connection stays.
    var silentDirections: Set<Path.Direction> = []
    private let onReadable: (Instant) -> Void
    private let onBreak: (FeedPipe) -> Void

    init(
        _ world: World,
        of user: String,
        to publisher: BoundPublisher,
        _ path: Path,
        onReadable: @escaping (Instant) -> Void,
        onBreak: @escaping (FeedPipe) -> Void
    ) {
        (self.world, self.user, self.publisher, self.path) = (world, user, publisher, path)
        (self.onReadable, self.onBreak) = (onReadable, onBreak)
    }

    func request(_ begins: Bool, _ topic: [UInt8]) {
        lastRequest = max(lastRequest, path.arrival(.up, from: world.now))
        world.schedule(at: lastRequest) { [self] in
            if !isBroken, !silentDirections.contains(.up) { publisher?.received(begins, topic, on: self) }
        }
    }

    /// Queues a message. A full queue drops messages until it is half empty.
    func publish(_ message: [UInt8], on topic: [UInt8], maxCount: Int) {
        guard filter.contains(topic) else { return }
        if messages.count >= maxCount { isDropping = true }
        if messages.count <= maxCount / 2 { isDropping = false }
        guard !isDropping, !isBroken, !silentDirections.contains(.down) else { return }
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
        onBreak(self)
    }

    func dropMessages() { messages = [] }
}
