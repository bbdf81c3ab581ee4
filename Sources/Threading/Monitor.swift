/// A locked value, and the tasks that wait until it meets a condition: a monitor for tasks instead of threads.
///
/// A wait ends with what its condition returns, or with a `CancellationError`. Tasks are resumed in the order in which
/// they began to wait. Each change evaluates the conditions of all waiting tasks, so a monitor is for few waiters at a
/// time.
///
/// Inlinable, so that other modules specialize it: each update passes several of these on a replica.
@usableFromInline
package final class Monitor<Value: Sendable>: Sendable {
    @usableFromInline
    final class Waiter {
        let id: UInt64
        /// Evaluates the condition; if it is met, returns a closure that resumes the task.
        @usableFromInline let evaluate: (inout Value) -> (() -> Void)?
        let cancel: () -> Void

        init(id: UInt64, evaluate: @escaping (inout Value) -> (() -> Void)?, cancel: @escaping () -> Void) {
            (self.id, self.evaluate, self.cancel) = (id, evaluate, cancel)
        }
    }

    @usableFromInline
    struct Storage {
        @usableFromInline var value: Value
        @usableFromInline var waiters: [Waiter] = []
        var lastID: UInt64 = 0

        @usableFromInline
        init(value: Value) { self.value = value }

        /// Removes the waiters whose conditions are met. A condition may change the value and thereby meet others.
        @inlinable
        mutating func removeMet() -> [RemovedWaiter] {
            var met: [RemovedWaiter] = []
            var index = 0
            while index < waiters.count {
                if let resume = waiters[index].evaluate(&value) {
                    met.append(RemovedWaiter(waiters.remove(at: index), resume: resume))
                    index = 0
                } else {
                    index += 1
                }
            }
            return met
        }
    }

    @usableFromInline let storage: Locked<Storage>

    @inlinable
    package init(_ value: Value) { storage = Locked(Storage(value: value)) }

    /// The current value.
    @inlinable
    package var value: Value { storage.withLock { $0.value } }

    /// Changes the value, and resumes the tasks whose conditions it then meets. `body` runs with the lock held.
    @inlinable
    @discardableResult
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        var met: [RemovedWaiter] = []
        let result = storage.withLock { storage in
            let result = body(&storage.value)
            // `isEmpty` would look up metadata.
            if storage.waiters.count > 0 { met = storage.removeMet() }
            return result
        }
        for waiter in met { waiter.resume() }
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
                    return met + [RemovedWaiter(storage.waiters.removeLast(), resume: waiter.cancel)]
                }
                for waiter in met { waiter.resume() }
            }
        } onCancel: {
            let waiter = storage.withLock { storage in
                storage.waiters.firstIndex { $0.id == id }.map { storage.waiters.remove(at: $0) }
            }
            waiter?.cancel()
        }
    }
}

/// A waiter that is removed: its condition is met, or its task is cancelled. It is resumed and released without the
/// lock: a resumed task, or a value that its condition owns, may call back.
///
/// Not generic, so that no metadata is looked up for an empty array of them.
@usableFromInline
struct RemovedWaiter {
    /// Retained until the lock is released.
    private let waiter: AnyObject
    @usableFromInline let resume: () -> Void

    @usableFromInline
    init(_ waiter: AnyObject, resume: @escaping () -> Void) { (self.waiter, self.resume) = (waiter, resume) }
}
