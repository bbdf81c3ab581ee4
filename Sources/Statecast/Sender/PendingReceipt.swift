internal import SyncProtocol
internal import Synchronization

/// An action that was taken, and will have an outcome.
public final class PendingReceipt: Sendable {
    private struct Storage {
        var outcome: ActionOutcome?
        var waiters: [UInt64: CheckedContinuation<ActionOutcome?, Never>] = [:]
        var count: UInt64 = 0
    }

    private let storage = Mutex(Storage())
    /// Whether somebody was handed it; nobody is of an action that was dispatched.
    let isAwaited: Bool
    /// The action's; `nil` if it was not taken.
    let ticket: Ticket?

    init(ticket: Ticket? = nil, isAwaited: Bool = true) {
        self.ticket = ticket
        self.isAwaited = isAwaited
    }

    /// Waits for the receipt.
    ///
    /// - Throws: ``Rejection`` with what the primary answered, or why it can answer no more; `CancellationError` if the
    ///   waiting was cancelled: the action goes on.
    public func receipt() async throws -> Receipt { try await outcome().result.get() }

    /// Waits for the outcome.
    ///
    /// - Throws: `CancellationError` if the waiting was cancelled: the action goes on.
    public func outcome() async throws -> ActionOutcome {
        let key = storage.withLock { storage in
            storage.count += 1
            return storage.count
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: ActionOutcome?? = storage.withLock { storage in
                    if let outcome = storage.outcome { return .some(outcome) }
                    if Task.isCancelled { return .some(nil) }
                    storage.waiters[key] = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            storage.withLock { $0.waiters.removeValue(forKey: key) }?.resume(returning: nil)
        }
        guard let outcome else { throw CancellationError() }
        return outcome
    }

    /// Sets the outcome; only the first one counts.
    func settle(_ outcome: ActionOutcome) {
        let waiters = storage.withLock { storage in
            guard storage.outcome == nil else { return [UInt64: CheckedContinuation<ActionOutcome?, Never>]() }
            storage.outcome = outcome
            defer { storage.waiters = [:] }
            return storage.waiters
        }
        for waiter in waiters.values { waiter.resume(returning: outcome) }
    }
}
