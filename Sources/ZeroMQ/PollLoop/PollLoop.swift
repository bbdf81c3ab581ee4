internal import Synchronization
internal import Threading

/// A thread that waits for sockets, and runs the actors that own them.
///
/// ZeroMQ wants one thread per socket. An actor whose executor is a loop has exactly that, and the compiler checks it:
///
/// ```swift
/// actor Follower {
///     let loop: PollLoop                        // an actor must keep its executor alive
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///     let socket: Socket
///     var watch: Watch?
///
///     func start() {
///         watch = loop.watch(socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
///     }
/// }
/// ```
///
/// Each turn runs the jobs of its actors, at most ``jobsPerTurnMax`` of them; polls, without waiting while jobs are
/// left; calls the handlers of the sockets that are ready, each once; then those of the doorbells that were rung; and then
/// the timers that are due. So a flood of jobs does not starve the sockets, nor the reverse, provided that a handler takes
/// a bounded number of messages (what is left makes the next poll return at once). With nothing to do the thread sleeps.
///
/// A loop lives until ``shutdown()``: its thread keeps it.
package final class PollLoop: SerialExecutor {
    /// How many jobs a turn runs before it looks at the sockets.
    package static let jobsPerTurnMax = 256

    private let inbox = Locked(Inbox())
    private let wakeUp: WakeUp
    private let name: String

    /// The thread that runs this loop now; 0 when there is none.
    private let owner = Atomic<UInt>(0)

    /// The watched sockets, doorbells and timers.
    nonisolated(unsafe) let roster: Roster  // safe: touched by the owner only; each way in checks that

    /// Makes a loop and starts its thread.
    ///
    /// - Parameter name: for messages.
    /// - Throws: `resourcesExhausted`.
    package init(name: String = "statecast-loop") throws(ZeroMQError) {
        wakeUp = try WakeUp()
        roster = Roster(wakeUp: wakeUp)
        self.name = name
        try Self.startThread { self.run() }
    }

    /// Whether the caller runs on this loop.
    package var isOnLoop: Bool { owner.load(ordering: .relaxed) == Threads.currentID }

    /// Ends the loop: it finishes the jobs that are queued, drops all handlers and timers, and ends its thread.
    ///
    /// It returns at once, may be called from any thread, the loop's own included, and more than once. A handler that
    /// calls it is not interrupted.
    ///
    /// Jobs that come later still run, one after the other and with ``isOnLoop`` true, so that no task hangs: each
    /// burst of them gets a thread that ends when there are no more. Sockets are no longer watched then.
    package func shutdown() {
        let isAsleep = inbox.withLock { inbox in
            guard inbox.phase == .polling else { return false }
            inbox.phase = .draining
            return inbox.awake()
        }
        if isAsleep { wakeUp.signal() }
    }

    // MARK: - SerialExecutor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isAsleep, isEnded) = inbox.withLock { inbox in
            inbox.jobs.append(job)
            let isEnded = inbox.phase == .ended
            if isEnded { inbox.phase = .draining }
            return (inbox.awake(), isEnded)
        }
        if isAsleep { wakeUp.signal() }
        if isEnded { drainOnNewThread() }
    }

    package func checkIsolated() {
        precondition(isOnLoop, "expected to run on the poll loop \(name.debugDescription), ran elsewhere")
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    // MARK: - Called by watches, doorbells and timers

    /// Ends the loop's sleep, if it sleeps: a doorbell was rung.
    func wake() {
        if inbox.withLock({ $0.awake() }) { wakeUp.signal() }
    }

    /// Forgets a socket, a doorbell or a timer; from any thread. Its handlers are released on the loop's thread.
    func drop(_ id: Roster.ID) {
        if isOnLoop { return roster.remove(id) }
        let isAsleep = inbox.withLock { inbox in
            guard inbox.phase == .polling else { return false }  // then all were dropped already, or are about to be
            inbox.dropped.append(id)
            return inbox.awake()
        }
        if isAsleep { wakeUp.signal() }
    }

    /// Whether sockets and timers are still taken.
    var isPolling: Bool { inbox.withLock { $0.phase == .polling } }

    // MARK: - The thread

    private func run() {
        owner.store(Threads.currentID, ordering: .relaxed)
        var backlog = JobBacklog()
        while takeIn(&backlog) {
            backlog.run(atMost: Self.jobsPerTurnMax, on: asUnownedSerialExecutor())
            if backlog.isEmpty && fallAsleep() {
                roster.poll(until: roster.nextDeadline)
                inbox.withLock { $0.isAsleep = false }
            } else {
                roster.poll(until: .now)
            }
            roster.callHandlers()
        }
        roster.removeAll()
        drain(&backlog)
    }

    /// Takes over what other threads left; false if the loop is to end.
    private func takeIn(_ backlog: inout JobBacklog) -> Bool {
        let (isPolling, dropped) = inbox.withLock { inbox in
            if backlog.isEmpty { backlog.refill(from: &inbox.jobs) }
            defer { inbox.dropped.removeAll() }
            return (inbox.phase == .polling, inbox.dropped)
        }
        for id in dropped { roster.remove(id) }
        return isPolling
    }

    /// From here on whoever leaves something must wake the loop; false if something is there already.
    ///
    /// A ring sets its flag before it takes the lock, so it is either seen here or finds the loop asleep.
    private func fallAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep =
                inbox.jobs.isEmpty && inbox.dropped.isEmpty && inbox.phase == .polling && !roster.isRung
            return inbox.isAsleep
        }
    }

    /// Runs jobs until there are none, and gives the loop up.
    private func drain(_ backlog: inout JobBacklog) {
        repeat {
            backlog.run(atMost: .max, on: asUnownedSerialExecutor())
        } while inbox.withLock { inbox in
            backlog.refill(from: &inbox.jobs)
            guard backlog.isEmpty else { return true }
            // Under the lock: whoever finds the loop ended must not find it owned.
            owner.store(0, ordering: .relaxed)
            inbox.phase = .ended
            return false
        }
    }

    private func drainOnNewThread() {
        do {
            try Self.startThread {
                self.owner.store(Threads.currentID, ordering: .relaxed)
                var backlog = JobBacklog()
                self.drain(&backlog)
            }
        } catch {
            preconditionFailure("a job came after the shutdown of a poll loop and cannot run: \(error)")
        }
    }

    /// Starts a thread with the same stack size on all systems: user code such as a coder recurses here, and macOS gives
    /// 512 KiB by default.
    private static func startThread(_ body: @escaping @Sendable () -> Void) throws(ZeroMQError) {
        do {
            try Threads.start(stackBytes: 8 << 20, body)
        } catch {
            throw .failed("cannot start the thread of a poll loop", errno: error.errno)
        }
    }
}
