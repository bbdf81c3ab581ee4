internal import CPlatform
internal import Synchronization

/// Protects libzmq's I/O thread from peers that connect again and again.
///
/// libzmq accepts each connection, before any handshake, on the thread that serves all other connections. When the
/// process has no descriptor left, it tries again without a pause. So beyond ``perInterval`` connections in each
/// interval (``SocketThread/checkInterval``) after a burst, or when so many are open that descriptors run short, the
/// operating system drops the requests for connections. The systems of honest peers repeat them after a second, then at
/// growing intervals.
///
/// Only for `tcp`, and only on Linux.
package struct RequestLimit {
    /// Their handshakes with keys take up to a third of the interval.
    package static let perInterval = 100
    /// All peers may connect at once, for example after a restart.
    package static let burst = 1024

    private let open: OpenConnections
    /// The descriptor of the listening socket.
    private var listener: CInt?
    /// The connections that are permitted now. Those beyond count against the next interval.
    private var permitted = burst
    package private(set) var isDropping = false

    package init(among open: OpenConnections = .ofProcess) { self.open = open }

    package mutating func listens(on listener: CInt) { self.listener = listener }

    package mutating func count(accepted: Int, ended: Int) {
        permitted = max(permitted - accepted, -Self.perInterval)
        open.add(accepted - ended)
        if isExceeded, !isDropping { drop(true) }
    }

    /// Call it once each interval as long as it returns `true`.
    package mutating func startInterval() -> Bool {
        permitted = min(permitted + Self.perInterval, Self.burst)
        // Repeated, since the descriptor of a closed socket may have become that of another listening one.
        if isDropping || isExceeded { drop(isExceeded) }
        return isDropping || permitted < Self.burst
    }

    private var isExceeded: Bool { permitted <= 0 || open.isFull }

    private mutating func drop(_ drops: Bool) {
        guard let listener else { return }
        statecast_drop_requests(listener, drops)
        isDropping = drops
    }
}

/// The open connections of all sockets that share their descriptors.
package final class OpenConnections: Sendable {
    package static let ofProcess = OpenConnections(max: Int(clamping: statecast_open_files_max()) - reserved)

    /// Descriptors that are not for connections, and those of requests that the system has completed: up to 100 for
    /// each listening socket (`ZMQ_BACKLOG`).
    private static let reserved = 400

    private let count = Atomic<Int>(0)
    private let max: Int

    /// - Parameter max: how many may be open; at least 64 may.
    package init(max: Int) { self.max = Swift.max(max, 64) }

    func add(_ change: Int) { count.add(change, ordering: .relaxed) }

    var isFull: Bool { count.load(ordering: .relaxed) >= max }
}
