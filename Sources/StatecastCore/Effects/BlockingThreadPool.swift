import StatecastThreading

/// Threads for blocking work, separate from the threads of Dispatch and of the cooperative pool.
///
/// Dispatch has a few hundred threads for the whole process; if all of them block, nothing else starts. Beyond the
/// limit of this pool, work is queued. A thread runs queued work until the queue is empty, and then ends.
final class BlockingThreadPool: Sendable {
    typealias Work = @Sendable () -> Void

    private struct Content: ~Copyable {
        var queue = FIFO<Work>()
        var threadCount = 0
    }

    static let shared = BlockingThreadPool()

    /// The maximum number of threads in a process.
    static let maxThreadCount = 512

    private let content = Locked(Content())
    private let maxThreadCount: Int
    private let spawn: @Sendable (_ main: @escaping Work) -> Void

    /// - Parameter spawn: starts a thread.
    init(
        maxThreadCount: Int = BlockingThreadPool.maxThreadCount,
        spawn: @escaping @Sendable (_ main: @escaping Work) -> Void = BlockingThreadPool.spawnThread
    ) {
        self.maxThreadCount = maxThreadCount
        self.spawn = spawn
    }

    /// Starts a thread with a stack of 512 KiB, so that hundreds of them fit.
    @Sendable
    static func spawnThread(_ main: @escaping Work) {
        Threads.run(name: "statecast-work", stackBytes: 512 * 1_024, main)
    }

    /// Runs the work on a thread of the pool as soon as one is available.
    func start(_ work: @escaping Work) {
        let needsThread = content.withLock { content in
            guard content.threadCount < maxThreadCount else {
                content.queue.append(work)
                return false
            }
            content.threadCount += 1
            return true
        }
        if needsThread { spawn { self.run(work) } }
    }

    private func run(_ first: @escaping Work) {
        first()
        while let next = dequeueOrEndThread() { next() }
    }

    private func dequeueOrEndThread() -> Work? {
        content.withLock { content in
            if let next = content.queue.popFirst() { return next }
            content.threadCount -= 1
            return nil
        }
    }
}
