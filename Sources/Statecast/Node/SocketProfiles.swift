internal import ZeroMQ

/// How each socket of the protocol is set up. The heartbeats end connections whose peer is gone or stalled; the
/// publisher's timeout is how long a stalled subscriber may hold its queue.
extension SocketOptions {
    /// Down, on the primary. A subscriber says no more than its topics.
    static func publisher(_ configuration: PrimaryConfiguration) -> SocketOptions {
        .with {
            $0.sendHighWaterMark = configuration.publishHighWaterMark
            $0.heartbeatInterval = .seconds(5)
            $0.heartbeatTimeout = .seconds(15)
            $0.messageBytesMax = Limits.subscriptionBytesMax
            $0.xpubVerbose = true
        }
    }

    /// Down, on a replica or sender. The kernel finds out that the publisher's machine is gone, not ZeroMQ's heartbeats:
    /// they would also end the connection of a subscriber that is late with reading, and libzmq 4.3 then aborts the
    /// process as soon as it reads on (zeromq/libzmq#3937).
    static func subscriber(_ limits: Limits) -> SocketOptions {
        .with {
            $0.tcpKeepAlive = .init(idle: .seconds(5), interval: .seconds(5), count: 2)
            $0.tcpUnacknowledgedMax = .seconds(15)
            $0.messageBytesMax = limits.frameBytesMax
            $0.reconnectIntervalMax = .seconds(2)
        }
    }

    /// Up, on the primary. Frames somewhat over the limit still come in, to be counted; a peer beyond is cut off.
    static func puller(_ limits: Limits) -> SocketOptions {
        .with {
            $0.heartbeatInterval = .seconds(5)
            $0.heartbeatTimeout = .seconds(15)
            $0.messageBytesMax = limits.frameBytesMax * 2
        }
    }

    /// Up, on a sender. Nothing waits for a connection that is not there: the outbox is the place for that. There is room
    /// for a whole window, so a send that finds none has found no connection.
    static func pusher(_ limits: Limits) -> SocketOptions {
        .with {
            $0.heartbeatInterval = .seconds(5)
            $0.heartbeatTimeout = .seconds(15)
            $0.immediate = true
            $0.reconnectIntervalMax = .seconds(2)
            $0.sendHighWaterMark = limits.windowActionsMax
        }
    }
}
