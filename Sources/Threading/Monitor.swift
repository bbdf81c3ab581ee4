/// A locked value, and the tasks that wait until it meets a condition: a monitor for tasks instead of threads.
///
/// A wait ends with what its condition returns, or with a `CancellationError`. Tasks are resumed in the order in which
/// they began to wait. Each change evaluates the conditions of all waiting tasks, so a monitor is for few waiters at a
/// time.
package final class Monitor<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: UInt64
        /// Evaluates the condition; if it is met, returns a closure that resumes the task.
        let evaluate: (inout Value) -> (() -> Void)?
        let cancel: () -> Void
    }

    private struct Storage {
        var value: Value
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0

        /// Removes the waiters whose conditions are met. A condition may change the value and thereby meet others.
        mutating func removeMet() -> [(waiter: Waiter, resume: () -> Void)] {
            var met: [(waiter: Waiter, resume: () -> Void)] = []
            var countBefore: Int
            repeat {
                countBefore = met.count
                waiters.removeAll { waiter in
                    guard let resume = waiter.evaluate(&value) else { return false }
                    met.append((waiter, resume))
                    return true
                }
            } while met.count > countBefore && !waiters.isEmpty
            return met
        }
    }

    private let storage: Locked<Storage>

    package init(_ value: Value) { storage = Locked(Storage(value: value)) }

    /// The current value.
    package var value: Value { storage.withLock { $0.value } }

    /// Changes the value, and resumes the tasks whose conditions it then meets. `body` runs with the lock held.
    @discardableResult
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, met) = storage.withLock { (body(&$0.value), $0.removeMet()) }
        // Without the lock, since a resumed task, or a value that a condition owns, may call back.
        for (_, resume) in met { resume() }
        return result
    }

    /// Waits until `condition` returns a value, now or after a later change.
    ///
    /// - Parameter condition: runs with the lock held. It may change the value, for example dequeue an element.
    /// - Throws: `CancellationError` if the task is cancelled before the condition is met.
    package func wait<Found: Sendable>(
        for condition: @escaping @Sendable (inout Value) -> Found?
    ) async throws -> Found {
        if let found = change(condition) { return found }
        let id = storage.withLock { storage in
            storage.lastID += 1
            return storage.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(id: id) { value in
                    condition(&value).map { found in { continuation.resume(returning: found) } }
                } cancel: {
                    continuation.resume(throwing: CancellationError())
                }
                let met = storage.withLock { storage in
                    storage.waiters.append(waiter)
                    let met = storage.removeMet()
                    // A cancellation before this point found no waiter to remove.
                    guard Task.isCancelled, storage.waiters.last?.id == id else { return met }
                    return met + [(storage.waiters.removeLast(), waiter.cancel)]
                }
                for (_, resume) in met { resume() }
            }
        } onCancel: {
            let waiter = storage.withLock { storage in
                storage.waiters.firstIndex { $0.id == id }.map { storage.waiters.remove(at: $0) }
            }
            waiter?.cancel()
        }
    }
}
