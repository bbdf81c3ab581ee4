import CStatecastZeroMQ

/// A libzmq context: the I/O threads that a group of sockets shares.
///
/// Use one per process (``shared``): with several, libzmq 4.3 has a race in the tear-down of CURVE sockets. A socket
/// keeps its context alive. The context ends when its last socket has closed.
package final class Context: Sendable {
    /// The context of this process, which exists until the process ends.
    package static let shared = Context()

    /// `nil` if libzmq failed to create one; the first socket reports it.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer?  // safe: libzmq's contexts may be used by any thread

    /// `ZMQ_ZERO_COPY_RECV`, which libzmq 4.3 implements and declares in its draft API only.
    private static let zeroCopyReceive: Int32 = 10

    /// Creates a context, whose threads start with its first socket.
    ///
    /// - Parameter retainsReceiveBuffers: libzmq's default, for measurements: a received message retains the buffer of
    ///   8 KiB with which it was read, so it is not copied. A peer that sends faster than its socket is read costs
    ///   8 KiB for each message, however small it is.
    package init(retainsReceiveBuffers: Bool = false) {
        pointer = zmq_ctx_new()
        if let pointer { zmq_ctx_set(pointer, Self.zeroCopyReceive, retainsReceiveBuffers ? 1 : 0) }
    }

    /// Makes all operations on the context's sockets throw `terminated` from now on.
    ///
    /// Returns at once. May be called from any thread, repeatedly.
    package func shutdown() {
        if let pointer { zmq_ctx_shutdown(pointer) }
    }

    deinit {
        guard let pointer else { return }
        while zmq_ctx_term(pointer) != 0 && zmq_errno() == EINTR {}
    }
}
