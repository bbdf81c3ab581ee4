import Dispatch

/// Runs jobs on a queue, and knows whether the caller is there.
final class QueueExecutor: SerialExecutor, TaskExecutor {
    private let queue = DispatchQueue(label: "executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor()
            )
        }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// An actor that lives on a given executor.
actor Resident {
    nonisolated let executor: QueueExecutor
    private(set) var seen: [Int] = []

    init(on executor: QueueExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func see(_ number: Int) { seen.append(number) }
}
