internal import Locking

/// Threads for work that blocks them, apart from those that everything else runs on.
///
/// Dispatch has threads to lend too, but a few hundred in all, for whoever comes: once they block, nothing starts any
/// more. Beyond the limit work waits its turn here. A thread takes the next piece when it is done with one, and ends
/// when there is none.
final class BlockingThreads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct Pool {
        var waiting = FIFO<Work>()
        var count = 0
    }

    /// The process's.
    static let shared = BlockingThreads()

    /// How many pieces of blocking work a process does at a time.
    static let countMax = 512

    private let pool = Locked(Pool())
    private let countMax: Int
    private let spawn: @Sendable (_ main: @escaping Work) -> Bool

    /// - Parameters:
    ///   - countMax: how many threads there are at most.
    ///   - spawn: starts a thread; says whether the system gave one.
    init(
        countMax: Int = BlockingThreads.countMax,
        spawn: @escaping @Sendable (_ main: @escaping Work) -> Bool = spawnThread
    ) {
        self.countMax = countMax
        self.spawn = spawn
    }

    /// Does the work on a thread of its own, as soon as there is one.
    func start(_ work: @escaping Work) {
        let isToSpawn = pool.withLock { pool in
            guard pool.count < countMax else {
                pool.waiting.append(work)
                return false
            }
            pool.count += 1
            return true
        }
        guard isToSpawn, !spawn({ self.run(work) }) else { return }
        // The system is out of threads: one of those at work takes it when it is done. If none is, the caller has to
        // do it, which is late, but not lost.
        let isLast = pool.withLock { pool in
            guard pool.count > 1 else { return true }
            pool.count -= 1
            pool.waiting.append(work)
            return false
        }
        if isLast { run(work) }
    }

    private func run(_ first: @escaping Work) {
        var work = first
        while true {
            work()
            guard let next = next() else { return }
            work = next
        }
    }

    private func next() -> Work? {
        pool.withLock { pool in
            if let next = pool.waiting.popFirst() { return next }
            pool.count -= 1
            return nil
        }
    }
}
