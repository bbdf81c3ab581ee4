/// How a socket behaves; given once, when it is made.
///
/// What libzmq offers beside these is left out on purpose. `ZMQ_XPUB_NODROP` is: with it one stalled subscriber blocks
/// all others.
package struct SocketOptions: Hashable, Sendable {
    /// How many messages wait for each peer before sending to it blocks or, on a publisher, drops. Messages, not bytes.
    package var sendHighWaterMark = 1000

    /// How many received messages wait for each peer before the network is no longer read.
    package var receiveHighWaterMark = 1000

    /// The largest frame taken from a peer, in bytes; one that sends a larger one is disconnected. `nil`: any.
    package var messageBytesMax: Int?

    /// How long unsent messages keep the connection of a closed socket open. It bounds how long a process takes to end.
    package var linger: Duration = .zero

    /// Whether messages wait only for peers that are connected. Without it they also wait for one that is yet to come;
    /// with it they are lost with the connection.
    package var immediate = false

    /// Whether an `xpub` reports a subscription that is already there, as one is that comes again after a reconnect.
    package var xpubVerbose = false

    /// How often a peer is asked for a sign of life; `nil`: never.
    ///
    /// Not for a socket that a stranger reaches, nor for one that receives. If the queue behind a connection is full when
    /// the connection breaks, or stays so for too long, libzmq 4.3 aborts the process: `Assertion failed: !_io_error`, or
    /// `_input_stopped` (zeromq/libzmq#3937). ``tcpKeepAlive`` is for those.
    package var heartbeatInterval: Duration?

    /// How long a peer may stay silent after being asked. It evicts a stalled subscriber as well as one that is merely
    /// busy for so long. `nil`: as long as the interval.
    package var heartbeatTimeout: Duration?

    /// How long to wait before connecting again.
    package var reconnectInterval: Duration = .milliseconds(100)

    /// Up to where that wait doubles each time; `nil`: it does not grow.
    package var reconnectIntervalMax: Duration?

    /// How long a new connection may take to say who it is; `nil`: for ever.
    package var handshakeInterval: Duration? = .seconds(30)

    /// The operating system's own probing of idle connections; `nil`: its defaults, which are hours.
    package var tcpKeepAlive: TCPKeepAlive?

    /// How long the operating system goes on to send what a peer does not acknowledge, and probes it; `nil`: its
    /// default, which is many minutes.
    package var tcpUnacknowledgedMax: Duration?

    /// Whether names resolve to IPv6 and `*` includes it. An endpoint with an IPv6 address works without.
    package var ipv6 = false

    /// The kernel's send buffer for each connection, in bytes; `nil`: the system's choice.
    package var sendBufferBytes: Int?

    /// The kernel's receive buffer for each connection, in bytes; `nil`: the system's choice.
    package var receiveBufferBytes: Int?

    package init() {}

    /// The options after `change`, for one expression.
    package static func with(_ change: (inout SocketOptions) -> Void) -> SocketOptions {
        var options = SocketOptions()
        change(&options)
        return options
    }

    /// When the operating system probes an idle connection, and when it gives it up.
    package struct TCPKeepAlive: Hashable, Sendable {
        /// The silence before the first probe, in whole seconds.
        package var idle: Duration
        /// The time between probes, in whole seconds.
        package var interval: Duration
        /// How many unanswered probes end the connection.
        package var count: Int

        package init(idle: Duration, interval: Duration, count: Int) {
            self.idle = idle
            self.interval = interval
            self.count = count
        }
    }
}
