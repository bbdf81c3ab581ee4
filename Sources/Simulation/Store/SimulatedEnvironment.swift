import DequeModule
import StateCore
import Statecast
import SyncProtocol

/// The clocks, queues and executor of a simulated process: its work runs at virtual times, in the one thread.
///
/// Unchecked, but safe: see ``World``.
final class SimulatedEnvironment: StoreEnvironment, @unchecked Sendable {
    private let process: Process
    /// How long a job of the journal takes.
    private let commitTime: ClosedRange<Duration>
    /// Until when jobs wait.
    private let stuckUntil: () -> Instant
    private var random: SplitMix64
    private lazy var executor = SimulatedExecutor(process)

    init(_ process: Process, commitTime: ClosedRange<Duration>, stuckUntil: @escaping () -> Instant) {
        (self.process, self.commitTime, self.stuckUntil) = (process, commitTime, stuckUntil)
        random = process.world.random.split()
    }

    var now: Instant { process.now }
    var time: Timestamp { process.time }
    var effectExecutor: (any TaskExecutor)? { executor }

    func makeQueue(_ label: String, _ priority: WorkPriority) -> any WorkQueue {
        let time = priority == .high ? commitTime : .milliseconds(1) ... .milliseconds(500)
        return SimulatedQueue(process, time, random: random.split(), stuckUntil: stuckUntil)
    }

    func startInBackground(_ work: @escaping @Sendable () -> Void) {
        process.schedule(after: random.duration(.microseconds(100) ... .seconds(1)), work)
    }
}

/// A queue whose jobs take virtual time. The work of a job is done at its end.
private final class SimulatedQueue: WorkQueue, @unchecked Sendable {
    private let process: Process
    private let time: ClosedRange<Duration>
    private var random: SplitMix64
    private let stuckUntil: () -> Instant
    private var jobs: Deque<@Sendable () -> Void> = []
    private var isRunning = false

    init(
        _ process: Process,
        _ time: ClosedRange<Duration>,
        random: SplitMix64,
        stuckUntil: @escaping () -> Instant
    ) {
        (self.process, self.time, self.random, self.stuckUntil) = (process, time, random, stuckUntil)
        process.atEnd { [weak self] in self?.jobs = [] }
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        jobs.append(job)
        if !isRunning { runNext() }
    }

    func async(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
        process.schedule(after: delay) { self.async(job) }
    }

    func sync(_ job: @Sendable () -> Void) {
        while let next = jobs.popFirst() { next() }
        job()
    }

    private func runNext() {
        isRunning = true
        let time = max(process.world.now.advanced(by: random.duration(time)), stuckUntil())
        process.schedule(at: time) { [self] in
            // `sync` may have run it.
            jobs.popFirst()?()
            isRunning = false
            if !jobs.isEmpty { runNext() }
        }
    }
}

/// Runs the jobs of an effect's tasks at virtual times.
private final class SimulatedExecutor: TaskExecutor, @unchecked Sendable {
    private let process: Process
    private var jobs: Deque<UnownedJob> = []

    init(_ process: Process) {
        self.process = process
        // A task that is never resumed would never be released. Nothing that it does has an effect.
        process.atEnd { [weak self] in while let self, !self.jobs.isEmpty { self.runNext() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.append(UnownedJob(job))
        if process.isAlive { process.schedule(after: .microseconds(20)) { [self] in runNext() } }
    }

    private func runNext() { jobs.popFirst()?.runSynchronously(on: asUnownedTaskExecutor()) }
}
