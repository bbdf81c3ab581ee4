import DequeModule
import Statecast
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// The clocks, queues and executor of a simulated process: its work runs at virtual times, in the one thread.
///
/// Unchecked, but safe: see ``World``.
final class SimulatedEnvironment: StoreEnvironment, @unchecked Sendable {
    private let process: Process
    /// How long a job of the journal takes.
    private let commitTime: ClosedRange<Duration>
    /// The disks of the journals that have no queues yet.
    private var disks: Deque<Disk>
    /// The disk of the journal that makes its queues.
    private var disk: Disk?
    /// Whether jobs wait for a database, instead of taking a time of their own.
    private let hasDatabase: Bool
    private var random: SplitMix64
    private lazy var executor = SimulatedExecutor(process)

    /// - Parameters:
    ///   - commitTime: how long a job takes of a queue with high priority.
    ///   - disks: in the order in which the stores are served, each with the queues of its journal.
    init(
        _ process: Process,
        commitTime: ClosedRange<Duration> = .zero ... .zero,
        disks: [Disk] = [],
        hasDatabase: Bool = false
    ) {
        (self.process, self.commitTime, self.disks) = (process, commitTime, Deque(disks))
        self.hasDatabase = hasDatabase
        random = process.world.random.split()
    }

    var now: Instant { process.now }
    var time: Timestamp { process.time }
    var effectExecutor: (any TaskExecutor)? { executor }
    func randomBits() -> UInt64 { random.next() }

    func makeQueue(_ label: String, _ priority: WorkPriority) -> any WorkQueue {
        if hasDatabase { return BlockingQueue(process, random: random.split()) }
        // The first queue of a journal is that of its commits.
        if priority == .high { disk = disks.popFirst() }
        let time = priority == .high ? commitTime : .milliseconds(1) ... .milliseconds(500)
        return SimulatedQueue(label, process, time, on: disk, random: random.split())
    }

    func startInBackground(_ work: @escaping @Sendable () -> Void) {
        process.schedule(after: random.duration(.microseconds(100) ... .seconds(1)), work)
    }
}

/// A queue whose jobs take virtual time. The work of a job is done at its end.
///
/// Unchecked, but safe: see ``World``.
private final class SimulatedQueue: WorkQueue, @unchecked Sendable {
    private let label: String
    private let process: Process
    private let time: ClosedRange<Duration>
    private let disk: Disk?
    private var random: SplitMix64
    private var jobs: Deque<@Sendable () -> Void> = []
    private var isRunning = false

    init(
        _ label: String,
        _ process: Process,
        _ time: ClosedRange<Duration>,
        on disk: Disk?,
        random: SplitMix64
    ) {
        (self.label, self.process, self.time, self.disk, self.random) = (label, process, time, disk, random)
        process.atEnd { [weak self] in self?.jobs = [] }
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        process.world.note("\(process.name) has a job for \(label)")
        jobs.append(job)
        if !isRunning { runNext() }
    }

    func sync(_ job: @Sendable () -> Void) {
        while let next = jobs.popFirst() { next() }
        job()
    }

    private func runNext() {
        isRunning = true
        var time = process.world.now.advanced(by: random.duration(time))
        if let disk, time < disk.stuckUntil {
            disk.noteEffect(of: .diskStuck)
            time = disk.stuckUntil
        }
        process.schedule(at: time) { [self] in
            // `sync` may have run it.
            jobs.popFirst()?()
            isRunning = false
            if !jobs.isEmpty { runNext() }
        }
    }
}

/// Runs the jobs of an effect's tasks at virtual times.
///
/// Unchecked, but safe: see ``World``.
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
