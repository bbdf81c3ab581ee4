import DequeModule
package import StateCoding

/// A session as it outlives the process of its sender: the actions whose outcome is still needed, what they are called on
/// the wire, and how far the input was taken.
package struct SavedSession: Hashable, Sendable {
    package let store: StoreName
    package private(set) var standing: SessionStanding
    /// How far the input was taken.
    package private(set) var mark = InputMark.start
    /// Whether the input ended there.
    package private(set) var isInputEnded = false
    private var kept: Deque<SavedAction> = []
    /// The last ticket given.
    package private(set) var last = Ticket(rawValue: 0)

    /// One that knows nothing yet.
    package init(store: StoreName, session: SessionID) {
        self.store = store
        standing = SessionStanding(fresh: session)
    }

    init(
        store: StoreName,
        standing: SessionStanding,
        mark: InputMark,
        isInputEnded: Bool,
        actions: [SavedAction],
        last: Ticket
    ) {
        self.store = store
        self.standing = standing
        self.mark = mark
        self.isInputEnded = isInputEnded
        kept = Deque(actions)
        self.last = last
    }

    /// The oldest first, their tickets without gaps up to the last one given.
    package var actions: [SavedAction] { Array(kept) }

    /// Actions without an outcome.
    package var outstandingCount: Int { kept.count { $0.outcome == nil } }

    /// Whether anything is left to do: actions whose outcome nobody was told, or input that did not end.
    package var isUnfinished: Bool { !kept.isEmpty || mark != .start && !isInputEnded }

    /// Takes in what happened.
    ///
    /// - Throws: ``CodingFailure`` if that cannot have happened to this session.
    package mutating func apply(_ change: SessionChange) throws(CodingFailure) {
        standing = change.standing ?? standing
        for action in change.taken {
            guard action.ticket == last.next else {
                throw CodingFailure(
                    .malformed,
                    "action \(last.next.rawValue) should come, \(action.ticket.rawValue) came"
                )
            }
            kept.append(action)
            last = action.ticket
        }
        for settled in change.settled {
            guard let index = index(of: settled.ticket), kept[index].outcome == nil else {
                throw CodingFailure(.malformed, "action \(settled.ticket.rawValue) awaits no outcome, one came")
            }
            kept[index].outcome = settled.outcome
        }
        if let told = change.told {
            while let first = kept.first, first.ticket <= told {
                guard first.outcome != nil else {
                    throw CodingFailure(.malformed, "action \(first.ticket.rawValue) has no outcome that could be told")
                }
                kept.removeFirst()
            }
        }
        mark = change.mark ?? mark
        isInputEnded = change.isInputEnded ?? isInputEnded
    }

    /// Another input begins.
    package mutating func beginInput() { (mark, isInputEnded) = (.start, false) }

    /// Forgets the outcomes of the oldest actions, as far as they have one.
    package mutating func forgetSettled() {
        while kept.first?.outcome != nil { kept.removeFirst() }
    }

    private func index(of ticket: Ticket) -> Int? {
        guard let first = kept.first?.ticket, ticket >= first, ticket <= last else { return nil }
        return kept.startIndex + Int(ticket.rawValue - first.rawValue)
    }
}

extension Ticket {
    package var next: Ticket { Ticket(rawValue: rawValue + 1) }
}
