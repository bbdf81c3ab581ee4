/// One action of the open batch, as it came, in case the batch has to be reduced again.
internal import SyncProtocol

struct BatchedAction {
    let session: SessionID
    let number: ActionNumber
    let context: ActionContext
    /// Before the middlewares, or why it could not be read.
    let arrived: Result<any Action, Rejection>
    /// As it came, encoded; empty for one of the primary's own process where nothing is journaled.
    let bytes: [UInt8]
    /// The action as the primary's own process handed it in; nil for a sender's.
    let local: LocalAction?

    /// As the journal keeps it if it is rejected: what nobody can read is not kept.
    var readableBytes: [UInt8] {
        if case .success = arrived { bytes } else { [] }
    }
}

/// What the reducer made of an action.
struct Reduced {
    let effect: Effect
    /// The action as it reached the reducer, encoded.
    let bytes: [UInt8]
}

/// What became of an action.
struct SettledAction {
    let session: SessionID
    let number: ActionNumber
    let context: ActionContext
    /// See ``BatchRecord/Entry``.
    let bytes: [UInt8]
    let outcome: Outcome
}

/// What is to be done about an action once it is durable. Most actions of senders have nothing of the kind.
struct FollowUp {
    let session: SessionID
    let number: ActionNumber
    let outcome: Outcome
    let effect: Effect
    let local: LocalAction?
}

/// How many actions came to which end.
struct Tally {
    private(set) var applied = 0
    private(set) var rejected: [Rejection.Code: Int] = [:]

    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .applied: applied += 1
        case .rejected(let rejection): rejected[rejection.code, default: 0] += 1
        }
    }
}

/// A batch whose record was handed out: what is to be done once that is durable.
struct ClosedBatch<State: Sendable> {
    /// The state behind it.
    let state: State
    /// What became of its actions.
    let tally: Tally
    /// In the order of the actions.
    let followUps: [FollowUp]
    /// What its effects cancel, once they start.
    let cancelled: Set<AnyID>
    /// Who asked to observe while it was open: they are shown what they dispatched before.
    var joining: [(observer: Listener<Change<State>>, replay: Bool)]
}
