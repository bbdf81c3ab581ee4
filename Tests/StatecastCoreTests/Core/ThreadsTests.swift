import Foundation
import StatecastThreading
import Synchronization
import Testing

@Suite struct `A thread's id` {
    /// Also when optimized: a compiler that takes the id for a constant of the function keeps it over a suspension.
    @Test func `A thread's id is read again after a task was suspended`() async {
        let executor = ThreadPerJob()
        defer { executor.end() }
        let ids = await Task(executorPreference: executor) {
            var ids: [Int: UInt] = [:]
            // A task that is resumed before it is suspended stays on its thread.
            while ids.count < 8 {
                ids[executor.threadNumber] = Threads.currentID
                await Task.yield()
            }
            return ids
        }.value
        #expect(Set(ids.values).count == ids.count)
    }
}

/// Runs each job on a new thread. The threads live until `end`, so that no two have the same id.
private final class ThreadPerJob: TaskExecutor {
    private let threads = Atomic(0)
    private let key: pthread_key_t
    private let running = DispatchGroup()

    init() {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0)
        self.key = key
        running.enter()
    }

    deinit { pthread_key_delete(key) }

    /// The number of the calling thread among those of this executor.
    var threadNumber: Int { Int(bitPattern: pthread_getspecific(key)) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let number = threads.add(1, ordering: .relaxed).newValue
        do {
            try Threads.start(name: "job", stackBytes: 1 << 20) { [self] in
                pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
                job.runSynchronously(on: asUnownedTaskExecutor())
                running.wait()
            }
        } catch {
            fatalError("no thread for a job: error \(error.errno)")
        }
    }

    func end() { running.leave() }
}
