import Dispatch
import Testing
import Threading

@Suite struct `A thread's id` {
    /// Also when optimized: a compiler that takes the id for a constant of the function keeps it over a suspension.
    @Test func `is read again after a task was suspended`() async {
        let executor = ThreadPerJob()
        defer { executor.end() }
        let ids = await Task(executorPreference: executor) {
            var ids: Set<UInt> = []
            for _ in 0..<8 {
                ids.insert(Threads.currentID)
                await Task.yield()
            }
            return ids
        }.value
        #expect(ids.count == 8)
    }
}

/// Runs each job on a new thread. The threads live until `end`, so that no two have the same id.
private final class ThreadPerJob: TaskExecutor {
    private let running = DispatchGroup()

    init() { running.enter() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        do {
            try Threads.start(name: "job", stackBytes: 1 << 20) { [running] in
                job.runSynchronously(on: executor)
                running.wait()
            }
        } catch {
            fatalError("no thread for a job: error \(error.errno)")
        }
    }

    func end() { running.leave() }
}
