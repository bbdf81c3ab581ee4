public import StateCore

/// What the shell around a ``SenderMachine`` has to do, in this order.
package enum SenderDirective: Hashable, Sendable {
    case subscribe(Topic)
    case unsubscribe(Topic)
    /// Push to this endpoint from now on; a wildcard host stands for the host that was reached.
    case connect(String)
    /// An action is over: tell whoever sent it.
    case settle(Ticket, SentAction?, Settlement)
    case status(SenderStatus)
    case count(SenderEvent)
}

/// The handle of an action from when it is taken until it is settled, given by whoever takes it; they rise. Numbers are
/// given only when an action first leaves, so that one that is withdrawn before leaves no hole.
package struct Ticket: Hashable, Sendable, Comparable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What an action is called on the wire, from when it left for the first time.
package struct SentAction: Hashable, Sendable {
    package let session: SessionID
    package let number: ActionNumber

    package init(session: SessionID, number: ActionNumber) {
        self.session = session
        self.number = number
    }
}

/// How an action ended for its sender.
package enum Settlement: Hashable, Sendable {
    case applied(Position)
    case rejected(Rejection)
}

/// What a sender counts.
package enum SenderEvent: Hashable, Sendable {
    case asked
    case rewound
    case framePushed(actions: Int)
    case lineageChanged
    /// The primary came back without outcomes that it had made known.
    case outcomesLost
    case refused(Rejection.Code)
}

/// How a sender stands with its primary.
public enum SenderStatus: Hashable, Sendable {
    /// Waiting for the primary to say where the session stands. Actions are kept meanwhile.
    case connecting
    /// Actions are sent as they come.
    case open
    /// The primary answers, but does not take actions for now, for example because its disk is full. Actions are kept and
    /// sent again, until one has a receipt.
    case waiting(Rejection)
    /// The primary answers, but at its endpoint for actions, which is given, there is nobody to push to. Actions are kept.
    case unreachable(String)
    /// The primary refuses the session, for example because it has no store of that name.
    case refused(Rejection)
}
