import StatecastProtocol
import StatecastZeroMQ

/// The options of each socket of the protocol.
extension SocketOptions {
    /// Lets the kernel detect that a peer is gone or reads no more, and close the connection. Until then, a stalled
    /// subscriber's queue is retained.
    ///
    /// ZeroMQ's heartbeats are not used: where a connection's receive queue is full, libzmq 4.3 aborts the process at
    /// the next heartbeat if the connection has broken (`!_io_error`) or is replaced for lack of an answer
    /// (`_input_stopped`, zeromq/libzmq#3937).
    private mutating func noticeDeadConnections() {
        maxTcpUnacknowledged = .seconds(15)
    }

    /// The receive queues of the primary's sockets have no bound that a peer can reach. libzmq 4.3 aborts the process
    /// if a connection is reset while its queue is full and a PING of the peer is unread (`!_io_error`): any peer could
    /// do that. The senders' windows bound the waiting messages instead. The value is half of libzmq's maximum, to
    /// avoid overflow in libzmq.
    private static let unbounded = 1 << 30

    /// The bytes that CURVE adds to each message. `maxMessageBytes` also bounds the commands of its handshake, of which
    /// the longest has less than 300.
    private static let curveBytes = 33
    /// Encrypts, and raises the maximum size of a message accordingly. Nothing changes if `security` is `nil`.
    private mutating func encrypt(_ security: CurveSecurity?) {
        guard let security else { return }
        self.security = security
        maxMessageBytes = maxMessageBytes.map { $0 + Self.curveBytes }
        // libzmq's client connects again when this is over, if the handler refuses it.
        handshakeInterval = .seconds(5)
    }

    /// A publisher of the primary. Subscribers send topics only. Those that flood it are noticed with a delay, so the
    /// system keeps little of what they have sent.
    static func publisher(_ configuration: PrimaryConfiguration, _ security: CurveSecurity? = nil) -> SocketOptions {
        .with {
            $0.sendHighWaterMark = configuration.publishHighWaterMark
            $0.receiveHighWaterMark = unbounded
            $0.receiveBufferBytes = 4 << 10
            $0.noticeDeadConnections()
            $0.maxMessageBytes = Limits.maxSubscriptionBytes
            $0.xpubVerbose = true
            $0.encrypt(security)
        }
    }

    /// The SUB of a replica or sender.
    static func subscriber(_ limits: Limits, _ security: ClientSecurity? = nil) -> SocketOptions {
        .with {
            $0.noticeDeadConnections()
            $0.maxMessageBytes = limits.maxFrameBytes
            $0.maxReconnectInterval = .seconds(2)
            $0.encrypt(security?.curve)
        }
    }

    /// The primary's PULL. Frames up to twice the limit are received, and counted as dropped; larger ones close the
    /// connection.
    static func puller(_ limits: Limits, _ security: CurveSecurity? = nil) -> SocketOptions {
        .with {
            $0.receiveHighWaterMark = unbounded
            $0.noticeDeadConnections()
            $0.maxMessageBytes = limits.maxFrameBytes * 2
            $0.encrypt(security)
        }
    }

    /// The sender's PUSH. Nothing is queued without a connection: the outbox keeps the actions. The queue has room for
    /// a whole window, so a send fails only if there is no connection.
    static func pusher(_ limits: Limits, _ security: ClientSecurity? = nil) -> SocketOptions {
        .with {
            $0.noticeDeadConnections()
            $0.immediate = true
            $0.maxReconnectInterval = .seconds(2)
            $0.sendHighWaterMark = limits.maxWindowFrames
            $0.encrypt(security?.curve)
        }
    }
}
