internal import CZeroMQ

/// A socket on a loop's roster, with what to call.
final class WatchedSocket {
    let id: Roster.ID
    private var handle: SocketHandle?
    private var onReadable: (() -> Void)?
    private var onWritable: (() -> Void)?

    var wantsReadable = true
    var wantsWritable = false

    init(id: Roster.ID, _ handle: SocketHandle, onReadable: @escaping () -> Void, onWritable: @escaping () -> Void) {
        self.id = id
        self.handle = handle
        self.onReadable = onReadable
        self.onWritable = onWritable
    }

    var pointer: UnsafeMutableRawPointer? { handle?.pointer }

    /// What to poll for; 0 if nothing.
    var events: Int16 { isAbandoned ? 0 : interest }

    /// What the owner wants to be called for.
    private var interest: Int16 {
        guard handle != nil else { return 0 }
        return (wantsReadable ? Readiness.readable.events : 0) | (wantsWritable ? Readiness.writable.events : 0)
    }

    /// Set when there is nothing more to poll for, whatever the owner wants.
    var isAbandoned = false

    /// Whether the socket's context was shut down.
    var isTerminated: Bool {
        guard let handle else { return false }
        var (events, size): (Int32, Int) = (0, MemoryLayout<Int32>.size)
        return zmq_getsockopt(handle.pointer, ZMQ_EVENTS, &events, &size) != 0 && wasTerminated()
    }

    /// Calls the handlers for what is ready, as far as it is still wanted.
    func call(for ready: Int16) {
        if ready & interest & Readiness.readable.events != 0 { onReadable?() }
        if ready & interest & Readiness.writable.events != 0 { onWritable?() }
    }

    /// Lets go of the handlers and the socket.
    func retire() {
        onReadable = nil
        onWritable = nil
        handle = nil
    }
}
