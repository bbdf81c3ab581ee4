/// An action as it is kept until nobody needs its outcome any more.
package struct SavedAction: Hashable, Sendable {
    package let ticket: Ticket
    /// Where it stands in its sender's input; `nil` if that was not said.
    package let position: UInt64?
    /// Encoded; empty for a piece of input that was no action.
    package let bytes: [UInt8]
    package internal(set) var outcome: SavedOutcome?

    package init(ticket: Ticket, position: UInt64?, bytes: [UInt8], outcome: SavedOutcome? = nil) {
        self.ticket = ticket
        self.position = position
        self.bytes = bytes
        self.outcome = outcome
    }
}

/// What became of an action, and what it was called on the wire; `nil` if it never left.
package struct SavedOutcome: Hashable, Sendable {
    package let sent: SentAction?
    package let settlement: Settlement

    package init(sent: SentAction?, settlement: Settlement) {
        self.sent = sent
        self.settlement = settlement
    }
}

/// What happened to a session since it was saved last. All of it is saved, or nothing.
package struct SessionChange: Hashable, Sendable {
    /// That an action is over.
    package struct Settled: Hashable, Sendable {
        package let ticket: Ticket
        package let outcome: SavedOutcome
    }

    package var standing: SessionStanding?
    package private(set) var taken: [SavedAction] = []
    package private(set) var settled: [Settled] = []
    /// Up to here the outcomes were told to whoever needs them.
    package private(set) var told: Ticket?
    package private(set) var mark: InputMark?
    package private(set) var isInputEnded: Bool?

    package init() {}

    init(
        standing: SessionStanding?,
        taken: [SavedAction],
        settled: [Settled],
        told: Ticket?,
        mark: InputMark?,
        isInputEnded: Bool?
    ) {
        self.standing = standing
        self.taken = taken
        self.settled = settled
        self.told = told
        self.mark = mark
        self.isInputEnded = isInputEnded
    }

    package var isEmpty: Bool { self == SessionChange() }

    package mutating func take(_ action: SavedAction, mark: InputMark?) {
        taken.append(action)
        self.mark = mark ?? self.mark
        isInputEnded = false
    }

    package mutating func settle(_ ticket: Ticket, _ outcome: SavedOutcome) {
        settled.append(Settled(ticket: ticket, outcome: outcome))
    }

    package mutating func tell(through ticket: Ticket) { told = max(told ?? ticket, ticket) }

    package mutating func endInput(at mark: InputMark) { (self.mark, isInputEnded) = (mark, true) }

    /// Adds what happened later.
    package mutating func merge(_ later: SessionChange) {
        standing = later.standing ?? standing
        taken += later.taken
        settled += later.settled
        if let told = later.told { tell(through: told) }
        mark = later.mark ?? mark
        isInputEnded = later.isInputEnded ?? isInputEnded
    }
}
