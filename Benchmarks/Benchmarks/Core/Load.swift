import Dispatch
import Foundation
import Synchronization

/// Threads or tasks that run the same work concurrently.
struct Crew {
    enum Kind {
        case threads
        case tasks
    }

    private let start = DispatchSemaphore(value: 0)
    private let done = DispatchGroup()
    private let size: Int
    private let kind: Kind
    private let work: @Sendable () -> Void

    /// Starts threads, which wait. Tasks start in `run()`: a waiting one would block a thread of the pool.
    init(of size: Int, _ kind: Kind, work: @escaping @Sendable () -> Void) {
        self.size = size
        self.kind = kind
        self.work = work
        guard kind == .threads else { return }
        let ready = DispatchGroup()
        for _ in 0..<size {
            ready.enter()
            done.enter()
            Thread.detachNewThread { [start, done] in
                ready.leave()
                start.wait()
                work()
                done.leave()
            }
        }
        ready.wait()
    }

    /// Runs the work, and returns after the last thread or task.
    func run() {
        for _ in 0..<size {
            switch kind {
            case .threads: start.signal()
            case .tasks:
                done.enter()
                Task.detached { [done, work] in
                    work()
                    done.leave()
                }
            }
        }
        done.wait()
    }
}

/// A cheap observer that waits for a count.
final class Tally: Sendable {
    private let shown = Atomic(0)
    private let goal: Atomic<Int>
    private let isReached = DispatchSemaphore(value: 0)

    /// - Parameter goal: the count to wait for.
    init(goal: Int) {
        self.goal = Atomic(goal)
    }

    /// Stores without a read-modify-write, which would cost more than the call: a store never calls an observer
    /// concurrently.
    ///
    /// - Returns: whether this is the goal.
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

    /// Call it before dispatching the actions that lead to the goal.
    func aim(at goal: Int) {
        self.goal.store(goal, ordering: .relaxed)
    }
}
