package import StatecastCore

extension SenderMachine {
    /// Handles a message on the topic of the session's receipts or of the schema.
    package mutating func received(
        _ frame: Frame,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        if case .watermark(let watermark) = frame, isOfEndedIncarnation(watermark) { return [] }
        heard()
        if topic == .schema { return receivedSchema(frame) }
        guard topic == self.topic else { return [] }
        switch frame {
        case .watermark(let watermark): return received(watermark, at: now, using: &generator)
        case .receipts(let receipts): return received(receipts, at: now, using: &generator)
        case .expected(let expected): return received(expected, at: now, using: &generator)
        case .refusal(let refusal): return received(refusal, at: now, using: &generator)
        default: return []
        }
    }

    /// A node that led before, and does not know yet that another one leads, takes actions and never confirms them.
    private func isOfEndedIncarnation(_ watermark: Watermark) -> Bool {
        registration?.watermark.map { $0.lineage == watermark.lineage && watermark.epoch < $0.epoch } ?? false
    }

    private mutating func received(
        _ watermark: Watermark,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        if let number = watermark.number, number >= outbox.next, !isContinued {
            return diverged(number, at: now, using: &generator)
        }
        if isContinued {
            if let registration, registration.saved.lineage != watermark.lineage {
                return abandonSession(.otherLineage, using: &generator)
            }
            // An earlier process opened it.
            if registration == nil, watermark.number != nil { register(watermark, from: ActionNumber(1)) }
        }
        if watermark.number != nil, registration?.saved.lineage != watermark.lineage {
            // The primary has the session from before this sender left that history, or from another process. New
            // actions under the same numbers would be mistaken for old ones, or wait for abandoned numbers.
            return abandonSession(.otherLineage, using: &generator) + askAgain(at: now, using: &generator)
        }
        if let registration, registration.saved.hasLost(watermark, before: outbox.first) {
            return resendOutstanding(at: now, using: &generator)
        }
        var directives: [SenderDirective] = []
        var connecting: [SenderDirective] = []
        // Receipts may have been lost, but if the number is the same again, what was pushed does not arrive.
        let isAnswer = if case .asking = phase { true } else { false }
        let isStalled = outbox.hasOutstanding && (watermark.number.map { $0 < outbox.first } ?? true)
        if isAnswer { stalledCount = isStalled ? stalledCount + 1 : 0 }
        if uplink == nil || registration?.watermark?.endpoint != watermark.endpoint
            || stalledCount >= limits.maxUnansweredRequests
        {
            if uplink != nil, stalledCount >= limits.maxUnansweredRequests {
                connecting = [.count(.actionsReconnecting)]
            }
            (uplink, stalledCount) = (nil, 0)
            connecting.append(.connect(watermark.endpoint))
        }
        if let registration, registration.saved.lineage == watermark.lineage,
            watermark.number != nil || outbox.hasOutstanding || isContinued
        {
            guard watermark.maxWindowActions > 0, outbox.fits(maxBytes: roomForActions(in: watermark)) else {
                return abandonSession(.limitsLowered, using: &generator) + askAgain(at: now, using: &generator)
            }
            let isLater = registration.watermark.map { $0.epoch < watermark.epoch } ?? true
            self.registration?.watermark = watermark
            self.registration?.isKnown = watermark.number != nil
            // Otherwise another subscriber requested it, and frames may be in flight to the same incarnation.
            guard isAnswer || isLater else { return rejectOversize() + dropChunks() + connecting }
            // What an earlier process sent is pushed again: its receipts are the answer to that.
            outbox.rewind(to: isContinued ? outbox.first : watermark.number?.next ?? outbox.first)
        } else {
            directives = begin(watermark)
        }
        directives += rejectOversize() + dropChunks()
        startSlowly()
        hasNewReceipts = true
        awaitReceipts(at: now, using: &generator)
        return directives + (connecting.isEmpty ? opened() : connecting)
    }

    /// The shell has connected to the endpoint of the watermark, or refuses to. A watermark that names another endpoint
    /// ends a refusal.
    package mutating func connected(
        _ endpoint: Result<String, Rejection>,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        switch endpoint {
        case .success(let endpoint):
            uplink = Uplink(endpoint: endpoint)
            return opened()
        case .failure(let reason):
            return refuse(reason, until: now.advanced(by: backoff.next(using: &generator)), using: &generator)
        }
    }

    private mutating func opened() -> [SenderDirective] {
        // A connection that accepts a frame, or is writable, ends `unreachable`.
        guard case .open = phase, !isStillRefused, !isUnreachable else { return [] }
        return changed(to: .open)
    }

    private var isUnreachable: Bool { if case .unreachable = status { uplink != nil } else { false } }

    /// Whether the primary refused actions when it was last asked, and may refuse the remaining ones again.
    private var isStillRefused: Bool { if case .waiting = status { pendingCount > 0 } else { false } }

    /// The primary lost acknowledged outcomes. It expects a number that was already acknowledged, so it has no later
    /// action either. Sends the outstanding actions again in another session.
    private mutating func resendOutstanding(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard !isContinued else { return [.count(.outcomesLost)] + abandonSession(.outcomesLost, using: &generator) }
        outbox.requeueSent()
        beginSession(using: &generator)
        return [.count(.outcomesLost)] + askAgain(at: now, using: &generator)
    }

    /// Begins a session that is unknown to this primary. In another history the outcomes of sent actions are unknown;
    /// in the same one nothing is outstanding.
    private mutating func begin(_ watermark: Watermark) -> [SenderDirective] {
        let isOther = registration.map { $0.saved.lineage != watermark.lineage } ?? false
        let directives = isOther ? [.count(.lineageChanged)] + decide(abandonSent(Rejection.otherLineage.message)) : []
        register(watermark, from: outbox.next)
        return directives
    }

    private mutating func register(_ watermark: Watermark, from base: ActionNumber) {
        let saved = SessionCheckpoint.Registration(lineage: watermark.lineage, opened: watermark.opened, base: base)
        registration = Registration(saved: saved, watermark: watermark)
    }

    private mutating func received(
        _ receipts: Receipts,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard let registration, receipts.lineage == registration.saved.lineage else { return [] }
        let session = session
        let outstandingBytes = outbox.outstandingBytes
        var runs: [ResolvedRun] = []
        outbox.resolve(receipts.outcomes) { actions, outcome in
            let kind: ResolvedRun.Kind
            switch outcome {
            case .applied(let revision):
                kind = .applied(Position(lineage: receipts.lineage, epoch: receipts.epoch, revision: revision))
            case .rejected(let rejection): kind = .rejected(rejection.ofReceipt)
            }
            runs.append(actions.resolved(kind, in: session))
        }
        guard !runs.isEmpty else { return [] }
        let directives = resolve(runs) + dropChunks()
        backoff.reset()
        confirmed(outstandingBytes - outbox.outstandingBytes)
        hasNewReceipts = true
        stalledCount = 0
        self.registration?.isKnown = true
        self.registration?.saved.resolvedBy = max(registration.saved.resolvedBy, receipts.epoch)
        guard case .open = phase else { return directives }
        awaitReceipts(at: now, using: &generator)
        return directives + changed(to: .open)
    }

    /// Actions were lost in transit: pushes again from the expected number, at most once per `minRetryDelay`. The
    /// primary sends `expected` once per turn, and frames of other peers can cause it. A further loss within that time
    /// shows by its missing receipt.
    private mutating func received(
        _ expected: Expected,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard case .open = phase, expected.lineage == registration?.saved.lineage,
            expected.number >= outbox.first, expected.number < outbox.cursor
        else { return [] }
        stalledCount = 0
        guard rewoundAt.map({ $0.duration(to: now) >= limits.minRetryDelay }) ?? true else { return [] }
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
        if refusal.frame != nil { stalledCount = 0 }
        let count = SenderDirective.count(.refused(refusal.reason.code))
        // The answer to a frame that was pushed before the pause.
        if let retryAfter = refusal.retryAfter, case .pausing(let until) = phase {
            phase = .pausing(until: max(until, now.advanced(by: retryAfter)))
            return [count]
        }
        let delay = backoff.next(using: &generator)
        if let retryAfter = refusal.retryAfter {
            phase = .pausing(until: now.advanced(by: retryAfter + delay))
            return [count] + changed(to: .waiting(refusal.reason))
        }
        if refusal.reason.code == .unknownSession {
            var directives: [SenderDirective] = []
            if registration?.framesOutstanding == 1, refusal.frame?.first == outbox.first, !isContinued {
                // All outstanding actions were in one frame, and this is its answer: none was applied.
                outbox.requeueSent()
                beginSession(using: &generator)
            } else {
                directives = abandonSession(.sessionForgotten, using: &generator)
            }
            return [count] + directives + askAgain(at: now, using: &generator)
        }
        return [count] + refuse(refusal.reason.ofRefusal, until: now.advanced(by: delay), using: &generator)
    }

    /// Whether a refusal answers a subscription or an outstanding frame of this sender. Others answer late duplicates,
    /// or frames that another peer pushed in this session.
    private func concerns(_ frame: Refusal.PushedFrame?) -> Bool {
        guard let frame else { return true }
        return frame.opened == registration?.saved.opened && outbox.awaitsReceipt(of: frame.first)
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

    /// Enters the refused phase: unsent actions fail with the reason unless they are saved; the outcome of sent ones
    /// is unknown.
    private mutating func refuse(
        _ reason: Rejection,
        until: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        let unsent = saver == nil ? decide(rejectQueued(reason)) : []
        let directives = abandonSession(reason, using: &generator)
        phase = .refused(reason, until: until)
        return directives + unsent + changed(to: .refused(reason))
    }

    private mutating func beginSession(using generator: inout some RandomNumberGenerator) {
        secret = SessionSecret(using: &generator)
        registration = nil
    }

    /// Abandons the session's outstanding numbers. The primary may still expect them, so later actions need a new
    /// session, which the client of a continued one has to begin.
    private mutating func abandonSession(
        _ cause: Rejection,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard !isContinued else { return stop(because: cause.message) }
        let directives = decide(abandonSent(cause.message))
        beginSession(using: &generator)
        return directives
    }

    /// Abandons all sent actions: their outcome is unknown.
    mutating func abandonSent(_ cause: String) -> [ResolvedRun] {
        outbox.abandonSent().map { $0.resolved(.unknown(because: cause), in: session) }
    }
}

extension Outbox.Unresolved {
    fileprivate func resolved(_ kind: ResolvedRun.Kind, in session: SessionID) -> ResolvedRun {
        ResolvedRun(ticket, count: count, sent: SentAction(session: session, number: number), kind)
    }
}

extension SessionCheckpoint.Registration {
    /// Whether a new incarnation restarted without outcomes that the previous one acknowledged, as is possible after a
    /// crash if the primary does not wait for the disk.
    fileprivate func hasLost(_ watermark: Watermark, before first: ActionNumber) -> Bool {
        guard let number = watermark.number, watermark.lineage == lineage else { return false }
        return watermark.epoch > resolvedBy && number.next < first
    }
}

extension Rejection {
    fileprivate static let otherLineage = Rejection(
        .outcomeUnknown,
        "the primary began a new history and has no outcomes of the previous one"
    )
    fileprivate static let outcomesLost = Rejection(
        .outcomeUnknown,
        "the primary lacks earlier actions of the session: it lost them, or they were never sent"
    )
    fileprivate static let limitsLowered = Rejection(
        .tooLarge,
        "the primary's limits are now too low for the sent actions"
    )
    fileprivate static let sessionForgotten = Rejection(.unknownSession, "the primary no longer knows the session")
}
