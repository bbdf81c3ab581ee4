/// A locked value, and the tasks that wait until it meets a condition: a monitor for tasks instead of threads.
///
/// A wait ends with what its condition returns, or with a `CancellationError`. Tasks are resumed in the order in which
/// they began to wait. Each change evaluates the conditions of all waiting tasks, so a monitor is for few waiters at a
/// time.
///
/// Inlinable, so that other modules specialize it: each update passes several of these on a replica.
@usableFromInline
package final class Monitor<Value: Sendable>: Sendable {
    /// Evaluates a condition, and keeps what it returns.
    @usableFromInline typealias Condition = @Sendable (inout Value) -> Bool
    @usableFromInline typealias Waiters = WaiterList<Condition, Void>

    @usableFromInline
    struct Storage: HasWaiters {
        @usableFromInline var value: Value
        @usableFromInline var waiters = Waiters()

        @usableFromInline
        init(value: Value) { self.value = value }

        /// Removes the waiters whose conditions are met. A condition may change the value and thereby meet others.
        @inlinable
        mutating func removeMet() -> [Waiters.Waiter] { Self.removeMet(from: &waiters, &value) }

        @inlinable
        static func removeMet(from waiters: inout Waiters, _ value: inout Value) -> [Waiters.Waiter] {
            var met: [Waiters.Waiter] = []
            while true {
                let more = waiters.removeAll { $0(&value) }
                guard more.count > 0 else { return met }
                met += more
            }
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
        var met: [Waiters.Waiter] = []
        let result = storage.withLock { storage in
            let result = body(&storage.value)
            if storage.waiters.count > 0 { met = storage.removeMet() }
            return result
        }
        for waiter in met { waiter.resume(returning: ()) }
        return result
    }

    /// Waits until `condition` returns a value, now or after a later change.
    ///
    /// - Parameter condition: runs with the lock held. It may change the value, for example dequeue an element.
    /// - Throws: `CancellationError` if the task is cancelled before the condition is met.
    @inlinable
    package func wait<Found: Sendable>(
        for condition: @escaping @Sendable (inout Value) -> Found?
    ) async throws -> Found {
        if let found = change(condition) { return found }
        // Written with the lock of the storage held, once, and read after that.
        let found = Locked<Found?>(nil)
        let evaluate: Condition = { value in
            guard let result = condition(&value) else { return false }
            found.withLock { $0 = result }
            return true
        }
        var met: [Waiters.Waiter] = []
        try await storage.wait(for: evaluate) { storage in
            guard evaluate(&storage.value) else { return nil }
            met = storage.removeMet()
            return ()
        }
        for waiter in met { waiter.resume(returning: ()) }
        guard let result = found.withLock({ $0 }) else { fatalError("a resumed task's condition was not met") }
        return result
    }
}
