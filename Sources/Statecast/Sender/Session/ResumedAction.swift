internal import SyncProtocol

/// An action that an earlier process submitted, and whose outcome that process did not acknowledge.
public struct ResumedAction: Sendable {
    /// The action's name; `nil` for input that could not be read as an action.
    public let name: String?
    /// The action's position in the input, if it was given.
    public let position: UInt64?
    /// The action's outcome, now or later.
    public let receipt: PendingReceipt

    /// The fault of input that could not be read as an action.
    package let fault: String?

    init(_ saved: SavedAction) {
        if saved.bytes.isEmpty, case .rejected(let rejection) = saved.outcome?.resolution {
            fault = rejection.message
        } else {
            fault = nil
        }
        name = ActionCoding.name(in: saved.bytes)
        position = saved.position
        receipt = PendingReceipt(ticket: saved.ticket)
        if let outcome = saved.outcome { receipt.resolve(ActionOutcome(outcome.sent, outcome.resolution)) }
    }
}

extension ActionOutcome {
    init(_ sent: SentAction?, _ resolution: Resolution) {
        let result: Result<Receipt, Rejection>
        switch (resolution, sent) {
        case (.applied(let position), let sent?):
            result = .success(Receipt(session: sent.session, number: sent.number, position: position))
        case (.rejected(let rejection), _): result = .failure(rejection)
        case (.applied, nil): preconditionFailure("an action without a number was applied: \(resolution)")
        }
        self.init(session: sent?.session, number: sent?.number, result: result)
    }
}

/// The content of a session file that a sender has claimed.
struct ResumedSession {
    let file: SessionFile
    let saved: SavedSession
    let actions: [ResumedAction]

    init(_ file: SessionFile, of store: StoreName) throws(StatecastError) {
        self.file = file
        saved = try file.claim(for: store)
        actions = saved.actions.map(ResumedAction.init)
    }

    /// The receipts without an outcome.
    var pending: [Ticket: PendingReceipt] {
        let pairs = zip(saved.actions, actions).filter { $0.0.outcome == nil }.map { ($0.ticket, $1.receipt) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
