internal import ServiceLifecycle
internal import Threading

/// What whoever runs a node waits for: that it is to end, or that it cannot go on.
final class Ending: Sendable {
    private struct Waiting {
        var failure: StatecastError?
        var waiters: [AsyncStream<StatecastError>.Continuation] = []
    }

    private let waiting = Locked(Waiting())

    /// The node cannot go on.
    func end(_ failure: StatecastError) {
        let waiters = waiting.withLock { waiting in
            waiting.failure = failure
            defer { waiting.waiters = [] }
            return waiting.waiters
        }
        for waiter in waiters {
            waiter.yield(failure)
            waiter.finish()
        }
    }

    /// Waits until the task is cancelled, the service group shuts down, or the node cannot go on.
    func wait() async -> StatecastError? {
        let (failures, waiter) = AsyncStream.makeStream(of: StatecastError.self)
        let failure = waiting.withLock { waiting in
            if waiting.failure == nil { waiting.waiters.append(waiter) }
            return waiting.failure
        }
        if let failure { return failure }
        return await cancelWhenGracefulShutdown { await failures.first { _ in true } }
    }
}
