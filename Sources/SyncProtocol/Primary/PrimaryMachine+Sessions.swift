package import StateCore

extension PrimaryMachine {
    /// Checks a frame that the ``Gate`` let through against its session, and lets through what is new.
    ///
    /// A number seen before is answered with its recorded outcome (with nothing while that is not durable yet), a
    /// number ahead with the one that is expected, each once a turn.
    package mutating func admit(_ frame: ActionsFrame) -> (admitted: AdmittedActions?, directives: [PrimaryDirective]) {
        guard frame.lineage == lineage else {
            return (nil, [.count(.otherLineage)] + once(frame.session) { $0.watermark(of: frame.session) })
        }
        var directives: [PrimaryDirective] = []
        if sessions[frame.session] == nil {
            directives = open(frame)
        }
        guard let session = sessions[frame.session] else { return (nil, directives) }
        guard frame.first <= session.expected else {
            let expected = Expected(lineage: lineage, number: session.expected)
            directives.append(.count(.outOfOrder))
            directives += once(frame.session) { _ in [.publish(.receipts(frame.session), .expected(expected))] }
            return (nil, directives)
        }
        let known = min(frame.actions.count, session.expected.distance(beyond: frame.first))
        if known > 0 {
            let last = frame.first.advanced(by: known - 1)
            directives.append(.count(.duplicates(known)))
            directives += receipts(of: frame.session, from: frame.first, through: last)
        }
        let room = limits.windowActionsMax - session.taken.distance(beyond: session.durable)
        let fresh = frame.actions[known...].prefix(max(0, room))
        guard !fresh.isEmpty else { return (nil, directives) }
        return (AdmittedActions(session: frame.session, first: session.expected, actions: fresh), directives)
    }

    /// Whether an action may be decoded at all.
    package func rejection(ofBytes count: Int) -> Rejection? {
        count > limits.actionBytesMax ? .tooLarge(count, bytesMax: limits.actionBytesMax) : nil
    }

    /// The number that the next action of the primary's own session gets.
    package var ownNumber: ActionNumber { sessions.own.expected }

    /// How many more actions its own session may have without a durable outcome. Where there is no room they wait.
    package var ownRoom: Int {
        max(0, limits.windowActionsMax - sessions.own.taken.distance(beyond: sessions.own.durable))
    }

    /// What the primary has of a session, and how to send to it.
    func watermark(of id: SessionID) -> [PrimaryDirective] {
        guard id != .primary else {
            return [.count(.refused(.malformed)), .publish(.receipts(id), .refusal(Refusal(.ownSession)))]
        }
        let session = sessions[id]
        let watermark = Watermark(
            lineage: lineage,
            epoch: epoch,
            number: session?.durable,
            opened: session?.opened ?? opening,
            windowActionsMax: limits.windowActionsMax,
            actionBytesMax: limits.actionBytesMax,
            frameBytesMax: limits.frameBytesMax,
            endpoint: actionsEndpoint
        )
        let answer = PrimaryDirective.publish(.receipts(id), .watermark(watermark))
        guard let session else { return [answer] }
        return [answer] + receipts(of: id, from: session.log.start, through: session.durable)
    }

    /// Where a session is opened now: behind the last durable record, since another incarnation may be asked about it; beyond
    /// that where sessions were forgotten that never wrote one.
    private var opening: JournalSequence { max(durable, sessions.horizon) }

    /// Makes a session known, if it can be told from one that was forgotten.
    private mutating func open(_ frame: ActionsFrame) -> [PrimaryDirective] {
        guard frame.opened >= sessions.horizon, frame.opened <= opening else {
            return refuse(frame.identity, of: frame.session, .forgottenSession)
        }
        let session = SessionTable.Session(opened: frame.opened, base: frame.base)
        guard sessions.open(frame.session, session, countMax: limits.sessionsMax) else {
            let reason = Rejection.tooManySessions(limits.sessionsMax)
            return refuse(frame.identity, of: frame.session, reason, retryAfter: limits.retryDelayMin)
        }
        return [.count(.sessionOpened)]
    }

    /// Tells a session that the actions of a frame are not taken, at most once a turn for each opening that frames state:
    /// the refusal of a late duplicate does not replace that of the sender's own frame.
    package mutating func refuse(
        _ frame: Refusal.PushedFrame,
        of id: SessionID,
        _ reason: Rejection,
        retryAfter: Duration? = nil
    ) -> [PrimaryDirective] {
        let refusal = Refusal(reason, retryAfter: retryAfter, frame: frame)
        return [.count(.refused(reason.code))]
            + once(id, opened: frame.opened) { _ in [.publish(.receipts(id), .refusal(refusal))] }
    }

    /// Answers a session at most once a turn.
    private mutating func once(
        _ id: SessionID,
        opened: JournalSequence? = nil,
        _ answer: (borrowing Self) -> [PrimaryDirective]
    ) -> [PrimaryDirective] {
        answered.insert(AnsweredSession(id: id, opened: opened)).inserted ? answer(self) : []
    }
}

/// A session that was answered in a turn.
struct AnsweredSession: Hashable, Sendable {
    let id: SessionID
    /// The opening that a refused frame stated; `nil` for the other answers.
    let opened: JournalSequence?
}

extension Rejection {
    fileprivate static let ownSession = Rejection(
        .malformed,
        "the session \(SessionID.primary) is the primary's own; draw a random one"
    )
    fileprivate static let forgottenSession = Rejection(
        .unknownSession,
        "the primary no longer knows this session and cannot tell what it applied; begin a new one"
    )
    fileprivate static func tooManySessions(_ countMax: Int) -> Rejection {
        Rejection(.overloaded, "all \(countMax) sessions of this store have actions under way; try again")
    }
}
