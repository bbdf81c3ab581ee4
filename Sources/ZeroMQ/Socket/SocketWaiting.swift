internal import CZeroMQ

/// What a socket can be ready for.
package enum Readiness: Hashable, Sendable {
    /// A message is there.
    case readable
    /// A message would be taken.
    case writable

    var events: Int16 {
        switch self {
        case .readable: Int16(ZMQ_POLLIN)
        case .writable: Int16(ZMQ_POLLOUT)
        }
    }
}

extension Socket {
    /// Blocks the calling thread until the socket is ready. For plain threads; on a ``PollLoop`` the loop waits.
    ///
    /// - Parameter timeout: how long at most, in effect in whole milliseconds; `nil`: for ever.
    /// - Returns: false if the time ran out.
    /// - Throws: `terminated`.
    package func wait(for readiness: Readiness, timeout: Duration? = nil) throws(ZeroMQError) -> Bool {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var item = zmq_pollitem_t(socket: handle.pointer, fd: 0, events: readiness.events, revents: 0)
        while true {
            let ready = zmq_poll(&item, 1, pollTimeout(until: deadline))
            if ready > 0 { return true }
            if ready < 0 && !wasInterrupted() {
                throw .failed("cannot wait for a \(kind) socket", errno: zmq_errno())
            }
            if let deadline, ContinuousClock.now >= deadline { return false }
        }
    }
}

/// How long to poll, in milliseconds: rounded up, so that a poll that ends has reached its deadline; -1 is for ever.
func pollTimeout(until deadline: ContinuousClock.Instant?) -> Int {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let daySeconds: Int64 = 86_400
    let millisecond: Int64 = 1_000_000_000_000_000
    return Int(min(seconds, daySeconds) * 1000 + (attoseconds + millisecond - 1) / millisecond)
}
