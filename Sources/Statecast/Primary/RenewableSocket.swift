import Logging
import Metrics
import StatecastProtocol
import StatecastZeroMQ

/// A bound socket of libzmq, whose connections can be closed. Used on the node's loop only.
///
/// libzmq has no call that closes a connection. So the node closes the socket and binds another one at the same
/// endpoint: peers connect again automatically, if they may, and go on as after any other broken connection.
final class RenewableSocket: BoundSocket {
    private let place: Endpoint
    private let kind: SocketKind
    private let role: AccessControl.SocketRole
    private let options: SocketOptions
    private let services: Services
    private let onReadable: () -> Void
    /// Whether the addresses of peers are read: not with each action.
    private let hasAddresses: Bool
    private var timer: DeadlineTimer?
    /// Bound, or to be bound again; `nil` if there is none yet, for lack of a resource.
    private(set) var current: OpenSocket?
    /// When the last socket was closed; `nil` while one is bound.
    private var closed: Instant?
    private var isDelayReported = false
    /// The folder of an `ipc://*` endpoint, which outlives each socket.
    private let folder: AnyObject?

    /// The node's services for a socket.
    struct Services {
        let loop: PollLoop
        let clock: NodeClock
        let logger: Logger
    }

    final class OpenSocket {
        let socket: Socket
        /// `nil` until it is bound.
        var watch: Watch?

        init(_ socket: consuming Socket) { self.socket = socket }
    }

    /// `nil` while the endpoint is being bound again: no peer is connected.
    private var bound: OpenSocket? { closed == nil ? current : nil }

    /// The interval between attempts to bind an endpoint that libzmq has not released yet; a release usually takes
    /// milliseconds, and seconds if the closed socket had thousands of subscriptions and hundreds of connections.
    private static let bindInterval = Duration.milliseconds(5)
    /// The time after which a missing release is reported.
    private static let maxBindTimeUsual = Duration.seconds(1)

    /// Binds the socket. Its connections are measured.
    ///
    /// - Parameter onReadable: called on the loop when a message has arrived.
    init(
        _ kind: SocketKind,
        _ role: AccessControl.SocketRole,
        at endpoint: Endpoint,
        _ options: SocketOptions,
        on services: Services,
        onReadable: @escaping () -> Void
    ) throws(ZeroMQError) {
        let current = try Self.socket(kind, role, options)
        place = try current.socket.bind(endpoint)
        self.kind = kind
        self.role = role
        self.options = options
        self.services = services
        self.onReadable = onReadable
        hasAddresses = kind == .xpub && endpoint.transport == .tcp
        folder = current.socket.folder
        self.current = current
        watch(current)
    }

    private static func socket(
        _ kind: SocketKind,
        _ role: AccessControl.SocketRole,
        _ options: SocketOptions
    ) throws(ZeroMQError) -> OpenSocket {
        let socket = try Socket(kind, options: options)
        try socket.measureConnections(of: role)
        return OpenSocket(socket)
    }

    private func watch(_ bound: OpenSocket) {
        bound.watch = services.loop.watch(bound.socket, onReadable: onReadable)
        bound.watch?.wantsReadable = wantsMessages
    }

    var endpoint: String { place.description }

    var wantsMessages = true {
        didSet { bound?.watch?.wantsReadable = wantsMessages }
    }

    func next() -> PeerMessage? { bound?.socket.nextFromPeer(hasAddress: hasAddresses, services.logger) }

    func send(_ message: [UInt8]) {
        do throws(ZeroMQError) { _ = try bound?.socket.send(message) } catch {
            services.logger.error("cannot publish", metadata: ["error": "\(error)"])
        }
    }

    func closeConnections(because reason: String) {
        guard closed == nil else { return }
        services.logger.warning(
            "closing all connections, since \(reason); peers connect again",
            metadata: ["endpoint": "\(place)"]
        )
        NodeMetric.primarySocketsRenewed.counter([("socket", role.name)]).increment()
        current = nil
        closed = services.clock.now
        bind()
    }

    /// Binds again, now or later: libzmq releases the endpoint in the background.
    ///
    /// All attempts use one socket: those of failed attempts would have to be released, too, and meanwhile use up the
    /// descriptors.
    private func bind() {
        guard let closed else { return }
        do throws(ZeroMQError) {
            if current == nil { current = try Self.socket(kind, role, options) }
            guard let next = current else { return }
            _ = try next.socket.bind(place)
            watch(next)
            if isDelayReported { services.logger.notice("bound again", metadata: ["endpoint": "\(place)"]) }
            self.closed = nil
            isDelayReported = false
        } catch {
            let now = services.clock.now
            if !isDelayReported, closed.duration(to: now) > Self.maxBindTimeUsual {
                services.logger.error("cannot bind again; retrying", metadata: ["error": "\(error)"])
                isDelayReported = true
            }
            let timer = timer ?? services.loop.timer { [weak self] in self?.bind() }
            timer.set(services.clock.deadline(now.advanced(by: Self.bindInterval)))
            self.timer = timer
        }
    }
}
