public import SyncProtocol
internal import Threading

/// The primary's confirmation that an action was applied, and the revision that it produced.
public struct Receipt: Hashable, Sendable {
    /// The session that sent the action.
    public let session: SessionID
    /// The action's number in the session.
    public let number: ActionNumber
    /// The first state that contains the action.
    public let position: Position

    /// The revision that the action produced.
    public var revision: Revision { position.revision }
}

/// The outcome of an action.
public struct ActionOutcome: Hashable, Sendable {
    /// The session that sent the action; `nil` if it was never sent.
    public let session: SessionID?
    /// The action's number; `nil` if it was never sent.
    public let number: ActionNumber?
    /// The receipt, or the reason why there is none. With code `outcome-unknown` the action may have been applied.
    public let result: Result<Receipt, Rejection>

    static func notSent(_ reason: Rejection) -> ActionOutcome {
        ActionOutcome(session: nil, number: nil, result: .failure(reason))
    }
}

/// An action that was submitted, and the outcome that it will have.
///
/// Unchecked `Sendable`: each access to the outcome and the monitor holds the lock.
public final class PendingReceipt: @unchecked Sendable {
    /// Whether a caller has this receipt; a dispatched action has none.
    let isAwaited: Bool
    /// The action's ticket; `nil` if the action was not accepted.
    let ticket: Ticket?

    /// The receipts of a sender share it: a lock of its own would be most of the cost of a receipt.
    private let lock: Lock
    private var resolved: ActionOutcome?
    /// Exists if a task waits for the outcome.
    private var monitor: Monitor<ActionOutcome?>?

    init(ticket: Ticket? = nil, isAwaited: Bool = true, lock: Lock = Lock()) {
        self.ticket = ticket
        self.isAwaited = isAwaited
        self.lock = lock
    }

    /// Waits for the receipt.
    ///
    /// - Throws: ``Rejection`` with the primary's answer, or the reason why none will come; `CancellationError` if the
    ///   task is cancelled, which does not withdraw the action.
    public func receipt() async throws -> Receipt { try await outcome().result.get() }

    /// Waits for the outcome.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, which does not withdraw the action.
    public func outcome() async throws -> ActionOutcome {
        switch current() {
        case .resolved(let outcome): return outcome
        case .pending(let monitor): return try await monitor.wait { $0 }
        }
    }

    private enum State {
        case resolved(ActionOutcome)
        case pending(Monitor<ActionOutcome?>)
    }

    private func current() -> State {
        lock.lock()
        defer { lock.unlock() }
        if let resolved { return .resolved(resolved) }
        let monitor = monitor ?? Monitor(nil)
        self.monitor = monitor
        return .pending(monitor)
    }

    /// Sets the outcome; only the first one counts.
    func resolve(_ outcome: ActionOutcome) {
        lock.lock()
        let isFirst = resolved == nil
        if isFirst { resolved = outcome }
        let monitor = monitor
        lock.unlock()
        if isFirst { monitor?.change { $0 = outcome } }
    }
}
