/// A socket being watched by a ``PollLoop``; ends when it is dropped.
///
/// Keep it beside the socket. While it lasts, the loop keeps the underlying socket open, so both may be dropped in any
/// order and on any thread.
package final class Watch {
    private let loop: PollLoop
    private let socket: WatchedSocket
    private let id: Roster.ID

    init(_ socket: WatchedSocket, on loop: PollLoop) {
        self.socket = socket
        self.loop = loop
        id = socket.id
    }

    deinit { cancel() }

    /// Whether `onReadable` is called while messages are there; true at first. Set it on the loop only.
    ///
    /// Turned off, messages stay where they are, and in the end the senders feel it: that is backpressure.
    package var wantsReadable: Bool {
        get { socket.wantsReadable }
        set { change(\.wantsReadable, to: newValue) }
    }

    /// Whether `onWritable` is called while there is room to send; false at first. Set it on the loop only.
    ///
    /// Turn it on when a send found no room, and off when nothing is left to send, or the loop never sleeps.
    package var wantsWritable: Bool {
        get { socket.wantsWritable }
        set { change(\.wantsWritable, to: newValue) }
    }

    /// Ends the watching; from any thread, more than once. Called on the loop, no handler runs after it.
    package func cancel() { loop.drop(id) }

    private func change(_ interest: ReferenceWritableKeyPath<WatchedSocket, Bool>, to value: Bool) {
        loop.checkIsolated()
        guard socket[keyPath: interest] != value else { return }
        socket[keyPath: interest] = value
        loop.roster.interestChanged()
    }
}

extension PollLoop {
    /// Watches a socket. To be called on the loop, from an actor that runs there.
    ///
    /// The handlers run on the loop, again and again for as long as the socket is ready. Inside, use
    /// `assumeIsolated`, never a task: that would be a hop and lose the order. They are held until the watch ends, so
    /// let them hold their actor weakly, or rely on ``shutdown()`` to let go of it.
    ///
    /// A socket whose context was shut down is reported once more, and finds `terminated` when it receives or sends.
    ///
    /// - Parameters:
    ///   - onReadable: takes messages, a bounded number of them.
    ///   - onWritable: sends what waits; called only while ``Watch/wantsWritable`` is set.
    /// - Returns: what to hold on to. After ``shutdown()`` it watches nothing.
    package func watch(
        _ socket: borrowing Socket,
        onReadable: @escaping () -> Void,
        onWritable: @escaping () -> Void = {}
    ) -> Watch {
        checkIsolated()
        let watched = WatchedSocket(
            id: roster.makeID(),
            socket.handle,
            onReadable: onReadable,
            onWritable: onWritable
        )
        if isPolling { roster.add(watched) } else { watched.retire() }
        return Watch(watched, on: self)
    }
}
