package import StateCore

extension SenderMachine {
    /// Takes in a message on the topic of the session's receipts.
    package mutating func received(
        _ frame: Frame,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard topic == self.topic else { return [] }
        switch frame {
        case .watermark(let watermark): return received(watermark, at: now, using: &generator)
        case .receipts(let receipts): return received(receipts, at: now, using: &generator)
        case .expected(let expected): return received(expected, at: now, using: &generator)
        case .refusal(let refusal): return received(refusal, at: now, using: &generator)
        default: return []
        }
    }

    private mutating func received(
        _ watermark: Watermark,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        if let number = watermark.number, number >= outbox.next {
            return diverged(number, at: now, using: &generator)
        }
        if watermark.number != nil, link?.lineage != watermark.lineage {
            // It has the session from before this sender left that history, or from another process: under the same
            // numbers new actions would be taken for old ones, or wait for numbers that were given up.
            return giveUpSession(.otherLineage, using: &generator) + askAgain(at: now, using: &generator)
        }
        if let link, link.hasLost(watermark, before: outbox.first) {
            return sendLost(at: now, using: &generator)
        }
        var directives: [SenderDirective] = []
        if link?.watermark?.endpoint != watermark.endpoint { directives.append(.connect(watermark.endpoint)) }
        if let link, link.lineage == watermark.lineage, watermark.number != nil || !outbox.numbered.isEmpty {
            guard watermark.windowActionsMax > 0, outbox.fits(bytesMax: roomForActions(in: watermark)) else {
                return giveUpSession(.limitsLowered, using: &generator) + askAgain(at: now, using: &generator)
            }
            let isAnswer = if case .asking = phase { true } else { false }
            let isLater = link.watermark.map { $0.epoch < watermark.epoch } ?? true
            self.link?.watermark = watermark
            // Otherwise another subscriber asked, and frames may be on their way to the same incarnation.
            guard isAnswer || isLater else { return directives }
            outbox.rewind(to: watermark.number?.next ?? outbox.first)
        } else {
            directives += begin(watermark)
        }
        let bytesMax = actionBytesMax
        let oversize = outbox.removeQueued { $0.bytes.count > bytesMax }
        directives += oversize.map { .settle($0.ticket, nil, .rejected(.tooLarge($0.bytes.count, bytesMax: bytesMax))) }
        awaitReceipts(at: now, using: &generator)
        return isHeldUp ? directives : directives + changed(to: .open)
    }

    /// Whether the primary took nothing when it was asked last: what is left it may refuse again.
    private var isHeldUp: Bool { if case .waiting = status { pendingCount > 0 } else { false } }

    /// The primary expects a number that is settled here: it has none of those that are not. They leave again, under the
    /// numbers of another session.
    private mutating func sendLost(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        outbox.requeueNumbered()
        session = SessionID(using: &generator)
        link = nil
        return [.count(.outcomesLost)] + askAgain(at: now, using: &generator)
    }

    /// A session that this primary does not have. In another history nobody can tell any more what became of what was
    /// sent; in the same one nothing is outstanding.
    private mutating func begin(_ watermark: Watermark) -> [SenderDirective] {
        let isOther = link.map { $0.lineage != watermark.lineage } ?? false
        let directives = isOther ? [.count(.lineageChanged)] + giveUpNumbered(.otherLineage) : []
        link = Link(
            lineage: watermark.lineage,
            opened: watermark.opened,
            base: outbox.next,
            watermark: watermark
        )
        return directives
    }

    private mutating func received(
        _ receipts: Receipts,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard let link, receipts.lineage == link.lineage else { return [] }
        var directives: [SenderDirective] = []
        var number = receipts.first
        for outcome in receipts.outcomes {
            defer { number = number.next }
            guard let ticket = outbox.settle(number) else { continue }
            switch outcome {
            case .applied(let revision):
                let position = Position(lineage: receipts.lineage, epoch: receipts.epoch, revision: revision)
                directives.append(.settle(ticket, sent(number), .applied(position)))
            case .rejected(let rejection): directives.append(.settle(ticket, sent(number), .rejected(rejection)))
            }
        }
        guard !directives.isEmpty else { return [] }
        backoff.reset()
        self.link?.settledBy = max(link.settledBy, receipts.epoch)
        guard case .open = phase else { return directives }
        awaitReceipts(at: now, using: &generator)
        return directives + changed(to: .open)
    }

    /// Something was lost on the way: push again from there, at most once in `retryDelayMin`. The primary sends it once a
    /// turn, and frames of other peers can cause it. A number that is lost again before that is found by its missing
    /// receipt.
    private mutating func received(
        _ expected: Expected,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard case .open = phase, let link, expected.lineage == link.lineage else { return [] }
        guard expected.number >= outbox.first, expected.number < outbox.cursor,
            rewoundAt.map({ $0.duration(to: now) >= limits.retryDelayMin }) ?? true
        else { return [] }
        rewoundAt = now
        outbox.rewind(to: expected.number)
        return [.count(.rewound)]
    }

    private mutating func received(
        _ refusal: Refusal,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard concerns(refusal.frame) else { return [] }
        let count = SenderDirective.count(.refused(refusal.reason.code))
        let delay = backoff.next(using: &generator)
        if let retryAfter = refusal.retryAfter {
            phase = .pausing(until: now.advanced(by: retryAfter + delay))
            return [count] + changed(to: .waiting(refusal.reason))
        }
        if refusal.reason.code == .unknownSession {
            var directives: [SenderDirective] = []
            if link?.framesOutstanding == 1, refusal.frame?.first == outbox.first {
                // All that is outstanding left in one frame, and this is its answer: none of it was applied.
                outbox.requeueNumbered()
                session = SessionID(using: &generator)
                link = nil
            } else {
                directives = giveUpSession(.sessionForgotten, using: &generator)
            }
            return [count] + directives + askAgain(at: now, using: &generator)
        }
        return [count] + refuse(refusal.reason, until: now.advanced(by: delay), using: &generator)
    }

    /// Whether a refusal answers a subscription, or a frame that this sender has outstanding. Others answer late duplicates
    /// of what is settled, or frames that a stranger pushed in this session.
    private func concerns(_ frame: Refusal.PushedFrame?) -> Bool {
        guard let frame else { return true }
        return frame.opened == link?.opened && outbox.awaitsReceipt(of: frame.first)
    }

    private mutating func diverged(
        _ number: ActionNumber,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        let reason = Rejection(
            .sessionDiverged,
            "the primary has number \(number) of session \(session), this sender sent none above "
                + "\(outbox.next.previous): another process uses the session; begin a new one"
        )
        return refuse(reason, until: now.advanced(by: backoff.next(using: &generator)), using: &generator)
    }

    /// The shell does not connect to the endpoint of the watermark. Leaves with a watermark that names another one.
    package mutating func refused(
        endpoint reason: Rejection,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        refuse(reason, until: now.advanced(by: backoff.next(using: &generator)), using: &generator)
    }

    /// Nothing can be sent: what never left fails with the reason unless it can wait, what left is unknown.
    private mutating func refuse(
        _ reason: Rejection,
        until: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        let failing = isSaved ? [] : outbox.removeQueued { _ in true }
        let unsent = failing.map { SenderDirective.settle($0.ticket, nil, .rejected(reason)) }
        let directives = giveUpSession(reason, using: &generator)
        phase = .refused(reason, until: until)
        return directives + unsent + changed(to: .refused(reason))
    }

    /// Numbers that are given up may never have arrived, and then the primary goes on to expect them: what comes next
    /// needs a new session.
    private mutating func giveUpSession(
        _ cause: Rejection,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        let directives = giveUpNumbered(cause)
        session = SessionID(using: &generator)
        link = nil
        return directives
    }

    private func sent(_ number: ActionNumber) -> SentAction { SentAction(session: session, number: number) }

    private mutating func giveUpNumbered(_ cause: Rejection) -> [SenderDirective] {
        outbox.abandonNumbered().map { action in
            let reason = Rejection(
                .outcomeUnknown,
                "action \(action.number) of session \(session) may or may not have been applied: \(cause.message)"
            )
            return .settle(action.ticket, sent(action.number), .rejected(reason))
        }
    }
}

extension SenderMachine.Link {
    /// Whether an incarnation of the primary came back without outcomes that the one before it made known, as it may after
    /// a crash when it does not wait for the disk.
    fileprivate func hasLost(_ watermark: Watermark, before first: ActionNumber) -> Bool {
        guard let number = watermark.number, watermark.lineage == lineage else { return false }
        return watermark.epoch > settledBy && number.next < first
    }
}

extension Rejection {
    static func tooLarge(_ bytes: Int, bytesMax: Int) -> Rejection {
        Rejection(.tooLarge, "an action has at most \(bytesMax) bytes, this one has \(bytes)")
    }

    fileprivate static let otherLineage = Rejection(
        .outcomeUnknown,
        "the primary began a new history and does not know what it did before"
    )
    fileprivate static let limitsLowered = Rejection(
        .tooLarge,
        "the primary's limits are now below what was sent"
    )
    fileprivate static let sessionForgotten = Rejection(
        .unknownSession,
        "the primary has forgotten the session"
    )
}
