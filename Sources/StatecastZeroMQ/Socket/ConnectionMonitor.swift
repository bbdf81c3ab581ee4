import CStatecastZeroMQ
import Synchronization

extension Socket {
    /// Reports the connections that the socket accepts, from before their handshakes on, and their ends. The difference
    /// is the number of open connections. All connections of a socket that is closed end.
    ///
    /// Call it before ``bind(_:)``: connections that were accepted earlier are not reported.
    ///
    /// - Parameter report: called with the numbers of connections that were accepted and ended since its last call, on
    ///   a thread that also authenticates the peers of all sockets: it must not wait.
    /// - Throws: `resourcesExhausted`, `terminated`.
    package func reportConnections(
        to report: @escaping @Sendable (_ accepted: Int, _ ended: Int) -> Void
    ) throws(ZeroMQError) {
        let thread = try SocketThread.shared()
        let monitor = try ConnectionMonitor(of: handle, report)
        monitor.start(on: thread)
    }
}

/// Receives the events of libzmq's monitor of a socket (zmq_socket_monitor).
///
/// libzmq's I/O thread sends the events, and blocks while there is no room for one. So their queue has no limit, and
/// the monitor reads until the event after which none follows. Accepted connections that fail, at whatever stage, have
/// the event `DISCONNECTED`; those that are open when their socket is closed do not.
///
/// The descriptors in the events are not used: the process may have closed and reused them by then.
///
/// Unchecked, but safe: after `start`, the ``SocketThread`` alone uses it.
private final class ConnectionMonitor: @unchecked Sendable {
    /// Without `ACCEPT_FAILED`, which libzmq repeats without a pause (a million times a second) while descriptors are
    /// exhausted.
    private static let events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_MONITOR_STOPPED

    private static let lastID = Atomic<Int>(0)

    private let socket: Socket
    private let report: @Sendable (Int, Int) -> Void
    /// The number of open connections.
    private var open = 0

    init(
        of monitored: SocketHandle,
        _ report: @escaping @Sendable (Int, Int) -> Void
    ) throws(ZeroMQError) {
        self.report = report
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

    func start(on thread: SocketThread) {
        thread.read(socket) { [self] in receive() }
    }

    /// - Returns: whether further events may follow.
    private func receive() -> Bool {
        var (accepted, ended, isStopped) = (0, 0, false)
        do throws(ZeroMQError) {
            for _ in 0..<SocketThread.maxMessagesPerTurn {
                // The number of the event (16 bits) and its value; the endpoint.
                guard let event = try socket.receiveFrames()?.first else { break }
                switch CInt(event.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) }) {
                case ZMQ_EVENT_ACCEPTED: accepted += 1
                case ZMQ_EVENT_DISCONNECTED: ended += 1
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
        }
        if accepted + ended > 0 { report(accepted, ended) }
        return !isStopped
    }
}
