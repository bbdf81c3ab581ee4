import Dispatch
import Foundation

/// Some threads that set off together.
struct Crew {
    private let start = DispatchSemaphore(value: 0)
    private let done = DispatchGroup()
    private let size: Int

    /// Makes the threads and has them wait.
    init(size: Int, work: @escaping @Sendable () -> Void) {
        self.size = size
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
            start.signal()
        }
        done.wait()
    }
}
