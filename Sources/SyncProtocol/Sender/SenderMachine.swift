internal import StateCore

/// Decides for one session of a sender: what to push, what to push again, and what became of it.
///
/// That a socket took a frame means nothing; only receipts count. Whatever goes wrong, the sender asks for the
/// watermark (by subscribing to its receipts) and goes on behind it.
package struct SenderMachine: Hashable, Sendable {
    /// Where the session stands.
    enum Phase: Hashable, Sendable {
        /// Has asked for the watermark. Leaves to `open` with it, asks again at `deadline`.
        case asking(deadline: Instant)
        /// Pushes. Leaves to `asking` when receipts stay away until the deadline (which is set while some are
        /// awaited), to `pausing` when the primary is overloaded.
        case open(receiptsDeadline: Instant?)
        /// Leaves to `asking` at `until`, to `open` if another incarnation says its watermark before that.
        case pausing(until: Instant)
        /// Every action fails with the reason. Leaves to `open` if a watermark comes all the same, asks now and then.
        case refused(Rejection, until: Instant)
    }

    /// The session as one lineage of the primary knows it.
    struct Link: Hashable, Sendable {
        let lineage: Lineage
        let opened: JournalSequence
        let base: ActionNumber
        /// `nil` until this process has heard it.
        var watermark: Watermark?
        /// How many frames have left since nothing was outstanding.
        var framesOutstanding = 0
        /// The last incarnation of the primary that settled something.
        var settledBy = Epoch(0)
    }

    /// Changes only when numbers of the old one had to be given up.
    package internal(set) var session: SessionID
    /// Whose receipts are subscribed to.
    private var subscribed: SessionID?
    /// When the watermark was asked for last.
    private var askedAt: Instant?
    /// When an `expected` was followed last.
    var rewoundAt: Instant?
    package let limits: Limits
    var phase: Phase
    var link: Link?
    var outbox = Outbox()
    var backoff: Backoff
    /// Whether actions outlive the process, so that none is given up for a reason that may pass.
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

    /// Begins: asks for the watermark.
    package mutating func start(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective]
    {
        [.status(.connecting)] + ask(at: now, using: &generator)
    }

    // MARK: Actions

    /// Actions that are not settled, and were not withdrawn before they left.
    package var pendingCount: Int { outbox.count }

    /// Takes an action, encoded. It is settled later, or at once if it cannot be sent at all.
    package mutating func enqueue(_ bytes: [UInt8], as ticket: Ticket) -> [SenderDirective] {
        if case .refused(let reason, _) = phase, !isSaved { return [.settle(ticket, nil, .rejected(reason))] }
        guard bytes.count <= actionBytesMax else {
            return [.settle(ticket, nil, .rejected(.tooLarge(bytes.count, bytesMax: actionBytesMax)))]
        }
        outbox.append(Outbox.Queued(ticket: ticket, bytes: bytes))
        return []
    }

    /// Nobody waits for the action any longer.
    ///
    /// - Returns: its session and number if it has left, so that its outcome is unknown; `nil` if it had not left and never will.
    package mutating func withdraw(_ ticket: Ticket) -> SentAction? {
        guard !outbox.withdraw(ticket), let number = outbox.number(of: ticket) else { return nil }
        return SentAction(session: session, number: number)
    }

    /// The frame to push next, if there is one and the window allows it.
    package var nextFrame: ActionsFrame? {
        guard case .open = phase, let link, let watermark = link.watermark else { return nil }
        let actions = outbox.actions(
            countMax: min(watermark.windowActionsMax, limits.windowActionsMax),
            bytesMax: roomForActions(in: watermark)
        )
        guard !actions.isEmpty else { return nil }
        return ActionsFrame(
            lineage: link.lineage,
            session: session,
            opened: link.opened,
            base: link.base,
            first: outbox.cursor,
            actions: actions
        )
    }

    /// The most bytes of a frame of actions without the actions: address, identities and four numbers.
    private static let frameOverheadBytesMax = Limits.topicBytesMax + 80

    /// The socket took the frame.
    package mutating func pushed(
        _ frame: ActionsFrame,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        if outbox.numbered.isEmpty { link?.framesOutstanding = 0 }
        link?.framesOutstanding += 1
        outbox.left(count: frame.actions.count)
        if case .open(nil) = phase { awaitReceipts(at: now, using: &generator) }
        return [.count(.framePushed(actions: frame.actions.count))]
    }

    /// The socket had nobody to push to, and has again. It may be another primary, so ask where it stands before anything
    /// more leaves: what leaves under the old lineage ends as unknown.
    package mutating func reconnected(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard case .open = phase else { return [] }
        return ask(at: now, using: &generator)
    }

    /// The most bytes of an action, as far as it is known.
    var actionBytesMax: Int {
        guard let watermark = link?.watermark else { return limits.actionBytesMax }
        return max(0, min(watermark.actionBytesMax, roomForActions(in: watermark) - Outbox.framingBytesMax))
    }

    /// The most bytes of actions, each with what CBOR puts in front of it, in a frame.
    func roomForActions(in watermark: Watermark) -> Int {
        min(watermark.frameBytesMax, limits.frameBytesMax) - Self.frameOverheadBytesMax
    }

    // MARK: Time

    /// When `tick` wants to be called next.
    package var nextDeadline: Instant? {
        switch phase {
        case .asking(let deadline): deadline
        case .open(let receiptsDeadline): receiptsDeadline
        case .pausing(let until): until
        case .refused(_, let until): until
        }
    }

    /// Time has passed. Call it behind taking in what arrived.
    package mutating func tick(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard let nextDeadline, now >= nextDeadline else { return [] }
        return ask(at: now, using: &generator)
    }

    /// Asks for the watermark by subscribing anew.
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

    /// The same, but not again and again without a pause: a primary may go on answering so.
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
}
