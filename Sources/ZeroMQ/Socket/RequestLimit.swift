internal import CPlatform
internal import Synchronization

/// Protects libzmq's I/O thread from peers that connect again and again.
///
/// libzmq accepts each connection, before any handshake, on the thread that serves all other connections. When the
/// process has no descriptor left, it tries again without a pause. So beyond ``perInterval`` connections in each
/// interval (``SocketThread/checkInterval``) after a burst, or when few descriptors are left, the system drops the
/// requests for connections. The systems of honest peers repeat them after a second, then at growing intervals.
///
/// Only for `tcp`, and only on Linux.
package struct RequestLimit {
    /// Their handshakes with keys take up to a third of the interval.
    package static let perInterval = 100
    /// All peers may connect at once, for example after a restart.
    package static let burst = 1024

    private let open: OpenConnections
    /// The listening socket, if the limit applies to it.
    private var listener: statecast_listener?
    /// The connections that are permitted now. Those beyond count against the next interval.
    private var permitted = burst
    package private(set) var isDropping = false

    package init(among open: OpenConnections = .ofProcess) { self.open = open }

    /// - Parameter descriptor: of the listening socket.
    package mutating func listens(on descriptor: CInt) {
        var found = statecast_listener()
        guard listener == nil, statecast_listener_of(descriptor, &found) else { return }
        listener = found
        open.listeners.add(1, ordering: .relaxed)
    }

    /// The listening socket is closed.
    package mutating func end() {
        guard listener.take() != nil else { return }
        open.listeners.subtract(1, ordering: .relaxed)
        isDropping = false
    }

    package mutating func count(accepted: Int, ended: Int) {
        permitted = max(permitted - accepted, -Self.perInterval)
        open.connections.add(accepted - ended, ordering: .relaxed)
        if isExceeded { drop(true) }
    }

    /// Call it once each interval as long as it returns `true`.
    package mutating func startInterval() -> Bool {
        permitted = min(permitted + Self.perInterval, Self.burst)
        drop(isExceeded)
        return isDropping || permitted < Self.burst
    }

    private var isExceeded: Bool { permitted <= 0 || open.areMany }

    private mutating func drop(_ drops: Bool) {
        guard let listener, drops != isDropping, statecast_drop_requests(listener, drops) else { return }
        isDropping = drops
    }
}

/// The open connections of all sockets that share their descriptors.
package final class OpenConnections: Sendable {
    package static let ofProcess = OpenConnections(descriptorsMax: Int(clamping: statecast_open_files_max()))

    fileprivate let connections = Atomic<Int>(0)
    fileprivate let listeners = Atomic<Int>(0)
    private let descriptorsMax: Int

    /// Descriptors that are not for connections.
    package static let reserved = 100
    /// The requests of a listening socket that the system completes before they are accepted (`ZMQ_BACKLOG`).
    package static let reservedForListener = 100
    /// As many may be open with any limit of descriptors.
    package static let min = 64

    package init(descriptorsMax: Int) { self.descriptorsMax = descriptorsMax }

    fileprivate var areMany: Bool {
        let reserved = Self.reserved + listeners.load(ordering: .relaxed) * Self.reservedForListener
        return connections.load(ordering: .relaxed) >= Swift.max(descriptorsMax - reserved, Self.min)
    }
}
