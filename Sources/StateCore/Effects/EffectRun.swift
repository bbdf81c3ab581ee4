internal import Locking
import Synchronization

/// One piece of work that is under way.
final class EffectRun: Sendable {
    let number: UInt64
    let id: AnyID?
    private let cancelled = Atomic(false)
    private let sendCount = Atomic(0)
    private let task = Locked<Task<Void, Never>?>(nil)

    init(number: UInt64, id: AnyID?) {
        self.number = number
        self.id = id
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Counts a send. Says whether it is one of those after which others are let run.
    func isDueToYield() -> Bool { sendCount.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 64) }

    func attach(_ task: Task<Void, Never>) {
        self.task.withLock { $0 = task }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        task.withLock { $0 }?.cancel()
    }
}
