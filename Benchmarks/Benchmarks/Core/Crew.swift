import Dispatch
import Foundation

/// Threads or tasks that run the same work concurrently.
struct Crew {
    /// What does the work.
    enum Kind {
        case threads
        case tasks
    }

    private let start = DispatchSemaphore(value: 0)
    private let done = DispatchGroup()
    private let size: Int
    private let kind: Kind
    private let work: @Sendable () -> Void

    /// Makes the threads and has them wait. Tasks are created in `run()`: a waiting one would block a thread of the pool.
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

    /// Lets them go, and returns when the last has finished.
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
