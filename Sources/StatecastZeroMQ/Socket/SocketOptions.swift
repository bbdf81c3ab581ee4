import CStatecastZeroMQ

/// The options of a socket, applied when it is created.
///
/// Omits other options of libzmq on purpose, such as `ZMQ_XPUB_NODROP`, with which one stalled subscriber blocks all
/// others, and heartbeats: if the queue of a connection is full when the connection breaks, or stays full for too long,
/// libzmq 4.3 aborts the process (`Assertion failed: !_io_error`, or `_input_stopped`, zeromq/libzmq#3937). Use
/// ``maxTcpUnacknowledged``.
package struct SocketOptions: Hashable, Sendable {
    /// The number of messages that wait for each peer before sending to it blocks or, on a publisher, drops. Counts
    /// messages, not bytes.
    package var sendHighWaterMark = 1000

    /// The number of received messages that wait for each peer before the socket stops reading from the network.
    package var receiveHighWaterMark = 1000

    /// The maximum size of a received frame, in bytes; a peer that exceeds it is disconnected. `nil`: no limit.
    package var maxMessageBytes: Int?

    /// Whether messages are queued only for connected peers. If false, they are also queued for future peers; if true,
    /// they are lost with the connection.
    package var immediate = false

    /// Whether an `xpub` reports each subscription, also one that a peer resends after a reconnect, and not only the
    /// first one of a topic. With ``security``, which names the connection of each, it also reports each end, and not
    /// only the last one of a topic.
    package var xpubVerbose = false

    /// The delay before a reconnect.
    package var reconnectInterval: Duration = .milliseconds(100)

    /// The maximum of that delay, which doubles each time; `nil`: it does not grow.
    package var maxReconnectInterval: Duration?

    /// The time limit of a new connection's handshake; `nil`: unlimited.
    package var handshakeInterval: Duration? = .seconds(30)

    /// The time that the operating system keeps resending unacknowledged data. It also probes a connection that is idle
    /// for 5 seconds, and closes it after two probes without an answer. `nil`: the system's defaults, which are many
    /// minutes for data and hours for idle connections.
    package var maxTcpUnacknowledged: Duration?

    /// The kernel's receive buffer of a connection, in bytes; `nil`: the system's choice.
    package var receiveBufferBytes: Int?

    /// Encryption and authentication; `nil`: none. Each message is 33 bytes larger with it.
    package var security: CurveSecurity?

    package init() {}

    /// The standard options, changed by the closure.
    package static func with(_ change: (inout SocketOptions) -> Void) -> SocketOptions {
        var options = SocketOptions()
        change(&options)
        return options
    }

    // MARK: Applying

    /// `ZMQ_ONLY_FIRST_SUBSCRIBE`, which libzmq 4.3 implements and declares in its draft API only.
    private static let onlyFirstSubscribe: Int32 = 108

    /// Applies the options to a socket before its first bind or connect.
    ///
    /// - Throws: `invalidOption`, with the option, its range and the value.
    func apply(to socket: SocketHandle) throws(ZeroMQError) {
        try socket.set(ZMQ_SNDHWM, number("sendHighWaterMark", sendHighWaterMark, in: 1...Self.max))
        try socket.set(ZMQ_RCVHWM, number("receiveHighWaterMark", receiveHighWaterMark, in: 1...Self.max))
        // A closed socket drops its unsent messages, so that the exit of the process does not wait for peers.
        try socket.set(ZMQ_LINGER, 0)
        try socket.set(ZMQ_IMMEDIATE, immediate)
        if let maxMessageBytes {
            guard maxMessageBytes >= 0 else { throw Self.invalid("maxMessageBytes", "0 or more", maxMessageBytes) }
            try socket.set(ZMQ_MAXMSGSIZE, wide: Int64(maxMessageBytes))
        }
        if xpubVerbose && socket.kind == .xpub {
            try socket.set(security == nil ? ZMQ_XPUB_VERBOSE : ZMQ_XPUB_VERBOSER, true)
        }
        if socket.kind == .xsub { try socket.set(Self.onlyFirstSubscribe, true) }
        try applyLiveness(to: socket)
        try applyTransport(to: socket)
        try security?.apply(to: socket)
    }

    private func applyLiveness(to socket: SocketHandle) throws(ZeroMQError) {
        try socket.set(ZMQ_RECONNECT_IVL, milliseconds("reconnectInterval", reconnectInterval))
        if let maxReconnectInterval {
            try socket.set(ZMQ_RECONNECT_IVL_MAX, milliseconds("maxReconnectInterval", maxReconnectInterval))
        }
        let handshake = try handshakeInterval.map { (interval) throws(ZeroMQError) in
            try milliseconds("handshakeInterval", interval)
        }
        try socket.set(ZMQ_HANDSHAKE_IVL, handshake ?? 0)
    }

    private func applyTransport(to socket: SocketHandle) throws(ZeroMQError) {
        if let maxTcpUnacknowledged {
            try socket.set(ZMQ_TCP_MAXRT, milliseconds("maxTcpUnacknowledged", maxTcpUnacknowledged))
            try socket.set(ZMQ_TCP_KEEPALIVE, true)
            try socket.set(ZMQ_TCP_KEEPALIVE_IDLE, 5)
            try socket.set(ZMQ_TCP_KEEPALIVE_INTVL, 5)
            try socket.set(ZMQ_TCP_KEEPALIVE_CNT, 2)
        }
        if let receiveBufferBytes {
            try socket.set(ZMQ_RCVBUF, number("receiveBufferBytes", receiveBufferBytes, in: 1...Self.max))
        }
    }

    private static let max = Int(Int32.max)

    private func number(_ name: String, _ value: Int, in range: ClosedRange<Int>) throws(ZeroMQError) -> Int32 {
        guard range.contains(value) else { throw Self.invalid(name, "\(range)", value) }
        return Int32(value)
    }

    private func milliseconds(_ name: String, _ value: Duration) throws(ZeroMQError) -> Int32 {
        let range = Duration.milliseconds(1)...Duration.milliseconds(Self.max)
        guard range.contains(value) else {
            throw Self.invalid(name, "\(range.lowerBound) to \(range.upperBound)", value)
        }
        let (seconds, attoseconds) = value.components
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    private static func invalid(_ name: String, _ expected: String, _ value: some Sendable) -> ZeroMQError {
        ZeroMQError(.invalidOption, "the socket option \(name) is out of range: expected \(expected), got \(value)")
    }
}
