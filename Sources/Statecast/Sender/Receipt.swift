/// The primary's word that an action was applied, and which change it is.
public struct Receipt: Hashable, Sendable {
    /// The session that sent the action.
    public let session: SessionID
    /// The action's number in it.
    public let number: ActionNumber
    /// The first state that contains the action.
    public let position: Position

    /// The change that the action is.
    public var revision: Revision { position.revision }
}

/// How an action ended.
public struct ActionOutcome: Hashable, Sendable {
    /// The session that sent the action; `nil` if it never left.
    public let session: SessionID?
    /// The action's number; `nil` if it never left.
    public let number: ActionNumber?
    /// Its receipt, or why there is none. With code `outcome-unknown` it may have been applied all the same.
    public let result: Result<Receipt, Rejection>

    /// It never left.
    static func notSent(_ reason: Rejection) -> ActionOutcome {
        ActionOutcome(session: nil, number: nil, result: .failure(reason))
    }
}
