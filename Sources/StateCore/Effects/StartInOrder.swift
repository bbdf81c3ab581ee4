import Synchronization

/// Runs a task's first stretch, up to its first suspension, in line with those of other tasks; the rest anywhere.
///
/// So tasks begin in the order in which they were made, which the pool alone does not promise.
final class StartInOrder: TaskExecutor {
    private let line: StartLine
    private let hasStarted = Atomic(false)

    init(on line: StartLine) { self.line = line }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if hasStarted.exchange(true, ordering: .acquiringAndReleasing) {
            globalConcurrentExecutor.enqueue(job)
        } else {
            line.append { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
