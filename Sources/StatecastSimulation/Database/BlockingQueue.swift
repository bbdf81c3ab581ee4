import DequeModule
import Statecast
import StatecastThreading

/// A queue whose jobs wait for a database.
///
/// Unchecked, but safe: see ``World``.
final class BlockingQueue: WorkQueue, @unchecked Sendable {
    private let process: Process
    private var random: SplitMix64
    private var jobs: Deque<@Sendable () -> Void> = []
    private var current: BlockingJob?
    private var isScheduled = false
    private var isRunningAll = false

    init(_ process: Process, random: SplitMix64) {
        (self.process, self.random) = (process, random)
        // After the process has ended, they run at once, and what they ask of the database fails.
        process.atEnd { [weak self] in self?.runAll() }
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        jobs.append(job)
        runNext()
    }

    func sync(_ job: @Sendable () -> Void) {
        if process.isAlive, let waiting = process.world.blockingJob {
            waiting.wait(orNow: { [self] in runAll() }) { [self] end in
                let end = Unchecked(end)
                async { [process] in process.schedule(after: .zero) { end.value() } }
            }
        } else {
            runAll()
        }
        job()
    }

    private func runNext() { if process.isAlive { schedule() } else { runAll() } }

    /// Runs all jobs without a pause. Not in a job of the queue, which goes on with the others when it ends.
    private func runAll() {
        guard !isRunningAll, current == nil || process.world.blockingJob !== current else { return }
        isRunningAll = true
        current?.finish()
        while let next = jobs.popFirst() { next() }
        isRunningAll = false
    }

    private func schedule() {
        guard !isScheduled, current == nil, !jobs.isEmpty else { return }
        isScheduled = true
        process.schedule(after: .microseconds(random.oneIn(20) ? random.below(20_000) : 20)) { [self] in
            isScheduled = false
            start()
        }
    }

    private func start() {
        // `sync` may have run it.
        guard current == nil, let job = jobs.popFirst() else { return }
        let started = BlockingJob(in: process.world, job) { [self] in
            current = nil
            runNext()
        }
        if !started.isDone { current = started }
    }
}
