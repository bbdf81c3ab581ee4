public import DequeModule

/// Tasks that wait, each with what it waits for, in order of arrival. Part of a ``Locked`` value.
///
/// The owner removes waiters with the lock held, and resumes them without it: a resumed task, or a value that it waits
/// for, may call back.
@usableFromInline
package struct WaiterList<Wanted, Output: Sendable> {
    @usableFromInline
    package struct Waiter {
        fileprivate let id: UInt64
        package let wanted: Wanted
        fileprivate let continuation: CheckedContinuation<Output, any Error>

        @usableFromInline
        package func resume(returning output: Output) { continuation.resume(returning: output) }
    }

    @usableFromInline var waiters: Deque<Waiter> = []
    private var lastID: UInt64 = 0

    @usableFromInline
    package init() {}

    @inlinable package var count: Int { waiters.count }

    /// Removes the task that has waited longest.
    package mutating func popFirst() -> Waiter? { waiters.popFirst() }

    /// Removes the tasks that meet a condition.
    @usableFromInline
    package mutating func removeAll(where isMet: (Wanted) -> Bool) -> [Waiter] {
        var met: [Waiter] = []
        waiters.removeAll { waiter in
            guard isMet(waiter.wanted) else { return false }
            met.append(waiter)
            return true
        }
        return met
    }

    fileprivate mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    fileprivate mutating func remove(_ id: UInt64) -> Waiter? {
        waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0) }
    }
}

extension Locked {
    /// Adds the calling task to a list of the value, and waits until the list's owner resumes it.
    ///
    /// - Parameter ready: returns the output if the task need not wait. Runs with the lock held.
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func wait<Wanted: Sendable, Output: Sendable>(
        for wanted: Wanted,
        in list: any WritableKeyPath<Value, WaiterList<Wanted, Output>> & Sendable,
        unless ready: (inout Value) -> Output?
    ) async throws -> Output {
        let id = withLock { $0[keyPath: list].makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Output, any Error>? = withLock { value in
                    if let output = ready(&value) { return .success(output) }
                    // A cancellation before this point found no waiter to remove.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    value[keyPath: list].waiters.append(.init(id: id, wanted: wanted, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = withLock { $0[keyPath: list].remove(id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
