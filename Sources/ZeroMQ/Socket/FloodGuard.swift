internal import CPlatform
internal import Threading

/// Protects the thread of a publisher's socket from subscribers that keep it inside libzmq.
///
/// An `xpub` processes the subscriptions of a connection until there are none left. If they arrive faster than that,
/// the thread does not return, and cannot do anything about the peer. So another thread compares, ten times a second,
/// what the connections have received: beyond ``bytesMax`` in all, it asks the socket's thread for a sign of life.
/// After each ``answerTime`` in which that does not answer, connections that have received more than ``bytesMax`` since
/// then are shut down. Honest peers connect again.
///
/// Only of `tcp` connections is it known how much they have received.
package final class FloodGuard: Sendable {
    private struct State {
        /// Whether the socket's thread was asked and has not answered.
        var isAsked = false
        /// The connections that were shut down since it answered.
        var shutDown = 0
    }

    private let state: Locked<State>
    private let bell: Doorbell

    /// What a connection may receive while the socket's thread does not answer: 200 subscriptions of the maximum size.
    static let bytesMax: UInt64 = 64 << 10

    /// A thread that is not occupied answers within this time. A flood makes the process grow until its connections are
    /// shut down.
    static let answerTime = Duration.milliseconds(20)

    /// Call it on the loop of the socket.
    ///
    /// - Parameter onFlood: called on the loop when it is free again, with the number of connections that were shut
    ///   down.
    package init(on loop: PollLoop, onFlood: @escaping (_ shutDown: Int) -> Void) {
        let state = Locked(State())
        self.state = state
        bell = loop.doorbell {
            let shutDown = state.withLock { state in
                defer { state = State() }
                return state.shutDown
            }
            if shutDown > 0 { onFlood(shutDown) }
        }
    }

    /// Whether connections were shut down, and the socket's thread has not answered since. New connections should be
    /// refused until then.
    package var isFlooded: Bool { state.withLock { $0.shutDown > 0 } }

    /// Compares what the connections have received.
    ///
    /// - Returns: whether the socket's thread is asked, so that the next check is due after ``answerTime``.
    func check(_ connections: inout [CInt: MonitoredConnection]) -> Bool {
        let isAsked = state.withLock(\.isAsked)
        var shutDown = 0
        var sum: UInt64 = 0
        for descriptor in connections.keys {
            guard let received = connections[descriptor]?.received(at: descriptor) else { continue }
            sum += received.bytes
            // What it receives while the thread does not answer adds up.
            if !isAsked { connections[descriptor]?.mark = received.total }
            let isFlood = isAsked && received.bytes > Self.bytesMax
            if isFlood, connections[descriptor]?.shutDown(descriptor) == true { shutDown += 1 }
        }
        // In all: a flood may come from many connections.
        let isBusy = sum > Self.bytesMax
        let (asks, isAskedNow) = state.withLock { state in
            // It may have answered meanwhile.
            if state.isAsked { state.shutDown += shutDown }
            let asks = !state.isAsked && isBusy
            if asks { state.isAsked = true }
            return (asks, state.isAsked)
        }
        if asks { bell.ring() }
        return isAskedNow
    }
}

/// An accepted connection, as the operating system knows it.
struct MonitoredConnection {
    /// Its peer's address: the descriptor may belong to another connection by now.
    private let peer: statecast_peer
    /// What it had received at an earlier time, in bytes.
    fileprivate(set) var mark: UInt64 = 0

    /// - Returns: `nil` if it has ended, or is not a `tcp` connection.
    init?(_ descriptor: CInt) {
        var peer = statecast_peer()
        guard statecast_peer_of(descriptor, &peer) else { return nil }
        self.peer = peer
    }

    /// What it has received since the mark, and in all; `nil` if it has ended.
    fileprivate func received(at descriptor: CInt) -> (bytes: UInt64, total: UInt64)? {
        guard isCurrent(descriptor) else { return nil }
        let total = statecast_bytes_received(descriptor)
        return (total - min(mark, total), total)
    }

    private func isCurrent(_ descriptor: CInt) -> Bool {
        var current = statecast_peer()
        return statecast_peer_of(descriptor, &current) && statecast_is_equal(current, peer)
    }

    /// Ends the connection; libzmq notices it like the peer's end.
    fileprivate func shutDown(_ descriptor: CInt) -> Bool { isCurrent(descriptor) && statecast_shut_down(descriptor) }
}
