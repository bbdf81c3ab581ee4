internal import SyncProtocol
internal import ZeroMQ

/// How each socket of the protocol is set up.
extension SocketOptions {
    /// Lets the kernel find out that a peer's machine is gone, or takes nothing any more, and end the connection: that is
    /// also how long a stalled subscriber may hold its queue.
    ///
    /// Not ZeroMQ's heartbeats. Where a connection's receive queue is full, the next one ends the process: libzmq 4.3 aborts
    /// if the connection has broken meanwhile (`!_io_error`), or is replaced for lack of an answer (`_input_stopped`,
    /// zeromq/libzmq#3937).
    private mutating func noticeDeadConnections() {
        tcpKeepAlive = .init(idle: .seconds(5), interval: .seconds(5), count: 2)
        tcpUnacknowledgedMax = .seconds(15)
    }

    /// The receive queues of the sockets that a primary binds have no bound that a peer reaches. libzmq 4.3 aborts the
    /// process if a connection is reset while its queue is full and a PING of the peer is unread (`!_io_error`): any peer
    /// could do that. So what waits for the primary is bounded by the senders' windows, not by libzmq. Half of libzmq's
    /// largest number, from which it computes others.
    private static let unbounded = 1 << 30

    /// Down, on the primary. A subscriber says no more than its topics.
    static func publisher(_ configuration: PrimaryConfiguration) -> SocketOptions {
        .with {
            $0.sendHighWaterMark = configuration.publishHighWaterMark
            $0.receiveHighWaterMark = unbounded
            $0.noticeDeadConnections()
            $0.messageBytesMax = Limits.subscriptionBytesMax
            $0.xpubVerbose = true
        }
    }

    /// Down, on a replica or sender.
    static func subscriber(_ limits: Limits) -> SocketOptions {
        .with {
            $0.noticeDeadConnections()
            $0.messageBytesMax = limits.frameBytesMax
            $0.reconnectIntervalMax = .seconds(2)
        }
    }

    /// Up, on the primary. Frames somewhat over the limit still come in, to be counted; a peer beyond is cut off.
    static func puller(_ limits: Limits) -> SocketOptions {
        .with {
            $0.receiveHighWaterMark = unbounded
            $0.noticeDeadConnections()
            $0.messageBytesMax = limits.frameBytesMax * 2
        }
    }

    /// Up, on a sender. Nothing waits for a connection that is not there: the outbox is the place for that. There is room
    /// for a whole window, so a send that finds none has found no connection.
    static func pusher(_ limits: Limits) -> SocketOptions {
        .with {
            $0.noticeDeadConnections()
            $0.immediate = true
            $0.reconnectIntervalMax = .seconds(2)
            $0.sendHighWaterMark = limits.windowActionsMax
        }
    }
}
