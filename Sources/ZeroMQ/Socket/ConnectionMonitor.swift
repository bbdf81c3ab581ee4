internal import CPlatform
internal import CZeroMQ
internal import Synchronization
internal import Threading

extension Socket {
    /// Reports the connections that the socket accepts, from before their handshakes on, and their ends. The difference
    /// is the number of open connections. All connections of a socket that is closed end.
    ///
    /// Call it before ``bind(_:)``: connections that were accepted earlier are not reported.
    ///
    /// Their number and rate are limited, see ``RequestLimit``.
    ///
    /// - Parameters:
    ///   - guard: stops connections that occupy the socket's thread; `nil`: none are.
    ///   - report: called with the numbers of connections that were accepted and ended since its last call, and with
    ///     whether the limit has been reached meanwhile, on a thread that also authenticates the peers of all sockets:
    ///     it must not wait.
    /// - Returns: the monitor of the connections.
    /// - Throws: `resourcesExhausted`, `terminated`.
    @discardableResult package func reportConnections(
        guardedBy guard: FloodGuard? = nil,
        to report: @escaping @Sendable (_ accepted: Int, _ ended: Int, _ isLimited: Bool) -> Void
    ) throws(ZeroMQError) -> ConnectionMonitor {
        let thread = try SocketThread.shared()
        let monitor = try ConnectionMonitor(of: handle, `guard`, report)
        monitor.start(on: thread)
        return monitor
    }
}

/// Receives the events of libzmq's monitor of a socket (zmq_socket_monitor).
///
/// libzmq's I/O thread sends the events, and blocks while there is no room for one. So their queue has no limit, and
/// the monitor reads until the event after which none follows. Accepted connections that fail, at whatever stage, have
/// the event `DISCONNECTED`; those that are open when their socket is closed do not.
///
/// Unchecked, but safe: after `start`, the ``SocketThread`` alone uses what has no lock.
package final class ConnectionMonitor: @unchecked Sendable {
    /// Without `ACCEPT_FAILED`, which libzmq repeats without a pause (a million times a second) while descriptors are
    /// exhausted.
    private static let events =
        ZMQ_EVENT_LISTENING | ZMQ_EVENT_CLOSED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED
        | ZMQ_EVENT_MONITOR_STOPPED

    private static let lastID = Atomic<Int>(0)

    private let socket: Socket
    private let report: @Sendable (Int, Int, Bool) -> Void
    private let floodGuard: FloodGuard?
    private var requestLimit = RequestLimit()
    /// When the next interval of the request limit begins.
    private var nextInterval = ContinuousClock.now
    /// The port of the `tcp` endpoint, in network order.
    private var port: UInt16 = 0
    /// The number of open connections.
    private var open = 0
    private let connections = Locked(Connections())
    private let isOver = Atomic(false)

    private struct Connections {
        /// Those of `tcp`, by descriptor.
        var open: [CInt: MonitoredConnection] = [:]
        /// Whether they were ended.
        var isEnding = false
    }

    fileprivate init(
        of monitored: SocketHandle,
        _ floodGuard: FloodGuard?,
        _ report: @escaping @Sendable (Int, Int, Bool) -> Void
    ) throws(ZeroMQError) {
        self.report = report
        self.floodGuard = floodGuard
        socket = try Socket(.pair, in: monitored.context)
        try socket.handle.set(ZMQ_RCVHWM, Int32(0))
        let id = Self.lastID.add(1, ordering: .relaxed).newValue
        let endpoint = try Endpoint("inproc://statecast-monitor-\(id)")
        guard zmq_socket_monitor(monitored.used(), endpoint.wireText, Self.events) == 0 else {
            throw .failed("cannot monitor a \(monitored.kind) socket", errno: zmq_errno())
        }
        // Fails only if the context was shut down. Then no event is sent, either.
        try socket.connect(endpoint)
    }

    /// Whether libzmq has released the socket, some time after it was closed.
    package var isStopped: Bool { isOver.load(ordering: .relaxed) }

    /// Ends the `tcp` connections that a socket accepted before it was unbound, so that their peers connect again.
    /// libzmq itself ends those that are not authenticated at once, and the others one by one when the socket is
    /// closed: at each, a publisher walks through all subscriptions.
    package func endConnections() {
        connections.withLock { connections in
            connections.isEnding = true
            for (descriptor, connection) in connections.open { connection.end(descriptor) }
        }
    }

    fileprivate func start(on thread: SocketThread) {
        thread.read(socket, checking: check) { [self] in receive() }
    }

    private func check() -> Duration? {
        let guarded: Duration? = connections.withLock { connections in
            guard let floodGuard, !connections.isEnding, !connections.open.isEmpty else { return nil }
            let isAsked = floodGuard.check(&connections.open)
            return isAsked ? FloodGuard.answerTime : FloodGuard.checkInterval(ofConnections: connections.open.count)
        }
        let untilCheck = guarded ?? SocketThread.checkInterval
        guard ContinuousClock.now >= nextInterval else { return untilCheck }
        nextInterval = .now + SocketThread.checkInterval
        let wasDropping = requestLimit.isDropping
        let isLimited = requestLimit.startInterval()
        if requestLimit.isDropping, !wasDropping { report(0, 0, true) }
        return isLimited || guarded != nil ? untilCheck : nil
    }

    /// If the others were ended before this event was received, this one is ended, too, unless its descriptor belongs
    /// to a connection of another endpoint by now.
    private func accept(_ descriptor: CInt) {
        connections.withLock { connections in
            let connection = MonitoredConnection(descriptor)
            connections.open[descriptor] = connection
            if connections.isEnding, statecast_port_of(descriptor) == port { connection?.end(descriptor) }
        }
    }

    /// - Returns: whether further events may follow.
    private func receive() -> Bool {
        var (accepted, ended, isStopped) = (0, 0, false)
        do throws(ZeroMQError) {
            for _ in 0..<SocketThread.messagesPerTurnMax {
                // The number of the event (16 bits) and its value; the endpoint.
                guard let event = try socket.receiveFrames()?.first else { break }
                let (number, value) = event.withUnsafeBytes {
                    ($0.loadUnaligned(as: UInt16.self), $0.loadUnaligned(fromByteOffset: 2, as: CInt.self))
                }
                // The value is the descriptor.
                switch CInt(number) {
                case ZMQ_EVENT_LISTENING:
                    requestLimit.listens(on: value)
                    port = statecast_port_of(value)
                case ZMQ_EVENT_CLOSED: requestLimit.end()
                case ZMQ_EVENT_ACCEPTED:
                    accepted += 1
                    accept(value)
                case ZMQ_EVENT_DISCONNECTED:
                    ended += 1
                    connections.withLock { $0.open[value] = nil }
                default: isStopped = true
                }
            }
        } catch {
            // The context was shut down.
            isStopped = true
        }
        open += accepted - ended
        if isStopped {
            ended += open
            open = 0
            requestLimit.end()
            isOver.store(true, ordering: .relaxed)
        }
        let wasDropping = requestLimit.isDropping
        requestLimit.count(accepted: accepted, ended: ended)
        if accepted + ended > 0 { report(accepted, ended, requestLimit.isDropping && !wasDropping) }
        return !isStopped
    }
}
