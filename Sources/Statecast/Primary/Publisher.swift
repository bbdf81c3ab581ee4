internal import Logging
internal import Metrics
internal import SyncProtocol
internal import ZeroMQ

/// A publishing socket and the topics subscribed to on it. Used on the node's loop only.
///
/// libzmq stores a subscription before the node sees it, and has no call that refuses one or closes a connection. To
/// bound the topics, or after a right was withdrawn, the node closes the socket and binds another one at the same
/// endpoint: subscribers connect and subscribe again automatically, and catch up as after any other broken connection.
final class Publisher {
    /// Where it is bound, the port filled in.
    let endpoint: Endpoint
    private let role: AccessControl.SocketRole
    private let options: SocketOptions
    private let limits: Limits
    private let loop: PollLoop
    private let clock: NodeClock
    private let logger: Logger
    private let onReadable: () -> Void
    private var timer: DeadlineTimer?
    /// `nil` while the endpoint is being bound again: no subscriber is connected.
    private var connection: BoundSocket?
    private var topics = SubscribedTopics()
    /// How often all connections were closed.
    private(set) var renewals = 0
    /// When the last socket was closed; `nil` while one is bound.
    private var closed: Instant?
    private var isDelayReported = false
    /// The folder of an `ipc://*` endpoint, which outlives each socket.
    private let folder: AnyObject?

    private final class BoundSocket {
        let socket: Socket
        var watch: Watch?

        init(_ socket: consuming Socket) { self.socket = socket }
    }

    /// The interval between attempts to bind an endpoint that libzmq has not released yet; a release takes
    /// milliseconds.
    private static let bindInterval = Duration.milliseconds(5)
    /// The time after which a missing release is reported.
    private static let bindTimeUsualMax = Duration.seconds(1)

    /// - Parameters:
    ///   - socket: bound to `endpoint`, with these options. Its connections are measured.
    ///   - onReadable: called on the loop when a subscription has arrived.
    init(
        _ socket: consuming Socket,
        _ role: AccessControl.SocketRole,
        at endpoint: Endpoint,
        _ options: SocketOptions,
        _ limits: Limits,
        on loop: PollLoop,
        clock: NodeClock,
        logger: Logger,
        onReadable: @escaping () -> Void
    ) {
        self.endpoint = endpoint
        self.role = role
        self.options = options
        self.limits = limits
        self.loop = loop
        self.clock = clock
        self.logger = logger
        self.onReadable = onReadable
        folder = socket.folder
        open(socket)
    }

    /// Publishes to the connected subscribers.
    func send(_ message: [UInt8]) {
        do throws(ZeroMQError) { _ = try connection?.socket.send(message) } catch {
            logger.error("cannot publish", metadata: ["error": "\(error)"])
        }
    }

    /// A subscription or an unsubscription, and the name that the handler of authentication gave its user.
    typealias Received = (message: [UInt8], user: String?)

    /// Receives subscriptions and unsubscriptions, at most `subscriptionsPerTurnMax`.
    ///
    /// libzmq has processed all of them when this returns, so that one answer reaches all subscribers of its topic.
    ///
    /// - Parameter isFlooded: called before all connections are closed because there are too many topics, with the peer
    ///   that subscribed to most of them, if it alone has more than half of the limit.
    func receiveSubscriptions(isFlooded: (_ peer: String) -> Void = { _ in }) -> [Received] {
        var messages: [Received] = []
        while messages.count < limits.subscriptionsPerTurnMax,
            let message = connection?.socket.nextFromUser(logger)
        {
            topics.apply(message.message, from: message.user)
            messages.append(message)
        }
        guard topics.count > limits.topicsMax else { return messages }
        if let (peer, count) = topics.largest, count > limits.topicsMax / 2 { isFlooded(peer) }
        closeConnections(because: "more topics are subscribed to than \(limits.topicsMax) (topicsMax)")
        return []
    }

    private func open(_ socket: consuming Socket) {
        let connection = BoundSocket(socket)
        connection.watch = loop.watch(connection.socket, onReadable: onReadable)
        self.connection = connection
    }

    /// Closes all connections. Subscribers connect again, if they may.
    func closeConnections(because reason: String) {
        guard connection != nil else { return }
        logger.warning(
            "closing all connections, since \(reason); subscribers connect again",
            metadata: [
                "endpoint": "\(endpoint)"
            ]
        )
        Counter(label: "statecast_primary_publisher_renewed_total", dimensions: [("socket", role.rawValue)]).increment()
        topics = SubscribedTopics()
        renewals += 1
        connection = nil
        closed = clock.now
        bind()
    }

    /// Binds again, now or later: libzmq closes sockets in the background, so the endpoint is released with a delay.
    private func bind() {
        guard let closed else { return }
        do throws(ZeroMQError) {
            let socket = try Socket(.xpub, options: options)
            try socket.measureConnections(of: role)
            _ = try socket.bind(endpoint)
            open(socket)
            if isDelayReported { logger.notice("bound again", metadata: ["endpoint": "\(endpoint)"]) }
            self.closed = nil
            isDelayReported = false
        } catch {
            let now = clock.now
            if !isDelayReported, closed.duration(to: now) > Self.bindTimeUsualMax {
                logger.error("cannot bind again; retrying", metadata: ["error": "\(error)"])
                isDelayReported = true
            }
            let timer = timer ?? loop.timer { [weak self] in self?.bind() }
            timer.set(clock.deadline(now.advanced(by: Self.bindInterval)))
            self.timer = timer
        }
    }
}

/// The topics that have subscribers, by the peer that subscribed first. libzmq reports each subscription, and the end
/// of the last one to a topic.
///
/// Stores a hash of each topic, so that its memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    private var topics: [Int: String?] = [:]
    private var counts: [String: Int] = [:]

    var count: Int { topics.count }

    /// The peer with most topics, of those that a user is known of.
    var largest: (peer: String, count: Int)? {
        counts.max { $0.value < $1.value }.map { (peer: $0.key, count: $0.value) }
    }

    /// Applies a message of an XPUB: a byte 1 (subscribe) or 0 (unsubscribe), then the topic.
    ///
    /// - Parameter peer: as the handler of authentication named it; `nil` without keys.
    mutating func apply(_ message: [UInt8], from peer: String?) {
        let hash = message.dropFirst().hashValue
        switch message.first {
        case 1:
            guard topics[hash] == nil else { return }
            topics[hash] = .some(peer)
            if let peer { counts[peer, default: 0] += 1 }
        case 0:
            guard let peer = topics.removeValue(forKey: hash).flatMap(\.self) else { return }
            let count = counts[peer, default: 1] - 1
            counts[peer] = count > 0 ? count : nil
        default: break
        }
    }
}
