internal import CPlatform
internal import Threading

/// Protects the thread of a publisher's socket from subscribers that keep it inside libzmq.
///
/// An `xpub` processes the subscriptions of a connection until there are none left. If they arrive faster than that,
/// the thread does not return, and cannot do anything about the peer. So another thread compares, after each
/// ``checkInterval(ofConnections:)``, what the connections have received: beyond ``unaskedBytesMax`` in all, it asks
/// the socket's thread for a sign of life. After each ``answerTime`` in which that does not answer, connections that
/// have received more than ``bytesMax(ofConnections:)``, with what led to the question, receive nothing more. When the
/// thread is free again, it closes the socket, with all connections. Honest peers connect again. The connections are
/// not ended one by one: at each end, the thread would walk through all topics.
///
/// Only of `tcp` connections is it known how much they have received.
package final class FloodGuard: Sendable {
    private struct State {
        /// Whether the socket's thread was asked and has not answered.
        var isAsked = false
        /// The connections that were stopped since it answered.
        var stopped = 0
    }

    private let state: Locked<State>
    private let bell: Doorbell

    /// What a connection may receive before the socket's thread answers: 200 subscriptions of the maximum size.
    static let bytesMax: UInt64 = 64 << 10

    /// The same if there are many connections: 2 MiB in all, but at least as much as a handshake and some requests.
    static func bytesMax(ofConnections count: Int) -> UInt64 {
        max(2 << 10, min(bytesMax, 2 << 20 / UInt64(max(1, count))))
    }

    /// What all connections may receive between two checks without a question.
    static let unaskedBytesMax = bytesMax / 4

    /// A thread that is not occupied answers within this time. A flood makes the process grow until its connections are
    /// stopped.
    static let answerTime = Duration.milliseconds(20)

    /// ``answerTime`` for up to 200 connections, and longer for more, so that the checks take a hundredth of a
    /// processor: one connection takes a microsecond (measured).
    static func checkInterval(ofConnections count: Int) -> Duration {
        min(SocketThread.checkInterval, max(answerTime, .microseconds(100) * count))
    }

    /// Call it on the loop of the socket.
    ///
    /// - Parameter onFlood: called on the loop when it is free again, with the number of connections that receive
    ///   nothing more. The socket has to be closed.
    package init(on loop: PollLoop, onFlood: @escaping (_ stopped: Int) -> Void) {
        let state = Locked(State())
        self.state = state
        bell = loop.doorbell {
            let stopped = state.withLock { state in
                defer { state = State() }
                return state.stopped
            }
            if stopped > 0 { onFlood(stopped) }
        }
    }

    /// Whether connections were stopped, and the socket's thread has not answered since. New connections should be
    /// refused until then.
    package var isFlooded: Bool { state.withLock { $0.stopped > 0 } }

    /// Call it when the socket is closed, for whatever reason: the next socket has none of the stopped connections, and
    /// must not be closed for them.
    package func forgetStopped() { state.withLock { $0.stopped = 0 } }

    /// Compares what the connections have received.
    ///
    /// - Returns: whether the socket's thread is asked, so that the next check is due after ``answerTime``.
    func check(_ connections: inout [CInt: MonitoredConnection]) -> Bool {
        let isAsked = state.withLock(\.isAsked)
        let bytesMax = Self.bytesMax(ofConnections: connections.count)
        var stopped = 0
        var sum: UInt64 = 0
        for descriptor in connections.keys {
            guard let received = connections[descriptor]?.received(at: descriptor, isAsked: isAsked) else { continue }
            sum += received
            let isFlood = isAsked && received > bytesMax
            if isFlood, connections[descriptor]?.stopReceiving(descriptor) == true { stopped += 1 }
        }
        // In all: a flood may come from many connections.
        let isBusy = sum > Self.unaskedBytesMax
        let (asks, isAskedNow) = state.withLock { state in
            state.stopped += stopped
            // It may have answered meanwhile: then it is asked again, to close the socket.
            let asks = !state.isAsked && (isBusy || stopped > 0)
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
    /// What it had received at the last check before the socket's thread was asked, and at the one before, in bytes.
    private var marks: (last: UInt64, earlier: UInt64) = (0, 0)
    private var isStopped = false

    /// - Returns: `nil` if it has ended, or is not a `tcp` connection.
    init?(_ descriptor: CInt) {
        var peer = statecast_peer()
        guard statecast_peer_of(descriptor, &peer) else { return nil }
        self.peer = peer
    }

    /// What it has received since the last check, or, once the socket's thread is asked, since the one before it was;
    /// `nil` if it has ended.
    fileprivate mutating func received(at descriptor: CInt, isAsked: Bool) -> UInt64? {
        guard isCurrent(descriptor) else { return nil }
        let total = statecast_bytes_received(descriptor)
        // What it receives while the thread does not answer adds up.
        if !isAsked { marks = (total, marks.last) }
        return total - min(marks.earlier, total)
    }

    private func isCurrent(_ descriptor: CInt) -> Bool {
        var current = statecast_peer()
        return statecast_peer_of(descriptor, &current) && statecast_is_equal(current, peer)
    }

    /// Ends the connection. Its peer notices when it has received what was sent before, libzmq at once.
    func end(_ descriptor: CInt) { statecast_end_connection(descriptor, peer) }

    /// - Returns: whether the connection receives nothing from now on.
    fileprivate mutating func stopReceiving(_ descriptor: CInt) -> Bool {
        guard !isStopped else { return false }
        isStopped = statecast_stop_receiving(descriptor, peer)
        return isStopped
    }
}
