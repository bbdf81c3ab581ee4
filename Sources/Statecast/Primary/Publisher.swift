internal import Logging
internal import Metrics
internal import SyncProtocol
internal import ZeroMQ

/// The publishing socket and the topics subscribed to on it. Used on the node's loop only.
///
/// libzmq stores a subscription before the node sees it, and has no call that refuses one or ends a connection. So a node
/// bounds the topics by closing the socket and binding another one: subscribers connect and subscribe again by themselves,
/// and make up for what they missed as after any other broken connection.
final class Publisher {
    /// Where it is bound, the port filled in.
    let endpoint: Endpoint
    private let configuration: PrimaryConfiguration
    private let loop: PollLoop
    private let clock: NodeClock
    private let logger: Logger
    private let onReadable: () -> Void
    private var timer: DeadlineTimer?
    /// `nil` while the endpoint is being bound again: no subscriber is connected.
    private var line: Line?
    private var topics = LiveTopics()
    /// When the last socket was closed, while no other one is bound.
    private var closed: Instant?
    private var isDelayReported = false
    /// The folder of an `ipc://*`, which outlives each socket.
    private let folder: AnyObject?

    private final class Line {
        let socket: Socket
        var watch: Watch?

        init(_ socket: consuming Socket) { self.socket = socket }
    }

    /// How often an endpoint is tried again that libzmq has not given up yet; milliseconds are usual.
    private static let bindInterval = Duration.milliseconds(5)
    /// How long that may take before it is reported.
    private static let bindTimeUsualMax = Duration.seconds(1)

    /// - Parameters:
    ///   - socket: bound to `endpoint`.
    ///   - onReadable: called on the loop when there is something to take.
    init(
        _ socket: consuming Socket,
        at endpoint: Endpoint,
        _ configuration: PrimaryConfiguration,
        on loop: PollLoop,
        clock: NodeClock,
        logger: Logger,
        onReadable: @escaping () -> Void
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.loop = loop
        self.clock = clock
        self.logger = logger
        self.onReadable = onReadable
        folder = socket.folder
        open(socket)
    }

    /// Publishes to the connected subscribers.
    func send(_ message: [UInt8]) {
        do throws(ZeroMQError) { _ = try line?.socket.send(message) } catch {
            logger.error("cannot publish", metadata: ["error": "\(error)"])
        }
    }

    /// Receives subscriptions and unsubscriptions, at most `subscriptionsPerTurnMax`.
    ///
    /// All that is returned was taken in by libzmq before the first of it is answered. So one answer reaches all that
    /// subscribed to its topic.
    func takeSubscriptions() -> [[UInt8]] {
        var messages: [[UInt8]] = []
        while messages.count < configuration.limits.subscriptionsPerTurnMax, let message = line?.socket.next(logger) {
            topics.note(message)
            messages.append(message)
        }
        guard topics.count > configuration.limits.topicsMax else { return messages }
        cutOff()
        return []
    }

    private func open(_ socket: consuming Socket) {
        let line = Line(socket)
        line.watch = loop.watch(line.socket, onReadable: onReadable)
        self.line = line
    }

    /// Ends all connections.
    private func cutOff() {
        logger.warning(
            "more topics are subscribed to than topicsMax: closing all subscriber connections; subscribers reconnect by themselves",
            metadata: ["topics-max": "\(configuration.limits.topicsMax)"]
        )
        Counter(label: "statecast_primary_publisher_renewed_total").increment()
        topics = LiveTopics()
        line = nil
        closed = clock.now
        bind()
    }

    /// Binds again, now or later: libzmq closes sockets in the background, so the endpoint is free a moment late.
    private func bind() {
        guard let closed else { return }
        do throws(ZeroMQError) {
            let socket = try Socket(.xpub, options: .publisher(configuration))
            _ = try socket.bind(endpoint)
            open(socket)
            if isDelayReported { logger.notice("bound again", metadata: ["endpoint": "\(endpoint)"]) }
            self.closed = nil
            isDelayReported = false
        } catch {
            let now = clock.now
            if !isDelayReported, closed.duration(to: now) > Self.bindTimeUsualMax {
                logger.error("cannot bind again, and goes on trying", metadata: ["error": "\(error)"])
                isDelayReported = true
            }
            let timer = timer ?? loop.timer { [weak self] in self?.bind() }
            timer.set(clock.deadline(now.advanced(by: Self.bindInterval)))
            self.timer = timer
        }
    }
}
