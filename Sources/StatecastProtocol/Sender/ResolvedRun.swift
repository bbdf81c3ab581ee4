package import StatecastCore

/// The equal outcomes of actions with consecutive tickets.
package struct ResolvedRun: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The first action is applied at this position, each other one at the next revision.
        case applied(Position)
        case rejected(Rejection)
        /// The actions were sent, and for this reason it is unknown which of them are applied.
        case unknown(because: String)
    }

    package let first: Ticket
    /// The number of actions, at least 1.
    package let count: Int
    /// The identity of the first action, which those of the others follow; `nil` if they were never sent.
    package let sent: SentAction?
    package let kind: Kind

    package init(_ first: Ticket, count: Int = 1, sent: SentAction?, _ kind: Kind) {
        precondition(count >= 1, "a run has at least one action, got \(count)")
        self.first = first
        self.count = count
        self.sent = sent
        self.kind = kind
    }

    /// The outcome of one action.
    package init(_ ticket: Ticket, _ outcome: ResolvedAction) {
        switch outcome.result {
        case .success(let position): self.init(ticket, sent: outcome.sent, .applied(position))
        case .failure(let rejection): self.init(ticket, sent: outcome.sent, .rejected(rejection))
        }
    }

    /// The ticket after the last one.
    package var end: Ticket { first.advanced(by: count) }

    /// The part within a range of tickets, which it must overlap.
    package func clamped(to tickets: Range<Ticket>) -> ResolvedRun {
        let (lower, upper) = (max(first, tickets.lowerBound), min(end, tickets.upperBound))
        let skipped = lower.distance(beyond: first)
        let kind: Kind
        switch self.kind {
        case .applied(let position): kind = .applied(position.moved(to: position.revision.advanced(by: skipped)))
        case .rejected, .unknown: kind = self.kind
        }
        return ResolvedRun(lower, count: upper.distance(beyond: lower), sent: sent?.advanced(by: skipped), kind)
    }

    /// The identity and the outcome of one of its actions.
    package func outcome(of ticket: Ticket) -> ResolvedAction {
        let index = ticket.distance(beyond: first)
        precondition(ticket >= first && index < count, "\(ticket) is not one of the \(count) from \(first) on")
        let sent = sent?.advanced(by: index)
        switch kind {
        case .applied(let position):
            let moved = position.moved(to: position.revision.advanced(by: index))
            return ResolvedAction(sent: sent, .success(moved))
        case .rejected(let rejection): return ResolvedAction(sent: sent, .failure(rejection))
        case .unknown(let cause):
            let action = sent.map { "action \($0.number) of session \($0.session)" } ?? "the action"
            let reason = Rejection(.outcomeUnknown, "\(action) may or may not have been applied: \(cause)")
            return ResolvedAction(sent: sent, .failure(reason))
        }
    }

    /// The code of the actions' rejection; `nil` if they are applied.
    package var code: Rejection.Code? {
        switch kind {
        case .applied: nil
        case .rejected(let rejection): rejection.code
        case .unknown: .outcomeUnknown
        }
    }
}

/// The outcome of one action.
package struct ResolvedAction: Hashable, Sendable {
    /// Its identity on the wire; `nil` if it was never sent.
    package let sent: SentAction?
    package let result: Result<Position, Rejection>

    package init(sent: SentAction?, _ result: Result<Position, Rejection>) {
        self.sent = sent
        self.result = result
    }
}

extension SentAction {
    fileprivate func advanced(by count: Int) -> SentAction {
        SentAction(session: session, number: number.advanced(by: count))
    }
}
