internal import CZeroMQ

/// A libzmq context: the I/O threads that a group of sockets shares.
///
/// One per process is the rule (``shared``): with several, libzmq 4.3 has a race when CURVE sockets are torn down.
/// A socket keeps its context alive; the context ends when the last of its sockets has closed, which takes as long
/// as the longest ``SocketOptions/linger`` among them and no longer.
package final class Context: Sendable {
    /// The context of this process. It lives until the process ends.
    package static let shared = Context()

    /// `nil` if libzmq could not make one; the first socket reports it.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer?  // safe: libzmq's contexts may be used by any thread

    /// Makes a context. Its threads start with its first socket.
    ///
    /// - Parameter ioThreads: about one per GB/s of traffic; clamped to 1...64.
    package init(ioThreads: Int = 1) {
        pointer = zmq_ctx_new()
        if let pointer {
            zmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(min(max(ioThreads, 1), 64)))
        }
    }

    /// Makes every operation on every socket of this context throw `terminated` from now on.
    ///
    /// It waits for nothing and may be called from any thread, more than once.
    package func shutdown() {
        if let pointer { zmq_ctx_shutdown(pointer) }
    }

    deinit {
        guard let pointer else { return }
        while zmq_ctx_term(pointer) != 0 && zmq_errno() == EINTR {}
    }
}
