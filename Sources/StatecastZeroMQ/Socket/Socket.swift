import CStatecastZeroMQ

/// A ZeroMQ socket that closes itself.
///
/// A socket belongs to one thread at a time; it is not `Sendable`, so the compiler enforces that. Keep it in an actor
/// that runs on a ``PollLoop``, which reports readiness.
///
/// No operation blocks, except ``wait(for:timeout:)``.
package struct Socket: ~Copyable {
    let handle: SocketHandle
    private let options: SocketOptions

    /// Creates a socket.
    ///
    /// - Throws: `invalidOption`; `resourcesExhausted` if descriptors ran out; `terminated` if the context was shut
    ///   down.
    package init(
        _ kind: SocketKind,
        options: SocketOptions = SocketOptions(),
        in context: Context = .shared
    ) throws(ZeroMQError) {
        let handle = try SocketHandle(kind, in: context)
        try options.apply(to: handle)
        self.handle = handle
        self.options = options
    }

    // A value with a `deinit` exists until the end of its scope. Without it, optimized code would release a socket and
    // its unsent messages after the socket's last use.
    deinit { withExtendedLifetime(handle) {} }

    package var kind: SocketKind { handle.kind }

    /// The folder of an `ipc://*` endpoint, which exists as long as this reference.
    package var folder: AnyObject? { handle.folder }

    /// Subscribes to the messages whose first bytes are `topic`; an empty topic matches all.
    ///
    /// A topic that is subscribed to twice has to be unsubscribed from twice. Topics of more than 245 bytes arrive
    /// corrupted (libzmq 4.3).
    ///
    /// - Throws: `unsupported` on sockets other than `sub`.
    package func subscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try requireSubscriber("subscribe")
        try handle.set(ZMQ_SUBSCRIBE, topic)
    }

    /// Reverts one ``subscribe(_:)`` to `topic`. Messages in flight still arrive.
    ///
    /// - Throws: `unsupported` on sockets other than `sub`.
    package func unsubscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try requireSubscriber("unsubscribe")
        try handle.set(ZMQ_UNSUBSCRIBE, topic)
    }

    private func requireSubscriber(_ what: String) throws(ZeroMQError) {
        guard kind == .sub else {
            throw ZeroMQError(.unsupported, "a \(kind) socket cannot \(what): only a sub socket can")
        }
    }

    /// Enables IPv6 for an IPv6 address; names and `*` stand for IPv4 addresses.
    private func prepare(for endpoint: Endpoint) throws(ZeroMQError) {
        try handle.set(ZMQ_IPV6, endpoint.host?.isIPv6 == true)
    }

    // MARK: Addresses

    /// Binds the socket to `endpoint`.
    ///
    /// Claims the file of an `ipc` endpoint only if no process serves it; libzmq itself would remove the file of that
    /// process. The file of a dead process is replaced.
    ///
    /// A `tcp` endpoint becomes free a moment after its socket was closed, because libzmq closes in the background.
    ///
    /// - Returns: the resolved endpoint, with the port or file that the system chose.
    /// - Throws: `addressInUse`, `addressNotAvailable`, `permission`, `invalidEndpoint`, `terminated`.
    package func bind(_ endpoint: Endpoint) throws(ZeroMQError) -> Endpoint {
        let folder: SocketFolder? = if endpoint.isWildcardFile { try SocketFolder() } else { nil }
        let endpoint = if let folder { try Endpoint("ipc://\(folder.path)/socket") } else { endpoint }
        let claim: SocketFileClaim? =
            if let path = endpoint.socketFile { try SocketFileClaim(path, for: endpoint, in: folder) } else { nil }
        try prepare(for: endpoint)
        try Descriptors.check(for: "cannot bind to \(endpoint)")
        guard zmq_bind(handle.used(), endpoint.wireText) == 0 else {
            let number = zmq_errno()
            throw .failed("cannot bind to \(endpoint)", errno: number, advice: Self.bindAdvice(for: endpoint, number))
        }
        if let claim {
            claim.recordFile()
            handle.keep(claim)
        }
        return endpoint.isConnectable ? endpoint : try handle.lastEndpoint()
    }

    /// Connects to `endpoint`, and reconnects whenever the connection breaks.
    ///
    /// - Throws: `invalidEndpoint` if host, port or path are unspecified; `terminated`.
    package func connect(_ endpoint: Endpoint) throws(ZeroMQError) {
        guard endpoint.isConnectable else {
            throw ZeroMQError(
                .invalidEndpoint,
                """
                cannot connect to \(endpoint): expected the host and the port (or the path) of a bound socket, got a \
                wildcard; an example is tcp://127.0.0.1:7001
                """
            )
        }
        try prepare(for: endpoint)
        guard zmq_connect(handle.used(), endpoint.wireText) == 0 else {
            throw .failed("cannot connect to \(endpoint)", errno: zmq_errno())
        }
    }

    private static func bindAdvice(for endpoint: Endpoint, _ number: Int32) -> String? {
        switch ZeroMQError.Code(errno: number) {
        case .addressInUse: "another process or socket is bound there: stop it, or choose another endpoint"
        case .addressNotAvailable where endpoint.transport == .tcp:
            "the host must be an address or a network interface of this machine, or *"
        case .permission where endpoint.transport == .tcp: "ports below 1024 need privileges: choose a higher one"
        default: nil
        }
    }

    // MARK: Messages

    /// Sends a message without blocking.
    ///
    /// Success means that libzmq accepted the message, not that it is delivered. A publisher accepts every message,
    /// and drops it for subscribers that are too slow.
    ///
    /// - Returns: `false` if no peer has room; wait for writability and retry.
    /// - Throws: `unsupported` if this kind of socket cannot send; `terminated`.
    package func send(_ message: UnsafeRawBufferPointer) throws(ZeroMQError) -> Bool {
        while zmq_send(handle.used(), message.baseAddress, message.count, ZMQ_DONTWAIT) < 0 {
            if wouldBlock() { return false }
            if !wasInterrupted() { throw .failed("cannot send on a \(kind) socket", errno: zmq_errno()) }
        }
        return true
    }

    /// Sends a message without blocking; see ``send(_:)-(UnsafeRawBufferPointer)``.
    package func send(_ message: [UInt8]) throws(ZeroMQError) -> Bool {
        try message.span.bytes.withUnsafeBytes { (bytes) throws(ZeroMQError) in try send(bytes) }
    }

    /// Sends a message without blocking; see ``send(_:)-(UnsafeRawBufferPointer)``.
    package func send(_ message: ArraySlice<UInt8>) throws(ZeroMQError) -> Bool {
        try message.span.bytes.withUnsafeBytes { (bytes) throws(ZeroMQError) in try send(bytes) }
    }

    /// Receives the next message without blocking.
    ///
    /// - Returns: `nil` if there is no message.
    /// - Throws: `unsupported` if this kind of socket cannot receive; `terminated`.
    package func receive() throws(ZeroMQError) -> Incoming? { try receive { _ in } }

    /// Receives the next message without blocking, and calls `inspect` with its first frame.
    private func receive(
        inspecting inspect: (UnsafeMutablePointer<zmq_msg_t>) -> Void
    ) throws(ZeroMQError) -> Incoming? {
        var message = zmq_msg_t()
        // libzmq stores small messages inside the struct and forbids moving it: use one pointer.
        return try withUnsafeMutablePointer(to: &message) { (message) throws(ZeroMQError) in
            zmq_msg_init(message)
            defer { zmq_msg_close(message) }
            guard try receiveFrame(into: message) else { return nil }
            inspect(message)
            // An XPUB reports each frame of a subscriber by itself, but leaves the flag of a further frame set where it
            // does not report that frame, or reports it as a subscription.
            guard kind != .xpub, zmq_msg_more(message) != 0 else {
                return .message(
                    [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message)))
                )
            }
            var frames = 1
            // Never ends within a message: libzmq delivers messages only when all frames have arrived.
            while zmq_msg_more(message) != 0, try receiveFrame(into: message) { frames += 1 }
            return .multipart(frames: frames)
        }
    }

    /// Receives the next message, its user and the address that it came from, without blocking.
    ///
    /// - Parameter hasAddress: whether the transport has addresses. Over another one, a peer can send one of its own.
    /// - Returns: the message; the name that ``AuthenticationHandler/Decision`` gave the peer's user, `nil` on a socket
    ///   without CURVE; the peer's IP address. Both are `nil` for the end of a subscription because a connection broke.
    /// - Throws: as ``receive()``.
    package func receiveFromPeer(
        hasAddress: Bool
    ) throws(ZeroMQError) -> (message: Incoming, user: String?, address: String?)? {
        var (user, address): (String?, String?)
        // Without CURVE, a peer can send a name of its own.
        let isNamed = options.security != nil
        let message = try receive {
            if isNamed { user = zmq_msg_gets($0, "User-Id").map { String(cString: $0) } }
            if hasAddress { address = zmq_msg_gets($0, "Peer-Address").map { String(cString: $0) } }
        }
        return message.map { ($0, user, address) }
    }

    /// Receives the frames of the next message without blocking.
    ///
    /// - Returns: `nil` if there is no message.
    /// - Throws: as ``receive()``.
    func receiveFrames() throws(ZeroMQError) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        var message = zmq_msg_t()
        return try withUnsafeMutablePointer(to: &message) { (message) throws(ZeroMQError) in
            zmq_msg_init(message)
            defer { zmq_msg_close(message) }
            repeat {
                guard try receiveFrame(into: message) else { return nil }
                frames.append(
                    [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message)))
                )
            } while zmq_msg_more(message) != 0
            return frames
        }
    }

    /// Sends a message of several frames without blocking.
    ///
    /// - Returns: `false` if no peer has room. A `router` drops a message whose peer is gone.
    /// - Throws: as ``send(_:)-(UnsafeRawBufferPointer)``.
    package func send(frames: [[UInt8]]) throws(ZeroMQError) -> Bool {
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            while zmq_send(handle.used(), frame, frame.count, flags) < 0 {
                if wouldBlock() { return false }
                if !wasInterrupted() { throw .failed("cannot send on a \(kind) socket", errno: zmq_errno()) }
            }
        }
        return true
    }

    private func receiveFrame(into message: UnsafeMutablePointer<zmq_msg_t>) throws(ZeroMQError) -> Bool {
        while zmq_msg_recv(message, handle.used(), ZMQ_DONTWAIT) < 0 {
            if wouldBlock() { return false }
            if !wasInterrupted() { throw .failed("cannot receive on a \(kind) socket", errno: zmq_errno()) }
        }
        return true
    }

    // MARK: Waiting

    /// Blocks the calling thread until the socket is ready. For plain threads; on a ``PollLoop`` the loop waits.
    ///
    /// - Parameter timeout: the maximum time, rounded to milliseconds; `nil`: unlimited.
    /// - Returns: `false` if the time ran out.
    /// - Throws: `terminated`.
    package func wait(for readiness: Readiness, timeout: Duration? = nil) throws(ZeroMQError) -> Bool {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var item = zmq_pollitem_t(socket: handle.used(), fd: 0, events: Int16(readiness.events), revents: 0)
        while true {
            let ready = zmq_poll(&item, 1, Int(pollTimeout(until: deadline)))
            if ready > 0 { return true }
            if ready < 0 && !wasInterrupted() {
                throw .failed("cannot wait for a \(kind) socket", errno: zmq_errno())
            }
            if let deadline, ContinuousClock.now >= deadline { return false }
        }
    }
}

/// The pattern of a socket.
package enum SocketKind: Hashable, Sendable {
    /// Publishes, and receives subscriptions as messages: a byte 1 (subscribe) or 0 (unsubscribe), then the topic.
    case xpub
    /// Publishes.
    case pub
    /// Receives the messages that it subscribed to, by prefix.
    case sub
    /// Sends subscriptions, and the ends of such, as messages. It sends the further frames of a message as they are, as
    /// only a hostile peer does: for tests.
    case xsub
    /// Sends each message to one of its peers, in rotation.
    case push
    /// Receives from all peers, fairly.
    case pull
    /// Exchanges messages with one peer.
    case pair
    /// Answers the requests of many peers: the first frame of a message is the peer's address.
    case router

    var number: Int32 {
        switch self {
        case .xpub: ZMQ_XPUB
        case .pub: ZMQ_PUB
        case .sub: ZMQ_SUB
        case .xsub: ZMQ_XSUB
        case .push: ZMQ_PUSH
        case .pull: ZMQ_PULL
        case .pair: ZMQ_PAIR
        case .router: ZMQ_ROUTER
        }
    }
}

/// A received message.
package enum Incoming: Hashable, Sendable {
    /// A message of one frame.
    case message([UInt8])
    /// A message of several frames, which no protocol here uses; it was dropped.
    case multipart(frames: Int)
}

/// The readiness of a socket.
package enum Readiness: Hashable, Sendable {
    /// A message has arrived.
    case readable
    /// There is room to send a message.
    case writable

    var events: Int32 {
        switch self {
        case .readable: ZMQ_POLLIN
        case .writable: ZMQ_POLLOUT
        }
    }
}

/// The timeout of a poll in milliseconds: rounded up, so that a poll ends after its deadline; -1 is unlimited.
func pollTimeout(until deadline: ContinuousClock.Instant?) -> CInt {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let daySeconds: Int64 = 86_400
    let millisecond: Int64 = 1_000_000_000_000_000
    return CInt(min(seconds, daySeconds) * 1000 + (attoseconds + millisecond - 1) / millisecond)
}

/// The libzmq socket, closed when neither a ``Socket`` nor a loop refers to it.
///
/// The loop's reference makes it safe to drop a ``Socket`` that is being watched.
final class SocketHandle {
    private let pointer: UnsafeMutableRawPointer
    let kind: SocketKind
    let context: Context
    private var claims: [SocketFileClaim] = []

    /// The events for which the socket was ready when they were last read; all if its context was shut down.
    private(set) var events: Int32 = 0

    private(set) var isTerminated = false

    /// Whether an operation may have changed the events since they were read.
    private var wasUsed = true

    init(_ kind: SocketKind, in context: Context) throws(ZeroMQError) {
        try Descriptors.check(for: "cannot make a \(kind) socket")
        guard let contextPointer = context.pointer, let pointer = zmq_socket(contextPointer, kind.number) else {
            throw .failed(
                "cannot make a \(kind) socket",
                errno: zmq_errno(),
                advice: "libzmq permits 1023 sockets in a process: use fewer nodes"
            )
        }
        self.pointer = pointer
        self.kind = kind
        self.context = context
    }

    deinit {
        // The claims are released after this, so that the next owner of the file finds no server there.
        zmq_close(pointer)
    }

    /// The libzmq socket, for an operation.
    func used() -> UnsafeMutableRawPointer {
        wasUsed = true
        return pointer
    }

    /// Reads the events if they may have changed: by an operation, or because the descriptor is readable.
    func readEvents(isSignaled: Bool) {
        guard isSignaled || wasUsed else { return }
        wasUsed = false
        var size = MemoryLayout<Int32>.size
        while zmq_getsockopt(pointer, ZMQ_EVENTS, &events, &size) != 0 {
            if wasTerminated() { return (events, isTerminated) = (~0, true) }
            precondition(wasInterrupted(), "cannot read the events of a \(kind) socket: \(systemText(of: zmq_errno()))")
        }
    }

    /// The descriptor that becomes readable when the events may have changed without an operation.
    var descriptor: CInt {
        var (descriptor, size): (CInt, Int) = (-1, MemoryLayout<CInt>.size)
        let result = zmq_getsockopt(pointer, ZMQ_FD, &descriptor, &size)
        precondition(result == 0 || wasTerminated(), "a \(kind) socket has none: \(systemText(of: zmq_errno()))")
        return descriptor
    }

    func keep(_ claim: SocketFileClaim) { claims.append(claim) }

    var folder: SocketFolder? { claims.lazy.compactMap(\.folder).first }

    func set(_ option: Int32, _ isOn: Bool) throws(ZeroMQError) { try set(option, Int32(isOn ? 1 : 0)) }

    /// Sets a 32-bit option; libzmq requires the exact size of each option.
    func set(_ option: Int32, _ number: Int32) throws(ZeroMQError) {
        var number = number
        try check(zmq_setsockopt(used(), option, &number, MemoryLayout<Int32>.size), option)
    }

    func set(_ option: Int32, wide number: Int64) throws(ZeroMQError) {
        var number = number
        try check(zmq_setsockopt(used(), option, &number, MemoryLayout<Int64>.size), option)
    }

    /// Without a copy of the value.
    func set(_ option: Int32, _ value: UnsafeRawBufferPointer) throws(ZeroMQError) {
        try check(zmq_setsockopt(used(), option, value.baseAddress, value.count), option)
    }

    func set(_ option: Int32, _ value: [UInt8]) throws(ZeroMQError) {
        try check(zmq_setsockopt(used(), option, value, value.count), option)
    }

    private func check(_ result: Int32, _ option: Int32) throws(ZeroMQError) {
        guard result == 0 else {
            throw .failed("cannot set option \(option) of a \(kind) socket", errno: zmq_errno())
        }
    }

    /// The resolved endpoint of the last bind.
    func lastEndpoint() throws(ZeroMQError) -> Endpoint {
        var (bytes, count) = ([CChar](repeating: 0, count: 1024), 1024)
        guard zmq_getsockopt(used(), ZMQ_LAST_ENDPOINT, &bytes, &count) == 0 else {
            throw .failed("cannot read the endpoint of a \(kind) socket", errno: zmq_errno())
        }
        return try Endpoint(String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
