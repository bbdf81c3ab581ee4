import StatecastThreading
import Synchronization

/// A thread that polls sockets and runs the actors that own them.
///
/// A ZeroMQ socket must be used by one thread. An actor whose executor is a loop guarantees that, checked by the
/// compiler:
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
/// Each turn runs at most ``maxJobsPerTurn`` jobs of its actors; polls, without blocking while jobs are left; calls the
/// handlers of the ready sockets, each once; then those of the rung doorbells; and then the due timers. A flood of jobs
/// therefore does not starve the sockets, nor the reverse, provided that a handler receives a bounded number of
/// messages (the next poll returns at once while some are left). An idle loop sleeps; one that gets work at short
/// intervals may poll instead (``BusyPolling``).
///
/// A loop exists until ``shutdown()``: its thread retains it.
package final class PollLoop: SerialExecutor {
    /// The maximum number of jobs in a turn.
    package static let maxJobsPerTurn = 256

    /// The same on all systems: user code such as a coder recurses here, and macOS gives 512 KiB by default.
    private static let stackBytes = 8 << 20

    private let inbox = Locked(JobInbox())
    private let wakeUp: WakeUp
    private let name: String
    private let maxBusyPolling: Duration

    /// The thread that runs this loop; 0 without a thread.
    private let owner = Atomic<UInt>(0)

    /// The watched sockets, doorbells and timers.
    nonisolated(unsafe) let pollSet: PollSet  // safe: every access checks that it runs on the owner

    /// Creates a loop and starts its thread.
    ///
    /// - Parameters:
    ///   - name: of its thread, and for messages.
    ///   - maxBusyPolling: the maximum time for which the loop polls instead of sleeping, in each wait; zero: it always
    ///     sleeps. It polls only if its previous wait was at most this long.
    /// - Throws: `resourcesExhausted`.
    package init(name: String = "statecast-loop", maxBusyPolling: Duration = .zero) throws(ZeroMQError) {
        wakeUp = try WakeUp()
        pollSet = PollSet(wakeUp: wakeUp)
        self.name = name
        self.maxBusyPolling = maxBusyPolling
        do throws(ThreadStartError) {
            try Threads.start(name: name, stackBytes: Self.stackBytes) { self.run() }
        } catch {
            throw .failed("cannot start the thread of a poll loop", errno: error.errno)
        }
    }

    /// Whether the caller runs on this loop.
    package var isOnLoop: Bool { owner.load(ordering: .relaxed) == Threads.currentID }

    /// Ends the loop: it runs the queued jobs, releases all handlers and timers, and ends its thread.
    ///
    /// Returns at once. May be called from any thread, the loop's own included, and repeatedly. A handler that calls
    /// it is not interrupted.
    ///
    /// Later jobs still run, one after the other and with ``isOnLoop`` true, so that no task hangs: each burst of them
    /// gets a thread that ends with the last one. The loop then watches no sockets.
    package func shutdown() {
        let isAsleep = inbox.withLock { inbox in
            guard inbox.phase == .polling else { return false }
            inbox.phase = .draining
            return inbox.markAwake()
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
            return (inbox.markAwake(), isEnded)
        }
        if isAsleep { wakeUp.signal() }
        if isEnded { drainOnNewThread() }
    }

    package func checkIsolated() {
        precondition(isOnLoop, "expected to run on the poll loop \(name.debugDescription), ran elsewhere")
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    // MARK: - Called by watches, doorbells and timers

    /// Wakes the loop if it sleeps.
    func wake() {
        if inbox.withLock({ $0.markAwake() }) { wakeUp.signal() }
    }

    /// Removes a socket, a trigger or a timer; from any thread. The loop's thread releases the handlers.
    func drop(_ id: PollSet.ID) {
        if isOnLoop { return pollSet.remove(id) }
        let isAsleep = inbox.withLock { inbox in
            guard inbox.phase == .polling else { return false }  // the shutdown removes all
            inbox.dropped.append(id)
            return inbox.markAwake()
        }
        if isAsleep { wakeUp.signal() }
    }

    /// Whether the loop accepts sockets and timers.
    var isPolling: Bool { inbox.withLock { $0.phase == .polling } }

    // MARK: - The thread

    private func run() {
        owner.store(Threads.currentID, ordering: .relaxed)
        var backlog = JobBacklog()
        var busyPolling = BusyPolling(maxShortWait: maxBusyPolling)
        while drainInbox(into: &backlog) {
            if !backlog.isEmpty { busyPolling.foundWork(at: .now) }
            backlog.run(atMost: Self.maxJobsPerTurn, on: asUnownedSerialExecutor())
            let isPolling = backlog.isEmpty && busyPolling.shouldPoll(at: .now)
            if backlog.isEmpty, !isPolling, fallAsleep() {
                pollSet.poll(until: pollSet.nextDeadline)
                inbox.withLock { $0.isAsleep = false }
            } else {
                pollSet.pollOnce()
            }
            let hasWork = pollSet.hasWork
            if hasWork { busyPolling.foundWork(at: .now) }
            pollSet.callHandlers()
            // Jobs often enqueue the next one of their task.
            if isPolling, !hasWork, inbox.withLock({ $0.jobs.isEmpty }) { Threads.yield() }
        }
        pollSet.removeAll()
        drain(&backlog)
    }

    /// Moves the contents of the inbox to the loop's thread.
    ///
    /// - Returns: `false` if the loop has to end.
    private func drainInbox(into backlog: inout JobBacklog) -> Bool {
        let (isPolling, dropped) = inbox.withLock { inbox in
            if backlog.isEmpty { backlog.refill(from: &inbox.jobs) }
            defer { inbox.dropped.removeAll() }
            return (inbox.phase == .polling, inbox.dropped)
        }
        for id in dropped { pollSet.remove(id) }
        return isPolling
    }

    /// Marks the loop as asleep, so that other threads wake it; returns `false` if the inbox is not empty.
    ///
    /// A ring sets its flag before it locks the inbox, so either this function sees the flag or the ring finds the
    /// loop asleep.
    private func fallAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep =
                inbox.jobs.isEmpty && inbox.dropped.isEmpty && inbox.phase == .polling && !pollSet.isFired
            return inbox.isAsleep
        }
    }

    /// Runs jobs until none is left, then releases the loop's ownership.
    private func drain(_ backlog: inout JobBacklog) {
        repeat {
            backlog.run(atMost: .max, on: asUnownedSerialExecutor())
        } while inbox.withLock { inbox in
            backlog.refill(from: &inbox.jobs)
            guard backlog.isEmpty else { return true }
            // Under the lock, because a thread that finds the loop ended must not find it owned.
            owner.store(0, ordering: .relaxed)
            inbox.phase = .ended
            return false
        }
    }

    private func drainOnNewThread() {
        Threads.run(name: name, stackBytes: Self.stackBytes) {
            self.owner.store(Threads.currentID, ordering: .relaxed)
            var backlog = JobBacklog()
            self.drain(&backlog)
        }
    }
}

/// The input of a loop from other threads, under its lock.
private struct JobInbox {
    enum Phase {
        /// Polls sockets and runs jobs. Exits to `draining` at the shutdown.
        case polling
        /// A thread runs the last jobs. Exits to `ended` when none is left.
        case draining
        /// No thread runs. Exits to `draining` when a job is enqueued.
        case ended
    }

    var phase = Phase.polling
    var jobs: [UnownedJob] = []
    var dropped: [PollSet.ID] = []

    /// Whether the loop's thread sleeps, or is about to, so that it must be woken.
    var isAsleep = false

    /// Marks the loop as awake: one wake-up suffices for all input until it sleeps again.
    ///
    /// - Returns: whether the caller has to wake it.
    mutating func markAwake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}

/// The jobs that a loop moved out of its inbox, in order.
private struct JobBacklog {
    private var jobs: [UnownedJob] = []
    private var next = 0

    var isEmpty: Bool { next == jobs.count }

    /// Swaps the empty array for the full one, so that both keep their capacity.
    mutating func refill(from inbox: inout [UnownedJob]) {
        precondition(isEmpty, "refilled with \(jobs.count - next) jobs left")
        jobs.removeAll(keepingCapacity: true)
        next = 0
        swap(&jobs, &inbox)
    }

    /// Runs at most `limit` jobs.
    mutating func run(atMost limit: Int, on executor: UnownedSerialExecutor) {
        let end = next + min(limit, jobs.count - next)
        while next < end {
            let job = jobs[next]
            next += 1
            job.runSynchronously(on: executor)
        }
    }
}
