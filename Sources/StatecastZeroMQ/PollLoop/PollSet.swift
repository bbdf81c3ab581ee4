#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The sources of a poll loop: sockets, doorbells, timers and its wake-up pipe. Used on the loop's thread only.
final class PollSet {
    typealias ID = UInt64

    private let wakeUp: WakeUp
    private var sockets: [WatchedSocket] = []
    private var triggers: [TriggerState] = []
    private var timers: [Timer] = []
    private var lastID: ID = 0

    /// The items of the last poll: the wake-up pipe, then the descriptors of `polled` in the same order.
    private var items: [pollfd] = []
    private var polled: [WatchedSocket] = []
    private var isStale = true

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    func makeID() -> ID {
        lastID += 1
        return lastID
    }

    func add(_ socket: WatchedSocket) {
        sockets.append(socket)
        isStale = true
    }

    func add(_ trigger: TriggerState) { triggers.append(trigger) }

    func add(_ timer: Timer) { timers.append(timer) }

    func remove(_ id: ID) {
        if let index = sockets.firstIndex(where: { $0.id == id }) {
            sockets.remove(at: index).retire()
            isStale = true
        } else if let index = triggers.firstIndex(where: { $0.id == id }) {
            triggers.remove(at: index).retire()
        } else if let index = timers.firstIndex(where: { $0.id == id }) {
            timers.remove(at: index).retire()
        }
    }

    func removeAll() {
        let (sockets, triggers, timers) = (self.sockets, self.triggers, self.timers)
        self.sockets = []
        self.triggers = []
        self.timers = []
        polled = []
        isStale = true
        for socket in sockets { socket.retire() }
        for trigger in triggers { trigger.retire() }
        for timer in timers { timer.retire() }
    }

    /// The deadline of the next timer.
    var nextDeadline: ContinuousClock.Instant? {
        var next: ContinuousClock.Instant?
        for timer in timers {
            guard let deadline = timer.deadline else { continue }
            next = min(next ?? deadline, deadline)
        }
        return next
    }

    /// Whether a trigger is fired.
    var isFired: Bool { triggers.contains { $0.isWaiting } }

    /// Whether the last poll found a ready socket, or a trigger is fired. Due timers do not count.
    var hasWork: Bool { isFired || polled.contains { $0.isReady } }

    // MARK: - A turn

    /// Polls until a source is ready or the deadline passes.
    ///
    /// A socket's descriptor becomes readable when the socket's state may have changed, until the next operation on the
    /// socket, which may notice the change or not (zmq_getsockopt, ZMQ_FD). So the events of a socket are read if its
    /// descriptor is readable, and also, before the poll, if the socket was used since.
    ///
    /// - Parameter deadline: `nil`: without one.
    func poll(until deadline: ContinuousClock.Instant?) {
        poll { pollTimeout(until: deadline) }
    }

    /// Polls without blocking.
    func pollOnce() { poll { 0 } }

    private func poll(_ timeout: () -> CInt) {
        if isStale { refresh() }
        for socket in polled { socket.readEvents(isSignaled: false) }
        let isReady = polled.contains { $0.isReady }
        guard Self.systemPoll(&items, isReady ? 0 : timeout()) >= 0 else {
            precondition(errno == EINTR, "poll failed: \(systemText(of: errno))")
            for index in items.indices { items[index].revents = 0 }
            return
        }
        for (index, socket) in polled.enumerated() where items[index + 1].revents != 0 {
            socket.readEvents(isSignaled: true)
        }
    }

    /// Calls the handlers of the ready sockets, then of the rung doorbells, then of the due timers, earliest first.
    ///
    /// Handlers may add and remove sources; a removed one is not called any more, an added one is first called in the
    /// next turn.
    func callHandlers() {
        if items[0].revents != 0 { wakeUp.clear() }
        for socket in polled where socket.isReady {
            socket.call()
            if socket.isTerminated { isStale = true }
        }
        for trigger in triggers { trigger.answer() }
        callTimers()
    }

    private func callTimers() {
        guard let next = nextDeadline else { return }
        let now = ContinuousClock.now
        guard next <= now else { return }
        let due = timers.compactMap { timer in
            timer.deadline.flatMap { $0 <= now ? (timer: timer, deadline: $0) : nil }
        }
        for (timer, deadline) in due.sorted(by: { $0.deadline < $1.deadline }) where timer.deadline == deadline {
            timer.call()
        }
    }

    private static func systemPoll(_ items: inout [pollfd], _ timeout: CInt) -> CInt {
        #if canImport(Darwin)
            Darwin.poll(&items, nfds_t(items.count), timeout)
        #elseif canImport(Musl)
            Musl.poll(&items, nfds_t(items.count), timeout)
        #else
            Glibc.poll(&items, nfds_t(items.count), timeout)
        #endif
    }

    private func refresh() {
        polled = sockets.filter { !$0.isTerminated }
        let descriptors = [wakeUp.readEnd] + polled.map(\.descriptor)
        items = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        isStale = false
    }
}

/// A pipe that interrupts a poll.
final class WakeUp: Sendable {
    /// The descriptor to poll for reading.
    let readEnd: CInt
    private let writeEnd: CInt

    init() throws(ZeroMQError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let number = errno
            try Descriptors.check(for: "cannot make a poll loop")
            throw .failed("cannot make a poll loop", errno: number)
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Wakes the poll; from any thread. A full pipe wakes it as well, so only an interrupted call is repeated.
    func signal() {
        var byte: UInt8 = 1
        while write(writeEnd, &byte, 1) < 0 && errno == EINTR {}
    }

    /// Clears the signals.
    func clear() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { bytes in
            while read(readEnd, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }
}
