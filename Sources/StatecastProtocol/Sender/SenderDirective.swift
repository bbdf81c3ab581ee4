public import StatecastCore

/// Instructions of a ``SenderMachine`` to its shell, to perform in order.
package enum SenderDirective: Hashable, Sendable {
    case subscribe(Topic)
    case unsubscribe(Topic)
    /// Replace the connection for requests by a new one, without the subscriptions of the old one, and close the one
    /// for actions.
    case reconnect
    /// Push to this endpoint; a wildcard host stands for the host that the sender connected to. Report with
    /// ``SenderMachine/connected(_:at:using:)``.
    case connect(String)
    /// Write a change to the session file. Report with ``SenderMachine/saved(_:failure:)``.
    ///
    /// Indirect: inline, the change would make every directive larger, and so the copies of all of them.
    indirect case save(SessionChange)
    /// Report the outcomes of actions to their submitters. The first outcome of an action counts.
    case resolve([ResolvedRun])
    /// Report the last outcomes, and log the number of actions that no caller awaits.
    case giveUp([ResolvedRun], because: String)
    /// The buffer of a chunk whose actions all have their outcome, for a further chunk.
    case reuse([UInt8])
    case status(SenderStatus)
    case count(SenderEvent)
    /// Answer all requests for the schema.
    case answerSchema(Result<StoreSchema, Rejection>)
    /// End with a failure of the session file.
    case fail(because: String)
    /// Close the sockets, and reject requests for the schema.
    case close(because: String)
}

extension Rejection {
    /// The session file keeps the action.
    static func kept(because cause: String) -> Rejection {
        Rejection(.kept, "\(cause); the session file keeps the action, which goes on when its sender does")
    }

    package static func notSent(because cause: String) -> Rejection {
        Rejection(.notSent, "\(cause) before the action was sent; it will not be applied")
    }
}

/// The local handle of an action until its outcome; ascending. Numbers are assigned only when an action is first sent,
/// so that a withdrawn action leaves no gap.
package struct Ticket: Hashable, Sendable, Comparable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Saturates instead of trapping.
    package func advanced(by count: Int) -> Ticket {
        let (sum, overflow) = rawValue.addingReportingOverflow(UInt64(max(0, count)))
        return Ticket(rawValue: overflow ? .max : sum)
    }

    package var next: Ticket { advanced(by: 1) }

    /// The distance from `other` up to this ticket; zero if this one is not greater.
    package func distance(beyond other: Ticket) -> Int {
        rawValue > other.rawValue ? Int(clamping: rawValue - other.rawValue) : 0
    }
}

/// The identity of an action on the wire, assigned when it is first sent.
package struct SentAction: Hashable, Sendable {
    package let session: SessionID
    package let number: ActionNumber
}

/// The events that a sender counts.
package enum SenderEvent: Hashable, Sendable {
    case asked
    case reconnecting
    /// The connection for actions alone is replaced: what was pushed does not arrive.
    case actionsReconnecting
    case rewound
    case framePushed(actions: Int)
    case lineageChanged
    /// The primary restarted without outcomes that it had acknowledged.
    case outcomesLost
    case refused(Rejection.Code)
}

/// The state of a sender's session with its primary.
public enum SenderStatus: Hashable, Sendable {
    /// Waiting for the watermark. Actions are queued.
    case connecting
    /// Actions are sent as they arrive.
    case open
    /// The primary answers, but refuses actions for now, for example because its disk is full. Actions are queued and
    /// resent until one has a receipt.
    case waiting(Rejection)
    /// The primary answers, but the given endpoint for actions is not reachable. Actions are queued.
    case unreachable(String)
    /// The primary refuses the session, for example because it has no store of that name; or the sender cannot start,
    /// or cannot write its session file.
    case refused(Rejection)
}
