internal import StateCoding

/// An action that an earlier process took, and whose outcome it did not learn or did not pass on.
public struct ResumedAction: Sendable {
    /// The action's name; `nil` for a piece of input that was no action.
    public let name: String?
    /// Where it stands in the input, if that was said.
    public let position: UInt64?
    /// Its outcome, now or later.
    public let receipt: PendingReceipt

    /// What was wrong with a piece of input that was no action.
    package let fault: String?

    init(_ saved: SavedAction) {
        if saved.bytes.isEmpty, case .rejected(let rejection) = saved.outcome?.settlement {
            fault = rejection.message
        } else {
            fault = nil
        }
        var reader = CBORReader(saved.bytes)
        name = (try? reader.arrayCount()).flatMap { _ in try? reader.text() }
        position = saved.position
        receipt = PendingReceipt(ticket: saved.ticket)
        if let outcome = saved.outcome { receipt.resolve(ActionOutcome(outcome.sent, outcome.settlement)) }
    }
}

extension ActionOutcome {
    init(_ sent: SentAction?, _ settlement: Settlement) {
        let result: Result<Receipt, Rejection>
        switch (settlement, sent) {
        case (.applied(let position), let sent?):
            result = .success(Receipt(session: sent.session, number: sent.number, position: position))
        case (.rejected(let rejection), _): result = .failure(rejection)
        case (.applied, nil): preconditionFailure("an action without a number was applied: \(settlement)")
        }
        self.init(session: sent?.session, number: sent?.number, result: result)
    }
}

/// What an earlier process left in a session file, taken over by a sender.
struct ResumedSession {
    let file: SessionFile
    let saved: SavedSession
    let actions: [ResumedAction]

    init(_ file: SessionFile, of store: StoreName) throws(StatecastError) {
        self.file = file
        saved = try file.claim(for: store)
        actions = saved.actions.map(ResumedAction.init)
    }

    /// The receipts that are still missing.
    var pending: [Ticket: PendingReceipt] {
        let pairs = zip(saved.actions, actions).filter { $0.0.outcome == nil }.map { ($0.ticket, $1.receipt) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
