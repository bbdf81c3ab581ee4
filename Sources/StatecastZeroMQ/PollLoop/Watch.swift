/// A registration of a socket with a ``PollLoop``; ends when it is dropped.
///
/// Keep it beside the socket. The loop keeps the underlying socket open meanwhile, so the watch and the socket may be
/// dropped in any order and on any thread.
package final class Watch {
    private let loop: PollLoop
    private let socket: WatchedSocket
    private let id: PollSet.ID

    init(_ socket: WatchedSocket, on loop: PollLoop) {
        self.socket = socket
        self.loop = loop
        id = socket.id
    }

    deinit { cancel() }

    /// Whether `onReadable` is called while messages are available; initially true. Set it on the loop only.
    ///
    /// While it is off, messages stay queued and senders eventually block: that is backpressure.
    package var wantsReadable: Bool {
        get { socket.wantsReadable }
        set {
            loop.checkIsolated()
            socket.wantsReadable = newValue
        }
    }

    /// Whether `onWritable` is called while there is room to send; initially false. Set it on the loop only.
    ///
    /// Turn it on when a send finds no room, and off when nothing is left to send, or the loop never sleeps.
    package var wantsWritable: Bool {
        get { socket.wantsWritable }
        set {
            loop.checkIsolated()
            socket.wantsWritable = newValue
        }
    }

    /// Ends the registration; from any thread, repeatedly. After a call on the loop no handler runs.
    package func cancel() { loop.drop(id) }
}

extension PollLoop {
    /// Watches a socket. Call it on the loop, from an actor that runs there.
    ///
    /// The loop calls the handlers repeatedly while the socket is ready. Use `assumeIsolated` in them, never a task,
    /// which would add a hop and lose the order. The loop retains them until the watch ends, so capture the actor
    /// weakly, or rely on ``shutdown()`` to release it.
    ///
    /// A socket whose context was shut down is reported once more, and throws `terminated` when it receives or sends.
    ///
    /// - Parameters:
    ///     - onReadable: receives a bounded number of messages.
    ///     - onWritable: sends queued messages; called only while ``Watch/wantsWritable`` is set.
    /// - Returns: the registration to keep. After ``shutdown()`` it has no effect.
    package func watch(
        _ socket: borrowing Socket,
        onReadable: @escaping () -> Void,
        onWritable: @escaping () -> Void = {}
    ) -> Watch {
        checkIsolated()
        let watched = WatchedSocket(
            id: pollSet.makeID(),
            socket.handle,
            onReadable: onReadable,
            onWritable: onWritable
        )
        if isPolling { pollSet.add(watched) } else { watched.retire() }
        return Watch(watched, on: self)
    }
}

/// A socket of a poll set, with its handlers.
final class WatchedSocket {
    let id: PollSet.ID
    private var handle: SocketHandle?
    private var onReadable: (() -> Void)?
    private var onWritable: (() -> Void)?

    var wantsReadable = true
    var wantsWritable = false

    init(id: PollSet.ID, _ handle: SocketHandle, onReadable: @escaping () -> Void, onWritable: @escaping () -> Void) {
        self.id = id
        self.handle = handle
        self.onReadable = onReadable
        self.onWritable = onWritable
    }

    /// Whether the owner was called after the context was shut down. The socket is polled no more.
    private(set) var isTerminated = false

    /// The events that the owner is interested in; 0 if none.
    private var interest: Int32 {
        guard handle != nil else { return 0 }
        return (wantsReadable ? Readiness.readable.events : 0) | (wantsWritable ? Readiness.writable.events : 0)
    }

    /// Whether a handler has to be called.
    var isReady: Bool { (handle?.events ?? 0) & interest != 0 }

    /// The descriptor to poll; see ``SocketHandle/descriptor``.
    var descriptor: CInt { handle?.descriptor ?? -1 }

    /// Reads the events if they may have changed, and if the owner is interested or the descriptor is readable: libzmq
    /// then has commands that wait for an operation, such as the end of a connection.
    func readEvents(isSignaled: Bool) {
        if isSignaled || interest != 0 { handle?.readEvents(isSignaled: isSignaled) }
    }

    /// Calls the handlers for the ready events that are still of interest.
    func call() {
        guard let handle else { return }
        isTerminated = handle.isTerminated
        let events = handle.events
        if events & interest & Readiness.readable.events != 0 { onReadable?() }
        if events & interest & Readiness.writable.events != 0 { onWritable?() }
    }

    /// Releases the handlers and the socket.
    func retire() {
        onReadable = nil
        onWritable = nil
        handle = nil
    }
}
