public import StatecastProtocol

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
}

extension ActionOutcome {
    init(_ outcome: ResolvedAction) {
        let result: Result<Receipt, Rejection>
        switch (outcome.result, outcome.sent) {
        case (.success(let position), let sent?):
            result = .success(Receipt(session: sent.session, number: sent.number, position: position))
        case (.failure(let rejection), _): result = .failure(rejection)
        case (.success, nil): preconditionFailure("an action without a number was applied: \(outcome)")
        }
        self.init(session: outcome.sent?.session, number: outcome.sent?.number, result: result)
    }
}

/// An action that was submitted, and the outcome that it will have.
public struct PendingReceipt: Sendable {
    enum Source {
        case page(ReceiptPage, Ticket)
        /// The action was not accepted.
        case refused(ActionOutcome)
    }

    let source: Source

    private init(source: Source) { self.source = source }

    init(_ page: ReceiptPage, _ ticket: Ticket) { self.init(source: .page(page, ticket)) }

    /// The receipt of an action that was not accepted.
    static func notSent(because cause: String) -> PendingReceipt {
        let outcome = ActionOutcome(session: nil, number: nil, result: .failure(.notSent(because: cause)))
        return PendingReceipt(source: .refused(outcome))
    }

    /// The action's ticket; `nil` if the action was not accepted.
    package var ticket: Ticket? { if case .page(_, let ticket) = source { ticket } else { nil } }

    /// The outcome, if it is known already.
    package var known: ActionOutcome? {
        switch source {
        case .page(let page, let ticket): page.known(ticket)
        case .refused(let outcome): outcome
        }
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
        switch source {
        case .page(let page, let ticket): try await page.outcome(of: ticket)
        case .refused(let outcome): outcome
        }
    }
}
