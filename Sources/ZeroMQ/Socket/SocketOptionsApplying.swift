internal import CZeroMQ

extension SocketOptions {
    /// Sets these options on a socket that neither binds nor connects yet.
    ///
    /// - Throws: `invalidOption`, naming the option, its range and the value.
    func apply(to socket: SocketHandle) throws(ZeroMQError) {
        try socket.set(ZMQ_SNDHWM, number("sendHighWaterMark", sendHighWaterMark, in: 1...Self.max))
        try socket.set(ZMQ_RCVHWM, number("receiveHighWaterMark", receiveHighWaterMark, in: 1...Self.max))
        try socket.set(ZMQ_LINGER, milliseconds("linger", linger))
        try socket.set(ZMQ_IMMEDIATE, immediate)
        try socket.set(ZMQ_IPV6, ipv6)
        if let messageBytesMax {
            guard messageBytesMax >= 0 else { throw Self.invalid("messageBytesMax", "0 or more", messageBytesMax) }
            try socket.set(ZMQ_MAXMSGSIZE, wide: Int64(messageBytesMax))
        }
        if xpubVerbose && socket.kind == .xpub { try socket.set(ZMQ_XPUB_VERBOSE, true) }
        try applyLiveness(to: socket)
        try applyTransport(to: socket)
    }

    private func applyLiveness(to socket: SocketHandle) throws(ZeroMQError) {
        if let heartbeatInterval {
            try socket.set(ZMQ_HEARTBEAT_IVL, milliseconds("heartbeatInterval", heartbeatInterval, from: 1))
        }
        if let heartbeatTimeout {
            try socket.set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds("heartbeatTimeout", heartbeatTimeout, from: 1))
        }
        try socket.set(ZMQ_RECONNECT_IVL, milliseconds("reconnectInterval", reconnectInterval, from: 1))
        if let reconnectIntervalMax {
            try socket.set(ZMQ_RECONNECT_IVL_MAX, milliseconds("reconnectIntervalMax", reconnectIntervalMax, from: 1))
        }
        let handshake = try handshakeInterval.map { (interval) throws(ZeroMQError) in
            try milliseconds("handshakeInterval", interval, from: 1)
        }
        try socket.set(ZMQ_HANDSHAKE_IVL, handshake ?? 0)
    }

    private func applyTransport(to socket: SocketHandle) throws(ZeroMQError) {
        if let tcpKeepAlive {
            let idle = try milliseconds("tcpKeepAlive.idle", tcpKeepAlive.idle, from: 1000)
            let interval = try milliseconds("tcpKeepAlive.interval", tcpKeepAlive.interval, from: 1000)
            try socket.set(ZMQ_TCP_KEEPALIVE, true)
            try socket.set(ZMQ_TCP_KEEPALIVE_IDLE, idle / 1000)
            try socket.set(ZMQ_TCP_KEEPALIVE_INTVL, interval / 1000)
            try socket.set(ZMQ_TCP_KEEPALIVE_CNT, number("tcpKeepAlive.count", tcpKeepAlive.count, in: 1...127))
        }
        if let tcpUnacknowledgedMax {
            let max = try milliseconds("tcpUnacknowledgedMax", tcpUnacknowledgedMax, from: 1)
            try socket.set(ZMQ_TCP_MAXRT, max)
        }
        if let sendBufferBytes {
            try socket.set(ZMQ_SNDBUF, number("sendBufferBytes", sendBufferBytes, in: 1...Self.max))
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

    private func milliseconds(_ name: String, _ value: Duration, from lowest: Int = 0) throws(ZeroMQError) -> Int32 {
        guard value >= .milliseconds(lowest), value <= .milliseconds(Self.max) else {
            throw Self.invalid(name, "\(Duration.milliseconds(lowest)) to \(Duration.milliseconds(Self.max))", value)
        }
        let (seconds, attoseconds) = value.components
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    private static func invalid(_ name: String, _ expected: String, _ value: some Sendable) -> ZeroMQError {
        ZeroMQError(.invalidOption, "the socket option \(name) is out of range: expected \(expected), got \(value)")
    }
}
