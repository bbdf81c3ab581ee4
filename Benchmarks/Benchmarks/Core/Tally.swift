import Dispatch
import Synchronization

/// An observer that costs next to nothing, and knows when it has been shown what it waits for.
final class Tally: Sendable {
    private let shown = Atomic(0)
    private let goal: Atomic<Int>
    private let isReached = DispatchSemaphore(value: 0)

    /// - Parameter goal: the count that ends the waiting.
    init(goal: Int) {
        self.goal = Atomic(goal)
    }

    /// Stores without a read-modify-write, which would cost more than the call: a store calls an observer
    /// once at a time.
    ///
    /// - Returns: whether this is what it waits for.
    @discardableResult
    func show(_ count: Int) -> Bool {
        shown.store(count, ordering: .relaxed)
        guard count == goal.load(ordering: .relaxed) else { return false }
        isReached.signal()
        return true
    }

    func waitUntilReached() {
        isReached.wait()
    }

    /// To be called before any action is dispatched that leads there.
    func aim(at goal: Int) {
        self.goal.store(goal, ordering: .relaxed)
    }
}
