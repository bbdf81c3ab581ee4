import OrderedCollections
import StatecastCore

/// The sessions of a store's senders, and the frames that wait for a turn: whether a user may continue a session, which
/// actions are new, and the answers to their senders.
///
/// A known number is answered with its outcome, once that is durable. A number beyond the next one is answered once per
/// session and turn: with the expected number, or with the watermark if the sender has outcomes that this primary
/// lacks. A subscription, or a frame of another lineage, is answered at the end of a turn with the watermark and the
/// remembered outcomes.
struct Admission: Hashable, Sendable {
    private(set) var sessions: SessionTable
    private var inbox = Inbox()
    private var rates: UserRates
    /// Whether the store ends: further frames are dropped.
    private var isFinishing = false
    private let incarnation: Incarnation
    private let limits: Limits
    /// The bound of all sessions' runs. A recovered store has those of each session's last numbers: it forgets none of
    /// them only because it was restarted.
    private let maxSessionRuns: Int
    /// The bound of the runs of one user's sessions: the share of as many sessions as a user may have.
    private let maxUserSessionRuns: Int
    /// The bound of the number of sessions. A recovered store may have more than its limit allows, until the next
    /// session is opened: the limit was lowered, or an eviction was only in a snapshot that is damaged.
    let maxSessions: Int
    private let actionsEndpoint: String
    /// Answers that are given once per turn, so that a flood of frames does not cause a flood of answers.
    private var answered: Set<Answer> = []
    /// The users who have tried to use a session of another user, each with that user.
    private var intrusions: Set<[String]> = []
    /// The sessions whose watermark is requested.
    private var requested: OrderedSet<SessionID> = []

    /// The runs of outcomes that answers to requests have in a turn, unless one answer has more.
    private static let maxAnsweredRuns = 1 << 14

    /// An answer that is given once a turn.
    private enum Answer: Hashable {
        case expected(SessionID)
        /// By `opened` and code: the refusal of a late duplicate must not suppress that of the current frame, nor
        /// `overloaded` an `unknown-session`.
        case refusal(SessionID, opened: JournalSequence, Rejection.Code)
    }

    init(_ history: History, _ settings: StoreSettings) {
        sessions = history.sessions
        incarnation = history.incarnation
        limits = settings.limits
        rates = UserRates(settings.limits)
        maxSessionRuns = max(limits.maxSessionRuns, sessions.runCount)
        let userShare = limits.maxSessionRuns * limits.maxUserSessions / limits.maxSessions
        maxUserSessionRuns = max(userShare, sessions.runCounts.values.max() ?? 0)
        maxSessions = max(limits.maxSessions, sessions.count)
        actionsEndpoint = settings.actionsEndpoint
    }

    // MARK: Frames

    /// Whether frames wait that a turn may process now.
    func hasFrames(at now: Instant) -> Bool { inbox.waitingUsers.contains { rates.isWithinLimits($0, at: now) } }

    /// When the next frames of a user who is over its limit may be processed; `nil` if none wait.
    private(set) var nextResumption: Instant?

    /// The memory of the frames that wait for a turn.
    var bytesWaiting: Int { inbox.bytes }

    /// Whether there is room for one more frame of the maximum size.
    var hasRoom: Bool {
        let next = Inbox.bytes(ofMessage: limits.maxFrameBytes)
        return inbox.isEmpty || inbox.bytes + next <= limits.maxHeldBytes
    }

    /// A frame, which waits for a turn, unless it is answered at once.
    ///
    /// - Parameters:
    ///   - sender: `nil` without keys.
    ///   - isFull: whether the journal has no room.
    mutating func received(
        _ frame: ActionsFrame,
        from sender: FrameSender?,
        at now: Instant,
        isFull: Bool,
        into directives: inout [StoreDirective]
    ) {
        let session = frame.header.session
        func refuse(_ reason: Rejection, retryAfter delay: Duration = .zero) {
            self.refuse(frame.identity, of: session, reason, retryAfter: delay, into: &directives)
        }
        guard isOwner(sender, of: session, into: &directives) else { return }
        if isFull { return refuse(.storageFull) }
        guard frame.header.lineage == incarnation.lineage else {
            directives.append(.count(.otherLineage))
            requested.append(session)
            return
        }
        if let user = sender?.user, let delay = delay(of: frame, from: user, at: now) {
            return refuse(.tooFast(limits), retryAfter: delay)
        }
        // Also when it is opened: others of the user may be opened before.
        if let user = sender?.user, sessions[session] == nil, let delay = rates.delay(ofSessionsOf: user, at: now) {
            return refuse(.tooManyNewSessions(limits), retryAfter: delay)
        }
        if !isFinishing, !inbox.append(PendingFrame(frame, from: sender, at: now), maxBytes: limits.maxHeldBytes) {
            refuse(.overloaded)
        }
    }

    /// The time after which a user may send a frame again that is not held for it; `nil` if it is held.
    ///
    /// The frames of one user, and all that have to wait for their users' rates, occupy at most half of the memory: the
    /// others always have room. A frame waits for less time than its sender waits for receipts.
    private func delay(of frame: ActionsFrame, from user: String, at now: Instant) -> Duration? {
        guard rates.isLimited else { return nil }
        let (waiting, bytes, maxBytes) = (inbox.waiting(of: user), Inbox.bytes(of: frame), limits.maxHeldBytes / 2)
        guard let delay = rates.delay(of: user, adding: waiting, at: now) else {
            return waiting.actions > 0 && waiting.bytes + bytes > maxBytes ? .zero : nil
        }
        return inbox.bytes + bytes <= maxBytes && delay <= limits.minRetryDelay / 4 ? nil : delay
    }

    /// The store ends: drops the frames that wait, and those that arrive.
    mutating func finish() {
        isFinishing = true
        _ = inbox.removeAll()
    }

    /// Dequeues the next actions to reduce, and answers the frames before them. The rest of a frame waits for the next
    /// turn.
    ///
    /// - Parameters:
    ///   - budget: what is left for the turn. The answer to a known action counts as an action.
    ///   - durable: the last published record.
    mutating func dequeue(
        within budget: inout TurnBudget,
        at now: Instant,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) -> AdmittedActions? {
        while budget.actions > 0, budget.bytes > 0,
            var frame = inbox.next(where: { [rates] in rates.isWithinLimits($0, at: now) })
        {
            let user = frame.sender?.user
            let admitted = admit(frame, at: now, durable: durable, into: &directives)
            guard let (known, count, opened) = admitted, count > 0 else {
                let known = max(1, admitted?.known ?? 0)
                budget.actions -= known
                inbox.consume(actions: known)
                if let user { rates.charge(user, actions: 1, bytes: frame.byteCount, at: now) }
                continue
            }
            _ = frame.removeFirst(known)
            budget.actions -= known
            guard budget.actions > 0 else {
                inbox.consume(actions: known, leaving: frame)
                return nil
            }
            // Actions beyond the window are dropped: their sender has to send them again. At once, since the window
            // moves when the first actions are durable.
            frame.truncate(to: count)
            let share = inbox.share
            let permitted = user.map { rates.share(of: $0, min: Inbox.shareOfUser, at: now) } ?? share
            let slice = frame.removeFirst(
                min(count, budget.actions, share.actions, permitted.actions),
                maxBytes: min(budget.bytes, share.bytes, permitted.bytes)
            )
            budget.actions -= slice.count
            budget.bytes -= slice.byteCount
            let rest = frame.count > 0 ? frame : nil
            inbox.consume(actions: known + slice.count, bytes: slice.byteCount, leaving: rest)
            if let user {
                sessions.claim(frame.frame.header.session, for: user)
                rates.charge(user, actions: slice.count, bytes: slice.byteCount, at: now)
            }
            return AdmittedActions(
                slice: slice,
                frame: frame.frame,
                sender: frame.sender,
                arrived: frame.arrived,
                opened: opened
            )
        }
        return nil
    }

    /// Checks a frame against its session, which it may open.
    ///
    /// - Returns: the number of its first actions that are known, the number of the next ones that may be reduced, and
    ///   the journal sequence at which the session was opened; `nil` if the frame was refused.
    private mutating func admit(
        _ frame: PendingFrame,
        at now: Instant,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) -> (known: Int, count: Int, opened: JournalSequence)? {
        let (id, lowest) = (frame.frame.header.session, frame.frame.header.lowest)
        // Again: another user's frame may have opened the session since this one arrived.
        guard isOwner(frame.sender, of: id, into: &directives) else { return nil }
        if sessions[id] == nil { open(frame, at: now, durable: durable, into: &directives) }
        guard let (start, expected, sessionOpened) = sessions[id].map({ ($0.outcomes.start, $0.expected, $0.opened) })
        else {
            return nil
        }
        guard frame.first <= expected else {
            answerAhead(frame, expected, durable: durable, into: &directives)
            return nil
        }
        let opened = max(sessionOpened, frame.frame.header.opened)
        guard opened <= max(sessionOpened, opening(after: durable)) else {
            refuse(frame.identity, of: id, .forgottenSession, into: &directives)
            return nil
        }
        // Not for a frame that is ahead: it may be a stray one.
        if lowest > start { sessions.update(id) { $0.forgetOutcomes(before: lowest) } }
        guard let session = sessions[id] else { return nil }
        let known = min(frame.count, expected.distance(beyond: frame.first))
        if known > 0 {
            directives.append(.count(.duplicates(known)))
            let last = frame.first.advanced(by: known - 1)
            appendReceipts(session.durableOutcomes(from: frame.first, through: last), of: id, into: &directives)
        }
        return (known, min(frame.count - known, room(of: session)), opened)
    }

    /// Whether a user may continue a session. An answer to another user would reach the owner of the session: the
    /// primary therefore does not answer, and logs each pair of users once.
    private mutating func isOwner(
        _ sender: FrameSender?,
        of id: SessionID,
        into directives: inout [StoreDirective]
    ) -> Bool {
        guard let sender, let owner = sessions[id]?.user, sender.user != owner else { return true }
        directives.append(.count(.refused(.notPermitted)))
        if intrusions.insert([sender.user, owner]).inserted {
            directives.append(.log(.otherUser(id, sender.user, owner: owner)))
        }
        return false
    }

    /// Opens the session of a frame, unless it may be an evicted one.
    private mutating func open(
        _ frame: PendingFrame,
        at now: Instant,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) {
        let header = frame.frame.header
        guard header.opened >= sessions.minOpening, header.opened <= opening(after: durable) else {
            return refuse(frame.identity, of: header.session, .forgottenSession, into: &directives)
        }
        // Not opened: a session that has no action would evict others.
        guard frame.first <= header.base else {
            return answerAhead(frame, header.base, durable: durable, into: &directives)
        }
        let session = SessionTable.Session(opened: header.opened, base: header.base)
        if let user = frame.sender?.user {
            if let delay = rates.delay(ofSessionsOf: user, at: now) {
                let reason = Rejection.tooManyNewSessions(limits)
                return refuse(frame.identity, of: header.session, reason, retryAfter: delay, into: &directives)
            }
            guard sessions.makeRoom(for: user, maxCount: limits.maxUserSessions) else {
                let reason = Rejection.tooManyOfUser(limits.maxUserSessions)
                return refuse(frame.identity, of: header.session, reason, into: &directives)
            }
            rates.chargeSession(to: user, at: now)
        }
        guard sessions.open(header.session, session, maxCount: limits.maxSessions) else {
            let reason = Rejection.tooManySessions(limits.maxSessions)
            return refuse(frame.identity, of: header.session, reason, into: &directives)
        }
        directives.append(.count(.sessionOpened))
    }

    /// Answers a frame whose first number is beyond the expected one: earlier frames are lost, or the outcomes that the
    /// sender has already.
    private mutating func answerAhead(
        _ frame: PendingFrame,
        _ expected: ActionNumber,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) {
        let header = frame.frame.header
        directives.append(.count(.outOfOrder))
        guard isFirst(.expected(header.session)) else { return }
        let answer: Frame =
            if header.lowest > expected {
                .watermark(watermark(of: header.session, unknown: expected.previous, durable: durable))
            } else {
                .expected(Expected(lineage: incarnation.lineage, number: expected))
            }
        directives.append(.publish(.receipts(header.session), answer))
    }

    /// The journal sequence at which a new session opens: after the last durable record, because another incarnation
    /// may have to recognize it, or after evicted sessions that never wrote a record.
    private func opening(after durable: JournalSequence) -> JournalSequence { max(durable, sessions.minOpening) }

    private func room(of session: SessionTable.Session) -> Int {
        max(0, limits.maxWindowActions - session.undurableCount)
    }

    /// Refuses the actions of a frame.
    ///
    /// - Parameter delay: after which the sender may be below its limit again.
    private mutating func refuse(
        _ frame: Refusal.PushedFrame,
        of id: SessionID,
        _ reason: Rejection,
        retryAfter delay: Duration = .zero,
        into directives: inout [StoreDirective]
    ) {
        directives.append(.count(.refused(reason.code)))
        guard isFirst(.refusal(id, opened: frame.opened, reason.code)) else { return }
        let delay = reason.code == .unknownSession ? nil : max(delay, limits.minRetryDelay)
        let refusal = Refusal(reason, retryAfter: delay, frame: frame)
        directives.append(.publish(.receipts(id), .refusal(refusal)))
    }

    private mutating func isFirst(_ answer: Answer) -> Bool { answered.insert(answer).inserted }

    /// Whether a turn has requests to answer, or answers were given since the last one, which the next allows again.
    var hasRequests: Bool { !requested.isEmpty || !answered.isEmpty }

    // MARK: Answers

    /// A subscription to a session's receipts requests its watermark, and its durable receipts.
    mutating func subscribed(
        to id: SessionID,
        from sender: FrameSender?,
        into directives: inout [StoreDirective]
    ) {
        if isOwner(sender, of: id, into: &directives) { requested.append(id) }
    }

    mutating func unsubscribed(from id: SessionID) { requested.remove(id) }

    /// Ends a turn: answers requests, up to a bound.
    mutating func endTurn(
        at now: Instant,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) {
        nextResumption = inbox.waitingUsers.lazy.compactMap { [rates] in $0.map(rates.resumption) }.filter { $0 > now }
            .min()
        answered.removeAll(keepingCapacity: true)
        var (count, runs) = (0, 0)
        for id in requested {
            runs += 1 + (sessions[id]?.outcomes.runCount ?? 0)
            guard count == 0 || runs <= Self.maxAnsweredRuns else { break }
            appendWatermark(of: id, durable: durable, into: &directives)
            count += 1
        }
        requested.removeFirst(count)
    }

    private func appendWatermark(
        of id: SessionID,
        durable: JournalSequence,
        into directives: inout [StoreDirective]
    ) {
        guard id != .primary else {
            directives.append(.count(.refused(.malformed)))
            return directives.append(.publish(.receipts(id), .refusal(Refusal(.ownSession))))
        }
        directives.append(.publish(.receipts(id), .watermark(watermark(of: id, durable: durable))))
        guard let session = sessions[id] else { return }
        let outcomes = session.durableOutcomes(from: session.outcomes.start, through: session.durable)
        appendReceipts(outcomes, of: id, into: &directives)
    }

    /// - Parameter unknown: the number if the session is unknown.
    private func watermark(
        of id: SessionID,
        unknown: ActionNumber? = nil,
        durable: JournalSequence
    ) -> Watermark {
        Watermark(
            lineage: incarnation.lineage,
            epoch: incarnation.epoch,
            number: sessions[id]?.durable ?? unknown,
            opened: sessions[id]?.opened ?? opening(after: durable),
            maxWindowActions: limits.maxWindowActions,
            maxActionBytes: limits.maxActionBytes,
            maxFrameBytes: limits.maxFrameBytes,
            endpoint: actionsEndpoint
        )
    }

    private func appendReceipts(
        _ outcomes: OutcomeRuns,
        of id: SessionID,
        into directives: inout [StoreDirective]
    ) {
        let parts = outcomes.parts(maxBytes: limits.maxOutcomesBytes, maxRuns: Limits.maxReceiptRuns)
        for part in parts {
            let receipts = Receipts(lineage: incarnation.lineage, epoch: incarnation.epoch, outcomes: part)
            directives.append(.publish(.receipts(id), .receipts(receipts)))
        }
    }

    // MARK: Outcomes

    /// The next number of the primary's own session.
    var ownNumber: ActionNumber { sessions.own.expected }

    /// The number of further actions that the primary's own session may have without a durable outcome; beyond it they
    /// wait.
    var ownRoom: Int { room(of: sessions.own) }

    /// Records the outcomes of the next numbers of a session.
    mutating func record(_ outcomes: OutcomeRuns, of id: SessionID, opened: JournalSequence) {
        sessions.update(id) { $0.append(contentsOf: outcomes, opened: opened, maxCount: limits.maxWindowActions) }
    }

    /// Evicts sessions while all have too many outcomes: those with more than their share, since the others would make
    /// no room. Only between a batch and its publication, when none of the batch's sessions is idle.
    mutating func evictExcess() {
        let minRuns = limits.maxSessionRuns / limits.maxSessions + 1
        sessions.evictOfUsers(minRuns: minRuns, maxRuns: maxUserSessionRuns)
        sessions.evict(minRuns: minRuns, maxRuns: maxSessionRuns)
    }

    /// Forgets the outcomes of a batch, which is reduced again.
    mutating func rollBack(_ outcomes: [SessionOutcomes]) {
        for resolved in outcomes.reversed() {
            sessions.update(resolved.session) { $0.rollBack(to: resolved.outcomes.start) }
        }
    }

    /// Outcomes of a batch are published. Appends the receipts of a sender.
    mutating func published(_ resolved: SessionOutcomes, into directives: inout [StoreDirective]) {
        if resolved.session != .primary { appendReceipts(resolved.outcomes, of: resolved.session, into: &directives) }
        sessions.update(resolved.session) { session in
            session.markDurable(through: resolved.outcomes.end.previous)
            // After the receipts, which contain each message once.
            session.dropMessages(maxBytes: limits.maxSessionMessageBytes)
        }
    }

    /// The sessions that were evicted since the last call.
    mutating func drainForgotten() -> [SessionID] { sessions.drainForgotten() }

    /// The journal has no room: forgets all outcomes that are not durable. Refuses their actions, and the frames that
    /// wait.
    ///
    /// - Parameters:
    ///   - outcomes: the outcomes of the records that were rolled back.
    ///   - forgotten: the evicted sessions of these records, which the next record has to list.
    mutating func rollBackAll(
        _ outcomes: [SessionOutcomes],
        forgetting forgotten: [SessionID],
        into directives: inout [StoreDirective]
    ) {
        sessions.rollBack(forgetting: forgotten)
        // One refusal for each session: the others are suppressed.
        for resolved in outcomes where resolved.session != .primary {
            let frame = Refusal.PushedFrame(opened: resolved.opened, first: resolved.outcomes.start)
            refuse(frame, of: resolved.session, .storageFull, into: &directives)
        }
        for frame in inbox.removeAll() {
            refuse(frame.identity, of: frame.frame.header.session, .storageFull, into: &directives)
        }
    }
}

/// Actions of a frame that are the next ones of their session.
struct AdmittedActions: Sendable {
    let slice: FrameSlice
    let frame: ActionsFrame
    let sender: FrameSender?
    let arrived: Instant
    /// The journal sequence at which the session was opened.
    let opened: JournalSequence
}

extension Rejection {
    fileprivate static let ownSession = Rejection(
        .malformed,
        "the session \(SessionID.primary) is the primary's own"
    )
    fileprivate static let storageFull = Rejection(
        .storageFull,
        "the primary has no room to store actions; they wait until it has"
    )
    fileprivate static let overloaded = Rejection(.overloaded, "this store is overloaded; the sender retries")
    fileprivate static let forgottenSession = Rejection(
        .unknownSession,
        "the primary no longer knows this session and cannot tell what it applied; begin a new one"
    )
    fileprivate static func tooFast(_ limits: Limits) -> Rejection {
        Rejection(
            .overloaded,
            "the senders of this user sent more than \(limits.maxUserActionsPerSecond) actions or "
                + "\(limits.maxUserBytesPerSecond) bytes a second, or more than the primary holds; the sender retries"
        )
    }
    fileprivate static func tooManyNewSessions(_ limits: Limits) -> Rejection {
        Rejection(
            .overloaded,
            "the senders of this user began more than \(limits.maxUserSessionsPerSecond) sessions a second; try again"
        )
    }
    fileprivate static func tooManyOfUser(_ maxCount: Int) -> Rejection {
        Rejection(.overloaded, "all \(maxCount) sessions of this user have uncommitted actions; try again")
    }
    fileprivate static func tooManySessions(_ maxCount: Int) -> Rejection {
        Rejection(.overloaded, "all \(maxCount) sessions of this store have uncommitted actions; try again")
    }
}
