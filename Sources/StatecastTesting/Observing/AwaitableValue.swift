internal import Threading

/// A value that any thread may change, and that a test can wait for.
final class AwaitableValue<Value: Sendable>: Sendable {
    private struct Waiter {
        let number: UInt64
        /// Looks at the value. Returns a function that resumes the waiter if the value fulfils its condition.
        let look: (inout Value) -> (() -> Void)?
        let giveUp: () -> Void
    }

    private struct Content {
        var value: Value
        var waiters: [Waiter] = []
        var waiterCount: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            waiterCount += 1
            return waiterCount
        }
    }

    private let content: Locked<Content>

    init(_ value: Value) { content = Locked(Content(value: value)) }

    /// The current value.
    var value: Value { content.withLock { $0.value } }

    /// Changes the value and resumes the waiters whose condition it then fulfils, the oldest first.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        // Resumed without the lock, since they may call back at once.
        let (result, resumptions) = content.withLock { content in
            let result = body(&content.value)
            var resumptions: [() -> Void] = []
            content.waiters.removeAll { waiter in
                guard let resume = waiter.look(&content.value) else { return false }
                resumptions.append(resume)
                return true
            }
            return (result, resumptions)
        }
        for resume in resumptions { resume() }
        return result
    }

    /// Waits until `look` finds something, now or after a later change.
    ///
    /// - Parameters:
    ///   - patience: a guard against waiting for ever; nil waits without a limit.
    ///   - look: called with the lock held. It may take its finding out of the value.
    /// - Returns: nil if the patience or the calling task has ended.
    func first<Found: Sendable>(
        within patience: Duration?,
        _ look: @escaping @Sendable (inout Value) -> Found?
    ) async -> Found? {
        let number = content.withLock { $0.nextNumber() }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number) { value in
                    look(&value).map { found in { continuation.resume(returning: found) } }
                } giveUp: {
                    continuation.resume(returning: nil)
                }
                guard add(waiter, unless: { Task.isCancelled }) else { return }
                timer = patience.map { patience in
                    Task.detached {
                        try? await Task.sleep(for: patience)
                        self.giveUp(number)
                    }
                }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// Calls `body` once, on the thread of the change that fulfils `condition`, or at once if it is fulfilled now.
    func whenFirst(_ condition: @escaping (Value) -> Bool, _ body: @escaping () -> Void) {
        let number = content.withLock { $0.nextNumber() }
        _ = add(Waiter(number: number, look: { condition($0) ? body : nil }, giveUp: {}), unless: { false })
    }

    /// Resumes a waiter whose condition is fulfilled now, gives up one that is cancelled, adds any other.
    private func add(_ waiter: Waiter, unless isCancelled: () -> Bool) -> Bool {
        let resume = content.withLock { content -> (() -> Void)? in
            if let resume = waiter.look(&content.value) { return resume }
            // A cancellation before this moment found no waiter to give up.
            if isCancelled() { return waiter.giveUp }
            content.waiters.append(waiter)
            return nil
        }
        resume?()
        return resume == nil
    }

    private func giveUp(_ number: UInt64) {
        let waiter = content.withLock { content in
            content.waiters.firstIndex { $0.number == number }.map { content.waiters.remove(at: $0) }
        }
        waiter?.giveUp()
    }
}
