package import StateCore

/// The state machine of a sender's session. It decides what to push, when to push it again, and which outcome each
/// action has.
///
/// A send that succeeds is not an acknowledgement; only a receipt is. After any fault, the sender requests the
/// watermark (by subscribing to its receipts) and continues after it.
package struct SenderMachine: Hashable, Sendable {
    /// The phase of the session, with its exits.
    enum Phase: Hashable, Sendable {
        /// Has requested the watermark. Exits to `open` with it; requests it again at `deadline`.
        case asking(deadline: Instant)
        /// Pushes actions. Exits to `asking` when receipts are missing at the deadline (set while some are
        /// outstanding), to `pausing` when the primary is overloaded.
        case open(receiptsDeadline: Instant?)
        /// Exits to `asking` at `until`, to `open` if another incarnation sends a watermark before that.
        case pausing(until: Instant)
        /// Rejects every action with the reason. Requests the watermark from time to time; exits to `open` with it.
        case refused(Rejection, until: Instant)
    }

    /// The session in one lineage of the primary.
    struct Link: Hashable, Sendable {
        let lineage: Lineage
        let opened: JournalSequence
        let base: ActionNumber
        /// `nil` until this process receives it.
        var watermark: Watermark?
        /// The number of frames that were sent since no action was outstanding.
        var framesOutstanding = 0
        /// The last incarnation that sent a receipt.
        var resolvedBy = Epoch(0)
    }

    /// Changes only when the numbers of the previous session are abandoned.
    package internal(set) var session: SessionID
    /// The session whose receipts are subscribed to.
    private var subscribed: SessionID?
    /// The time of the last request for the watermark.
    private var askedAt: Instant?
    /// The time of the last rewind to an `expected` number.
    var rewoundAt: Instant?
    package let limits: Limits
    var phase: Phase
    var link: Link?
    var outbox = Outbox()
    var backoff: Backoff
    /// Whether receipts have arrived since the last frame was pushed.
    package internal(set) var isPrompted = false
    /// Whether actions are saved and outlive the process, so that none fails for a transient reason.
    let isSaved: Bool
    package private(set) var status = SenderStatus.connecting

    package init(session: SessionID, limits: Limits, now: Instant) {
        self.session = session
        self.limits = limits
        phase = .asking(deadline: now)
        backoff = Backoff(limits)
        isSaved = false
    }

    var topic: Topic { .receipts(session) }

    /// Starts: requests the watermark.
    package mutating func start(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective]
    {
        [.status(.connecting)] + ask(at: now, using: &generator)
    }

    // MARK: Actions

    /// The number of actions without an outcome, without those that were withdrawn before they were sent.
    package var pendingCount: Int { outbox.count }

    /// Whether further actions wait until receipts arrive or until more of them are ready.
    package var awaitsReceipts: Bool { if case .open = phase { !outbox.isNothingSent } else { false } }

    /// Enqueues the actions of a chunk. Resolves those at once that cannot be sent.
    package mutating func enqueue(_ chunk: ActionChunk) -> [SenderDirective] {
        outbox.append(chunk)
        if case .refused(let reason, _) = phase, !isSaved { return rejectQueued(reason) + dropChunks() }
        return (chunk.largestActionBytes > actionBytesMax ? rejectOversize() : []) + dropChunks()
    }

    /// Rejects the queued actions that are too large.
    mutating func rejectOversize() -> [SenderDirective] {
        let bytesMax = actionBytesMax
        return outbox.removeQueued(largerThan: bytesMax).map { ticket, bytes in
            .resolve(ResolvedRun(ticket, sent: nil, .rejected(.tooLarge(bytes, bytesMax: bytesMax))))
        }
    }

    /// Rejects all queued actions.
    mutating func rejectQueued(_ reason: Rejection) -> [SenderDirective] {
        outbox.removeQueued().map { .resolve(ResolvedRun($0.ticket, count: $0.count, sent: nil, .rejected(reason))) }
    }

    /// Releases the chunks of which no action is left.
    mutating func dropChunks() -> [SenderDirective] { outbox.dropChunks().map { .reuse($0) } }

    /// Withdraws an action whose submitter stopped waiting.
    ///
    /// - Returns: the action's identity if it was sent, so that its outcome is unknown; `nil` if it was not sent and
    ///   never will be.
    package mutating func withdraw(_ ticket: Ticket) -> SentAction? {
        guard !outbox.withdraw(ticket), let number = outbox.number(of: ticket) else { return nil }
        return SentAction(session: session, number: number)
    }

    /// Gives up all actions: the outcome of sent ones is unknown, queued ones are rejected.
    package mutating func withdrawAll(because cause: String, notSent reason: Rejection) -> [SenderDirective] {
        abandonSent(cause) + rejectQueued(reason)
    }

    /// The next frame to push, if the window allows one and it is due.
    ///
    /// A frame is due if no action is outstanding. Otherwise it waits until it has `frameBytesMin` bytes or until
    /// receipts arrive, so that a sender under load does not send small frames.
    package var nextCut: FrameCut? {
        guard case .open = phase, let link, let watermark = link.watermark, isDue else { return nil }
        let (count, ranges) = outbox.actions(
            within: Outbox.Bounds(
                windowActionsMax: min(watermark.windowActionsMax, limits.windowActionsMax),
                windowBytesMax: limits.windowBytesMax,
                windowFramesMax: limits.windowFramesMax,
                bytesTarget: limits.frameBytesTarget,
                bytesMax: roomForActions(in: watermark)
            )
        )
        guard count > 0 else { return nil }
        let header = ActionsHeader(
            lineage: link.lineage,
            session: session,
            opened: link.opened,
            base: link.base,
            first: outbox.cursor,
            count: count
        )
        return FrameCut(header: header, ranges: ranges)
    }

    private var isDue: Bool {
        isPrompted || outbox.isNothingSent || outbox.cursor < outbox.next || outbox.queuedBytes >= limits.frameBytesMin
    }

    /// The maximum size of a frame of actions without the actions: address, identities and four numbers.
    private static let frameOverheadBytesMax = Limits.topicBytesMax + 80

    /// The socket accepted the frame.
    package mutating func pushed(
        _ frame: FrameCut,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        if outbox.isNothingSent { link?.framesOutstanding = 0 }
        link?.framesOutstanding += 1
        outbox.markSent(count: frame.header.count)
        isPrompted = false
        if case .open(nil) = phase { awaitReceipts(at: now, using: &generator) }
        return [.count(.framePushed(actions: frame.header.count))]
    }

    /// The socket reconnected. The peer may be another primary, so request the watermark before anything is sent:
    /// actions sent under an old lineage end with an unknown outcome.
    package mutating func reconnected(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard case .open = phase else { return [] }
        return ask(at: now, using: &generator)
    }

    /// The maximum size of an action; before the watermark, the sender's own limit.
    var actionBytesMax: Int {
        guard let watermark = link?.watermark else { return limits.actionBytesMax }
        return max(0, min(watermark.actionBytesMax, roomForActions(in: watermark) - Outbox.framingBytesMax))
    }

    /// The space for actions in a frame, with their CBOR heads.
    func roomForActions(in watermark: Watermark) -> Int {
        min(watermark.frameBytesMax, limits.frameBytesMax) - Self.frameOverheadBytesMax
    }

    // MARK: Time

    /// The time of the next `tick`.
    package var nextDeadline: Instant? {
        switch phase {
        case .asking(let deadline): deadline
        case .open(let receiptsDeadline): receiptsDeadline
        case .pausing(let until): until
        case .refused(_, let until): until
        }
    }

    /// Handles a deadline. Call it after handling the messages that arrived.
    package mutating func tick(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard let nextDeadline, now >= nextDeadline else { return [] }
        return ask(at: now, using: &generator)
    }

    /// Requests the watermark by subscribing again.
    mutating func ask(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective] {
        let deadline = now.advanced(by: backoff.next(using: &generator))
        let wasSilent = if case .asking = phase { true } else { false }
        if case .refused(let reason, _) = phase {
            phase = .refused(reason, until: deadline)
        } else {
            phase = .asking(deadline: deadline)
        }
        let old = subscribed.map { [SenderDirective.unsubscribe(.receipts($0))] } ?? []
        subscribed = session
        askedAt = now
        return changed(to: .connecting, isSilent: wasSilent) + [.count(.asked)] + old + [.subscribe(topic)]
    }

    /// Requests the watermark again, with a pause if the last request was recent: a primary may repeat the same
    /// answer.
    mutating func askAgain(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective] {
        if let askedAt, askedAt.duration(to: now) < limits.retryDelayMin {
            phase = .pausing(until: now.advanced(by: backoff.next(using: &generator)))
            let old = subscribed.map { [SenderDirective.unsubscribe(.receipts($0))] } ?? []
            subscribed = nil
            return changed(to: .connecting) + old
        }
        return ask(at: now, using: &generator)
    }

    mutating func awaitReceipts(at now: Instant, using generator: inout some RandomNumberGenerator) {
        let isAwaiting = outbox.cursor > outbox.first
        let deadline = isAwaiting ? now.advanced(by: backoff.next(using: &generator)) : nil
        phase = .open(receiptsDeadline: deadline)
    }

    /// - Parameter isSilent: whether the primary did not answer.
    mutating func changed(to status: SenderStatus, isSilent: Bool = false) -> [SenderDirective] {
        switch (self.status, status) {
        case (.refused, .connecting): return []
        case (.waiting, .connecting) where !isSilent: return []
        default: break
        }
        guard status != self.status else { return [] }
        self.status = status
        return [.status(status)]
    }

    // MARK: Saved sessions

    // The shell saves each action before it enqueues it, and the standing when `SessionSaver` requires it, so that
    // the sender never sends an action that a resumed session would not have.

    /// Resumes a saved session.
    package init(resuming saved: SavedSession, limits: Limits, now: Instant) {
        session = saved.standing.session
        self.limits = limits
        phase = .asking(deadline: now)
        backoff = Backoff(limits)
        isSaved = true
        outbox = Outbox(resuming: saved)
        guard let link = saved.standing.link else { return }
        self.link = Link(lineage: link.lineage, opened: link.opened, base: link.base)
        self.link?.resolvedBy = link.resolvedBy
        // A refusal proves that nothing was applied only if exactly one frame is outstanding. The count is unknown
        // here, so assume two.
        self.link?.framesOutstanding = outbox.isNothingSent ? 0 : 2
    }

    /// The part of the session's state to save.
    package var standing: SessionCheckpoint {
        let link = link.map { link in
            SessionCheckpoint.Link(
                lineage: link.lineage,
                opened: link.opened,
                base: link.base,
                resolvedBy: link.resolvedBy
            )
        }
        return SessionCheckpoint(session: session, link: link, first: outbox.first)
    }

    /// The standing is saved: receipts of earlier numbers are not needed any more.
    package mutating func saved(_ standing: SessionCheckpoint) { outbox.releaseReceipts(before: standing.first) }
}
