import Dispatch
import StatecastCore
import Synchronization

/// A source whose changes the test delivers.
final class ManualSource<State: Sendable>: StateSource {
    private typealias Observer = (id: Int, body: @Sendable (Change<State>) -> Void)

    private let observers = Mutex<[Observer]>([])
    private let ids = Atomic(0)

    func observe(replay: Replay, _ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription {
        let id = ids.add(1, ordering: .relaxed).newValue
        observers.withLock { $0.append((id, body)) }
        return Subscription { [weak self] in
            guard let self else { return }
            let former = observers.withLock { observers in
                defer { observers.removeAll { $0.id == id } }
                return observers
            }
            withExtendedLifetime(former) {}
        }
    }

    func deliver(_ change: Change<State>) {
        for observer in observers.withLock({ $0 }) { observer.body(change) }
    }
}

/// A source whose state is 0 and that reports the end of an observation.
struct ZeroSource: StateSource {
    let onEnd: @Sendable () -> Void

    func observe(replay: Replay, _ body: @escaping @Sendable (Change<Int>) -> Void) -> Subscription {
        if replay == .current { body(Change(replay: 0, revision: 0)) }
        return Subscription { onEnd() }
    }
}

/// Runs jobs on a queue, and checks whether the caller runs there.
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

/// An actor of a given executor.
actor Resident {
    nonisolated let executor: QueueExecutor
    private(set) var seen: [Int] = []

    init(on executor: QueueExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func see(_ number: Int) { seen.append(number) }
}
