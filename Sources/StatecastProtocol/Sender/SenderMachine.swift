import StatecastCore

/// The state machine of a sender's session. It decides what to push, when to push it again, what is saved before, and
/// which outcome each action has.
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

    /// The names of the phases.
    package enum PhaseName: String, CaseIterable, Sendable { case asking, open, pausing, refused }

    // Swift 6.3's optimizer crashes where it inlines the property into some callers.
    @inline(never)
    package var phaseName: PhaseName {
        switch phase {
        case .asking: .asking
        case .open: .open
        case .pausing: .pausing
        case .refused: .refused
        }
    }

    /// The session as one lineage of the primary knows it.
    struct Registration: Hashable, Sendable {
        var saved: SessionCheckpoint.Registration
        /// `nil` until this process receives it.
        var watermark: Watermark?
        /// Whether the primary has recorded an action of the session. Before, one frame at a time is outstanding: a
        /// primary that takes the session for an evicted one refuses it, and only the refusal of a single frame shows
        /// that nothing was applied.
        var isKnown = false
        /// The number of frames that were sent since no action was outstanding.
        var framesOutstanding = 0
    }

    /// The socket for actions.
    struct Uplink: Hashable, Sendable {
        let endpoint: String
        /// Whether a push found no connection; nothing is pushed until there is one.
        var isBlocked = false
        /// Whether the socket has had a connection before.
        var wasConnected = false
    }

    /// Changes only when the numbers of the previous session are abandoned.
    package internal(set) var secret: SessionSecret
    package var session: SessionID { secret.session }
    /// The session whose receipts are subscribed to.
    private var subscribed: SessionID?
    /// The time of the last request for the watermark.
    private var askedAt: Instant?
    /// Whether a message has arrived since the last request.
    private var isAnswered = true
    /// The number of requests without an answer since the last message or replacement of the connections.
    private var unansweredCount = 0
    /// The number of replacements of the connections since the last message.
    private var replacements = 0
    /// The number of watermarks since the last answer to a frame, while frames were outstanding.
    var stalledCount = 0
    /// The time of the last rewind to an `expected` number.
    var rewoundAt: Instant?
    package let limits: Limits
    var phase: Phase
    var registration: Registration?
    /// `nil` until the shell has connected to the endpoint of the watermark.
    var uplink: Uplink?
    var outbox = Outbox()
    var backoff: Backoff
    /// The size of the actions in flight from which on no further frame is pushed: slow start, as in TCP. It begins
    /// small with each watermark that continues or begins a session and after a pause, and grows by the size of each
    /// action that gets its receipt. Otherwise all senders that were refused as `overloaded` would push full windows
    /// again.
    private var congestionWindow = 0
    /// The time of the last push.
    private var pushedAt: Instant?
    /// Whether receipts, or a watermark, have arrived since the last frame was pushed.
    var hasNewReceipts = false
    /// Saves the session; `nil` if it ends with the process. Saved actions do not fail for a transient reason.
    var saver: SessionSaver?
    /// Whether a client of this process numbers the actions. Then the primary may know later numbers than this process,
    /// and the machine stops where another one would begin a new session.
    private(set) var isContinued = false
    /// The number of requests for the store's schema. They share a subscription.
    private var schemaRequestsCount = 0
    package private(set) var status = SenderStatus.connecting
    package private(set) var isStopped = false

    package init(_ secret: SessionSecret, limits: Limits, now: Instant) {
        self.secret = secret
        self.limits = limits
        phase = .asking(deadline: now)
        backoff = Backoff(limits)
    }

    /// Resumes a saved session.
    package init(resuming saved: SavedSession, limits: Limits, now: Instant) {
        self.init(saved.checkpoint.secret, limits: limits, now: now)
        saver = SessionSaver(saved)
        outbox = Outbox(resuming: saved)
        // A refusal proves that nothing was applied only if exactly one frame is outstanding. The count is unknown
        // here, so assume two.
        let frames = outbox.hasOutstanding ? 2 : 0
        registration = saved.checkpoint.registration.map { Registration(saved: $0, framesOutstanding: frames) }
    }

    /// Continues a session whose actions a client numbers.
    package init(continuing session: ContinuedSession, limits: Limits, now: Instant) {
        self.init(session.secret, limits: limits, now: now)
        isContinued = true
        outbox = Outbox(from: session.first)
        registration = session.opening.map { opening in
            let saved = SessionCheckpoint.Registration(
                lineage: opening.lineage,
                opened: opening.sequence,
                base: ActionNumber(1)
            )
            return Registration(saved: saved)
        }
    }

    /// Where the primary opened the session; `nil` before it has answered.
    package var opening: SessionOpening? {
        registration.map { SessionOpening(lineage: $0.saved.lineage, sequence: $0.saved.opened) }
    }

    /// Whether the primary has recorded an action of the session.
    package var isKnown: Bool { registration?.isKnown ?? false }

    /// The client of a continued session does not need the outcomes before a number any more.
    package mutating func releaseReceipts(before number: ActionNumber) { outbox.releaseReceipts(before: number) }

    var topic: Topic { .receipts(session) }

    /// Starts: requests the watermark.
    package mutating func start(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective]
    {
        let schema = schemaRequestsCount > 0 ? [SenderDirective.subscribe(.schema)] : []
        return [.status(.connecting)] + ask(at: now, using: &generator) + schema
    }

    /// Stops, and gives up all actions. Call it after the last ones were submitted and the session file was closed.
    package mutating func stop(because cause: String) -> [SenderDirective] {
        guard !isStopped else { return [] }
        isStopped = true
        var runs = abandonSent(cause) + rejectQueued(.notSent(because: cause))
        if let saver {
            let kept = ResolvedRun.Kind.rejected(.kept(because: cause))
            runs = runs.map { ResolvedRun($0.first, count: $0.count, sent: nil, kept) }
            runs += saver.unreported(because: cause) + saver.unsaved(because: cause)
        }
        return [.giveUp(runs, because: cause), .close(because: cause)]
    }

    // MARK: Actions

    /// The number of actions in the outbox, without those that were withdrawn before they were sent. Actions that the
    /// session file does not have yet are not counted.
    package var pendingCount: Int { outbox.count }

    /// The size of submitted actions that is worth a turn: a frame is due with them, or as many are queued as for a
    /// frame and wait for the window.
    package var minSubmittedBytes: Int {
        guard case .open = phase, saver == nil, outbox.hasOutstanding else { return 1 }
        let missing = (frameBytesDue ?? limits.frameBytesTarget) - outbox.queuedBytes
        return max(1, missing > 0 ? missing : limits.minFrameBytes)
    }

    /// Actions were submitted. A session that is saved sends them when they are on the disk.
    package mutating func submitted(_ chunk: ActionChunk) -> [SenderDirective] {
        let invalid = chunk.invalidInputs.map(\.outcome)
        guard saver != nil else { return enqueue(chunk) + Self.report(invalid) }
        saver?.enqueue(chunk)
        return Self.report(invalid)
    }

    /// Enqueues the actions of a chunk. Resolves those at once that cannot be sent.
    private mutating func enqueue(_ chunk: ActionChunk) -> [SenderDirective] {
        outbox.append(chunk)
        if isStopped { return decide(rejectQueued(.notSent(because: "the session has ended"))) + dropChunks() }
        if case .refused(let reason, _) = phase, saver == nil { return decide(rejectQueued(reason)) + dropChunks() }
        return (chunk.largestActionBytes > maxActionBytes ? rejectOversize() : []) + dropChunks()
    }

    /// Rejects the queued actions that are too large.
    mutating func rejectOversize() -> [SenderDirective] {
        let maxBytes = maxActionBytes
        return decide(
            outbox.removeQueued(largerThan: maxBytes).map { ticket, bytes in
                ResolvedRun(ticket, sent: nil, .rejected(.tooLarge(bytes, maxBytes: maxBytes)))
            }
        )
    }

    /// Rejects all queued actions.
    mutating func rejectQueued(_ reason: Rejection) -> [ResolvedRun] {
        outbox.removeQueued().map { ResolvedRun($0.ticket, count: $0.count, sent: nil, .rejected(reason)) }
    }

    /// Saves and reports outcomes that a receipt contains.
    mutating func resolve(_ runs: [ResolvedRun]) -> [SenderDirective] {
        for run in runs { saver?.resolve(run) }
        return Self.report(runs)
    }

    /// Saves outcomes that this sender decides, and reports them once they are saved.
    mutating func decide(_ runs: [ResolvedRun]) -> [SenderDirective] {
        for run in runs { saver?.decide(run) }
        return saver == nil ? Self.report(runs) : []
    }

    private static func report(_ runs: [ResolvedRun]) -> [SenderDirective] { runs.isEmpty ? [] : [.resolve(runs)] }

    /// Releases the chunks of which no action is left.
    mutating func dropChunks() -> [SenderDirective] {
        let buffers = outbox.dropChunks()
        // A session file still has the chunk, so its buffer would be copied.
        return saver == nil ? buffers.map { .reuse($0) } : []
    }

    /// The caller of an action without an outcome stopped waiting. An action that is saved, or will be, is sent
    /// nevertheless; one that was sent has an unknown outcome; another one is never sent.
    package mutating func giveUp(_ ticket: Ticket, because cause: String) -> [SenderDirective] {
        if saver != nil { return [.resolve([ResolvedRun(ticket, sent: nil, .rejected(.kept(because: cause)))])] }
        if outbox.withdraw(ticket) {
            return [.resolve([ResolvedRun(ticket, sent: nil, .rejected(.notSent(because: cause)))])]
        }
        guard let number = outbox.number(of: ticket) else { return [] }
        let sent = SentAction(session: session, number: number)
        return [.resolve([ResolvedRun(ticket, sent: sent, .unknown(because: cause))])]
    }

    // MARK: Pushing

    /// The next frame to push, if the window allows one and it is due.
    package var nextFrame: OutgoingFrame? {
        guard case .open = phase, uplink?.isBlocked == false, saver?.mayPush ?? true,
            let saved = registration?.saved, let watermark = registration?.watermark, isDue
        else { return nil }
        guard outbox.cursor == outbox.first || registration?.isKnown == true && outbox.bytesInFlight < congestionWindow
        else { return nil }
        let room = roomForActions(in: watermark)
        let (count, ranges) = outbox.actions(maxWindow: maxWindow, maxBytes: room, limits)
        guard count > 0 else { return nil }
        let header = ActionsHeader(
            lineage: saved.lineage,
            session: session,
            opened: saved.opened,
            base: saved.base,
            lowest: outbox.lowestNeeded,
            first: outbox.cursor,
            count: count
        )
        return OutgoingFrame(header: header, secret: secret, ranges: ranges)
    }

    /// Whether a frame may be pushed now: nothing is outstanding, actions are pushed again, or enough is queued.
    private var isDue: Bool {
        guard outbox.hasOutstanding, outbox.cursor == outbox.next else { return true }
        return frameBytesDue.map { outbox.queuedBytes >= $0 } ?? false
    }

    /// The size from which a frame is due while others are outstanding; `nil`: not before receipts arrive.
    ///
    /// It is `minFrameBytes`, and 0 when receipts have arrived. If much is outstanding, it is a quarter of that, and a
    /// fifth of the window must be free: a small frame would come back as a receipt for few actions, and make room for
    /// as small a frame.
    private var frameBytesDue: Int? {
        let quarter = outbox.outstandingBytes / 4
        guard limits.minFrameBytes > 0, quarter > limits.minFrameBytes else {
            return hasNewReceipts ? 0 : limits.minFrameBytes
        }
        let hasRoom = outbox.hasRoom(maxWindow: maxWindow, maxBytes: limits.maxWindowBytes)
        return hasRoom ? min(quarter, limits.frameBytesTarget) : nil
    }

    /// Limits what is in flight to one frame of the standard size, or some smaller ones, until receipts arrive.
    mutating func startSlowly() { congestionWindow = max(1, limits.frameBytesTarget / 2) }

    /// Actions of this size got their receipts.
    mutating func confirmed(_ bytes: Int) { congestionWindow += bytes }

    /// The maximum number of outstanding actions.
    private var maxWindow: Int { min(registration?.watermark?.maxWindowActions ?? 0, limits.maxWindowActions) }

    /// The maximum size of a frame of actions without the actions: address, identities and five numbers.
    private static let maxFrameOverheadBytes = Limits.maxTopicBytes + 80

    /// The socket accepted the frame.
    package mutating func pushed(
        _ frame: OutgoingFrame,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        uplink?.wasConnected = true
        if !outbox.hasOutstanding {
            registration?.framesOutstanding = 0
            if let pushedAt, pushedAt.duration(to: now) > limits.minRetryDelay { startSlowly() }
        }
        pushedAt = now
        registration?.framesOutstanding += 1
        outbox.markSent(count: frame.header.count)
        hasNewReceipts = false
        if case .open(nil) = phase { awaitReceipts(at: now, using: &generator) }
        return [.count(.framePushed(actions: frame.header.count))] + reached()
    }

    /// The socket has no connection, or its queue is full.
    package mutating func blocked(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        uplink?.isBlocked = true
        if case .open(nil) = phase { awaitReceipts(at: now, using: &generator) }
        return uplink.map { changed(to: .unreachable($0.endpoint)) } ?? []
    }

    /// Whether ``writable(at:using:)`` is awaited: there is no connection, or another frame is ready.
    package var awaitsWritable: Bool { uplink?.isBlocked == true || nextFrame != nil }

    /// The socket accepts frames. After a reconnect, the peer may be another primary, so request the watermark before
    /// anything is sent: actions sent under an old lineage end with an unknown outcome.
    package mutating func writable(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        guard let uplink, uplink.isBlocked else { return [] }
        self.uplink?.isBlocked = false
        guard case .open = phase else { return [] }
        return uplink.wasConnected ? ask(at: now, using: &generator) : reached()
    }

    /// The endpoint for actions is reachable.
    private mutating func reached() -> [SenderDirective] {
        if case .unreachable = status { changed(to: .open) } else { [] }
    }

    /// The maximum size of an action; before the watermark, the sender's own limit.
    var maxActionBytes: Int {
        guard let watermark = registration?.watermark else { return limits.maxActionBytes }
        return max(0, min(watermark.maxActionBytes, roomForActions(in: watermark) - Outbox.maxHeadBytes))
    }

    /// The space for actions in a frame, with their CBOR heads.
    func roomForActions(in watermark: Watermark) -> Int {
        min(watermark.maxFrameBytes, limits.maxFrameBytes) - Self.maxFrameOverheadBytes
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
        guard !isAnswered else { return ask(at: now, using: &generator) }
        unansweredCount += 1
        // At the longest delay between requests, the sixteen take two minutes.
        let maxUnanswered = limits.maxUnansweredRequests << min(replacements, 3)
        return unansweredCount < maxUnanswered ? ask(at: now, using: &generator) : reconnect(at: now, using: &generator)
    }

    // MARK: Connections that deliver nothing

    // A proxy or a NAT may have forgotten a connection, which neither end can notice otherwise.

    /// A message arrived, perhaps one that cannot be read.
    package mutating func heard() { (isAnswered, unansweredCount, replacements) = (true, 0, 0) }

    /// Requests the watermark on a new connection. Its answer leads to a new connection for actions, too.
    package mutating func reconnect(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [SenderDirective] {
        replacements += 1
        (unansweredCount, stalledCount, subscribed, uplink) = (0, 0, nil, nil)
        let schema = schemaRequestsCount > 0 ? [SenderDirective.subscribe(.schema)] : []
        return [.count(.reconnecting), .reconnect] + schema + ask(at: now, using: &generator)
    }

    /// Requests the watermark by subscribing again.
    mutating func ask(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective] {
        guard !isStopped else { return [] }
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
        isAnswered = false
        return changed(to: .connecting, isSilent: wasSilent) + [.count(.asked)] + old + [.subscribe(topic)]
    }

    /// Requests the watermark again, with a pause if the last request was recent: a primary may repeat the same
    /// answer.
    mutating func askAgain(at now: Instant, using generator: inout some RandomNumberGenerator) -> [SenderDirective] {
        guard !isStopped else { return [] }
        if let askedAt, askedAt.duration(to: now) < limits.minRetryDelay {
            phase = .pausing(until: now.advanced(by: backoff.next(using: &generator)))
            let old = subscribed.map { [SenderDirective.unsubscribe(.receipts($0))] } ?? []
            subscribed = nil
            return changed(to: .connecting) + old
        }
        return ask(at: now, using: &generator)
    }

    mutating func awaitReceipts(at now: Instant, using generator: inout some RandomNumberGenerator) {
        // A connection that accepts nothing may deliver nothing, either.
        let isAwaiting = outbox.cursor > outbox.first || outbox.hasOutstanding && uplink?.isBlocked == true
        let deadline = isAwaiting ? now.advanced(by: backoff.next(using: &generator)) : nil
        phase = .open(receiptsDeadline: deadline)
    }

    /// - Parameter isSilent: whether the primary did not answer.
    mutating func changed(to status: SenderStatus, isSilent: Bool = false) -> [SenderDirective] {
        switch (self.status, status) {
        case (.refused, .connecting): return []
        case (.waiting, .connecting) where !isSilent: return []
        // That the primary answers says nothing about its endpoint for actions.
        case (.unreachable, .connecting) where !isSilent: return []
        default: break
        }
        guard status != self.status else { return [] }
        self.status = status
        return [.status(status)]
    }

    // MARK: Saving

    // Each action is saved before it is enqueued, and the checkpoint when `SessionSaver` requires it, so that the
    // sender never sends an action that a resumed session would not have.

    /// The part of the session's state to save.
    package var checkpoint: SessionCheckpoint {
        SessionCheckpoint(secret, registration: registration?.saved, first: outbox.first)
    }

    /// Saves what has changed. Call it before frames are pushed.
    package mutating func save() -> [SenderDirective] {
        let checkpoint = checkpoint
        return saver?.flush(checkpoint).map { [.save($0)] } ?? []
    }

    /// The caller has processed the outcomes up to this one.
    package mutating func acknowledge(upTo ticket: Ticket) -> [SenderDirective] {
        saver?.acknowledge(upTo: ticket)
        return save()
    }

    /// The caller has submitted all of its input.
    package mutating func inputEnded(at mark: InputMark) -> [SenderDirective] {
        saver?.endInput(at: mark)
        return save()
    }

    /// The first `count` changes are on the disk: their actions may be sent, what this sender decided may be reported,
    /// and receipts before their checkpoint are not needed any more.
    ///
    /// - Parameter failure: why no further change will be. Actions that cannot be saved must not be sent.
    package mutating func saved(_ count: Int, failure: SaveFailure? = nil) -> [SenderDirective] {
        guard !isStopped, let (chunks, decided, first) = saver?.written(count) else { return [] }
        if let first { outbox.releaseReceipts(before: first) }
        let directives = Self.report(decided) + chunks.flatMap { enqueue($0) }
        guard let failure, saver?.failed(failure) == true else { return directives }
        return directives + [.status(.refused(Rejection(.stopped, failure.message))), .fail(because: failure.message)]
    }

    // MARK: Schema

    /// Requests the store's schema.
    package mutating func requestSchema() -> [SenderDirective] {
        guard !isStopped else { return [.close(because: "the sender was closed")] }
        schemaRequestsCount += 1
        return schemaRequestsCount == 1 && askedAt != nil ? [.subscribe(.schema)] : []
    }

    package mutating func cancelSchemaRequest() -> [SenderDirective] {
        schemaRequestsCount -= 1
        return schemaRequestsCount == 0 && askedAt != nil ? [.unsubscribe(.schema)] : []
    }

    /// Handles the answer to all requests.
    mutating func receivedSchema(_ frame: Frame) -> [SenderDirective] {
        guard schemaRequestsCount > 0 else { return [] }
        schemaRequestsCount = 0
        let answer: Result<StoreSchema, Rejection> =
            switch frame {
            case .schema(let schema): .success(schema)
            case .refusal(let refusal): .failure(refusal.reason)
            default: .failure(Rejection(.malformed, "the primary answered with another frame"))
            }
        return [.unsubscribe(.schema), .answerSchema(answer)]
    }
}
