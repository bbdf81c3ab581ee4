import StatecastThreading

/// A thread for the sockets through which libzmq itself talks to this process: the requests to authenticate peers, and
/// the events of connections. Nothing else runs on it, so its sockets are read at once, also while stores are busy.
///
/// It exists until the process ends.
///
/// Unchecked, but safe: the thread alone uses the poll set.
final class SocketThread: @unchecked Sendable {
    /// The maximum number of messages that a handler receives in a turn.
    static let maxMessagesPerTurn = 256

    private static let started = Locked<SocketThread?>(nil)

    private let wakeUp: WakeUp
    private let pollSet: PollSet
    private let added = Locked<[Added]>([])

    private struct Added {
        let socket: SocketHandle
        let receive: @Sendable () -> Bool
    }

    /// The thread of this process, which starts with the first call.
    ///
    /// - Throws: `resourcesExhausted`.
    static func shared() throws(ZeroMQError) -> SocketThread {
        try started.withLock { (started) throws(ZeroMQError) in
            if let started { return started }
            let thread = try SocketThread()
            do throws(ThreadStartError) {
                try Threads.start(name: "statecast-sockets", stackBytes: 1 << 19) { thread.run() }
            } catch {
                throw .failed("cannot start the thread that authenticates and counts peers", errno: error.errno)
            }
            started = thread
            return thread
        }
    }

    private init() throws(ZeroMQError) {
        wakeUp = try WakeUp()
        pollSet = PollSet(wakeUp: wakeUp)
    }

    /// Reads a socket from now on. The caller uses it no more.
    ///
    /// - Parameter receive: called on the thread while messages are available. It receives at most
    ///   ``maxMessagesPerTurn``, must not wait, and returns `false` to end the reading. The thread retains it and the
    ///   socket until then.
    func read(_ socket: borrowing Socket, _ receive: @escaping @Sendable () -> Bool) {
        let socket = socket.handle
        added.withLock { $0.append(Added(socket: socket, receive: receive)) }
        wakeUp.signal()
    }

    private func run() -> Never {
        while true {
            let added = added.withLock { added in
                defer { added = [] }
                return added
            }
            for socket in added { add(socket) }
            pollSet.poll(until: pollSet.nextDeadline)
            pollSet.callHandlers()
        }
    }

    private func add(_ added: Added) {
        let id = pollSet.makeID()
        let watched = WatchedSocket(
            id: id,
            added.socket,
            onReadable: { [pollSet] in if !added.receive() { pollSet.remove(id) } },
            onWritable: {}
        )
        pollSet.add(watched)
    }
}
