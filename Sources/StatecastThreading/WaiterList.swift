public import DequeModule

/// Tasks that wait, each with what it waits for, in order of arrival. Part of a ``Locked`` value.
///
/// The owner removes waiters with the lock held, and resumes them without it: a resumed task, or a value that it waits
/// for, may call back.
///
/// Inlinable, so that other modules specialize it: a wait without that costs microseconds in lookups of metadata.
@usableFromInline
package struct WaiterList<Wanted, Output: Sendable> {
    @usableFromInline
    package struct Waiter {
        @usableFromInline let id: UInt64
        @usableFromInline package let wanted: Wanted
        @usableFromInline let continuation: CheckedContinuation<Output, any Error>

        @inlinable
        init(_ id: UInt64, _ wanted: Wanted, _ continuation: CheckedContinuation<Output, any Error>) {
            (self.id, self.wanted, self.continuation) = (id, wanted, continuation)
        }

        @inlinable
        package func resume(returning output: Output) { continuation.resume(returning: output) }
    }

    @usableFromInline var waiters: Deque<Waiter> = []
    @usableFromInline var lastID: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable package var count: Int { waiters.count }

    /// Removes the task that has waited longest.
    @inlinable
    package mutating func popFirst() -> Waiter? { waiters.popFirst() }

    /// Removes the tasks that meet a condition.
    @inlinable
    package mutating func removeAll(where isMet: (Wanted) -> Bool) -> [Waiter] {
        var met: [Waiter] = []
        waiters.removeAll { waiter in
            guard isMet(waiter.wanted) else { return false }
            met.append(waiter)
            return true
        }
        return met
    }

    @inlinable
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    @inlinable
    mutating func remove(_ id: UInt64) -> Waiter? {
        waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0) }
    }
}

/// A value on which tasks wait.
@usableFromInline
package protocol HasWaiters: SendableMetatype {
    associatedtype Wanted: Sendable
    associatedtype Output: Sendable
    var waiters: WaiterList<Wanted, Output> { get set }
}

extension Locked where Value: HasWaiters {
    /// Adds the calling task to the waiters of the value, and waits until the value's owner resumes it.
    ///
    /// - Parameter ready: returns the output if the task need not wait. Runs with the lock held.
    /// - Throws: `CancellationError` if the task is cancelled before.
    @inlinable
    package func wait(
        for wanted: Value.Wanted,
        unless ready: (inout Value) -> Value.Output?
    ) async throws -> Value.Output {
        let id = withLock { $0.waiters.makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value.Output, any Error>? = withLock { value in
                    if let output = ready(&value) { return .success(output) }
                    // A cancellation before this point found no waiter to remove.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    value.waiters.waiters.append(.init(id, wanted, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = withLock { $0.waiters.remove(id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
