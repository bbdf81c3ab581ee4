internal import Threading

/// A thread for the sockets through which libzmq itself talks to this process: the requests to authenticate peers, and
/// the events of connections. Nothing else runs on it, so its sockets are read at once, also while stores are busy.
///
/// It exists until the process ends.
///
/// Unchecked, but safe: the thread alone uses the poll set.
final class SocketThread: @unchecked Sendable {
    /// The maximum number of messages that a handler receives in a turn.
    static let messagesPerTurnMax = 256

    private static let started = Locked<SocketThread?>(nil)

    private let wakeUp: WakeUp
    private let pollSet: PollSet
    private let added = Locked<[Added]>([])

    /// The usual interval between two checks of a socket.
    static let checkInterval = Duration.milliseconds(100)

    private struct Added {
        let socket: SocketHandle
        let check: (@Sendable () -> Duration?)?
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
    /// - Parameters:
    ///   - check: called on the thread ``checkInterval`` after messages, and again after the time that it returns;
    ///     `nil`: after further messages.
    ///   - receive: called on the thread while messages are available. It receives at most
    ///     ``messagesPerTurnMax``, must not wait, and returns `false` to end the reading. The thread retains it and the
    ///     socket until then.
    func read(
        _ socket: borrowing Socket,
        checking check: (@Sendable () -> Duration?)? = nil,
        _ receive: @escaping @Sendable () -> Bool
    ) {
        let socket = socket.handle
        added.withLock { $0.append(Added(socket: socket, check: check, receive: receive)) }
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
        let timer = added.check.map(timer(of:))
        let watched = WatchedSocket(
            id: id,
            added.socket,
            onReadable: { [pollSet] in
                guard added.receive() else {
                    pollSet.remove(id)
                    if let timer { pollSet.remove(timer.id) }
                    return
                }
                if let timer, timer.deadline == nil { timer.set(.now + Self.checkInterval) }
            },
            onWritable: {}
        )
        pollSet.add(watched)
    }

    private func timer(of check: @escaping () -> Duration?) -> Timer {
        weak var timer: Timer?
        let made = Timer(id: pollSet.makeID()) { if let delay = check() { timer?.set(.now + delay) } }
        timer = made
        pollSet.add(made)
        return made
    }
}
