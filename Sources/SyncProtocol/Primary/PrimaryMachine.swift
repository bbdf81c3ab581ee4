import DequeModule
import OrderedCollections
package import StateCoding
package import StateCore

/// The state machine of one store on the primary. It decides who may join and with which data, which actions are new,
/// and when to publish.
///
/// The shell reduces and encodes; the machine tracks sessions, revisions and pending records. A turn of the loop calls
/// `subscribed` and `admit` for incoming messages, `resolved` for reduced actions, `close` with the patch at the end,
/// and `serve` for joins and chunks. Nothing becomes visible before `committed`.
package struct PrimaryMachine: Hashable, Sendable {
    package let store: StoreName
    package let lineage: Lineage
    package let epoch: Epoch
    package let limits: Limits
    let stateVersion: UInt64
    let actionsEndpoint: String
    let actions: [StoreSchema.Entry]
    /// Whether the shell can read updates from the journal that are no longer in memory.
    let readsPast: Bool
    /// The durability of acknowledged actions, as the primary's settings name it; `nil` without a journal.
    let durability: String?

    /// The last published revision, which replicas may have.
    package private(set) var head: Revision
    /// The digest and size of the state at the head.
    private(set) var summary: Summary
    /// The last reduced revision; ahead of the head while records are not committed.
    package private(set) var reduced: Revision
    /// The last record that was passed to the journal.
    private var sequence: JournalSequence
    /// The last record that ``committed(through:at:)`` reported.
    package private(set) var durable: JournalSequence

    /// The starts of the previous incarnations.
    let epochs: EpochTable
    package internal(set) var sessions: SessionTable
    var ring: UpdateRing
    var joins = JoinQueue()
    /// The open batch: the numbers that it has resolved so far.
    private var batch: [Record.SessionOutcomes] = []
    /// The records that are not published yet, in order.
    private var uncommitted: Deque<Record> = []
    private var heartbeatDue: Instant
    /// The sessions that were answered in this turn, so that a flood of frames is answered once.
    var answered: Set<AnsweredSession> = []
    /// The topics that were answered in this turn, however many subscribed to them.
    var answeredTopics: Set<Topic> = []

    /// Continues a store's history.
    package init(
        store: StoreName,
        history: History,
        stateVersion: UInt64,
        actions: [StoreSchema.Entry],
        actionsEndpoint: String,
        readsPast: Bool = false,
        durability: String? = nil,
        limits: Limits,
        now: Instant
    ) {
        self.store = store
        lineage = history.lineage
        epoch = history.epoch
        epochs = history.epochs
        self.limits = limits
        self.stateVersion = stateVersion
        self.actions = actions
        self.actionsEndpoint = actionsEndpoint
        self.readsPast = readsPast
        self.durability = durability
        summary = history.summary
        head = history.head
        reduced = history.head
        sequence = history.sequence
        durable = history.sequence
        sessions = history.sessions
        ring = history.ring
        heartbeatDue = now
    }

    // MARK: Reducing

    /// Records the decision about an admitted action. Only the next number of its session may be resolved.
    package mutating func resolved(_ session: SessionID, _ number: ActionNumber, _ verdict: Verdict) -> Outcome {
        let kind: OutcomeRun.Kind
        let outcome: Outcome
        switch verdict {
        case .applied:
            reduced = reduced.next
            (kind, outcome) = (.applied(reduced), .applied(reduced))
        case .rejected(let rejection):
            let final = rejection.final(messageBytesMax: limits.rejectionMessageBytesMax)
            (kind, outcome) = (.rejected(final), .rejected(final))
        }
        let opened = sessions.update(session) { entry in
            precondition(
                number == entry.expected,
                "session \(session) expects \(entry.expected), \(number) was resolved"
            )
            entry.append(kind, count: 1, countMax: limits.windowActionsMax)
            return entry.opened
        }
        if let last = batch.last, last.session == session, last.last.next == number {
            batch[batch.count - 1].last = number
        } else {
            let opened = opened ?? sequence
            batch.append(Record.SessionOutcomes(session: session, opened: opened, first: number, last: number))
        }
        return outcome
    }

    /// Rolls back the open batch, whose patch cannot be made or exceeds a frame. The shell then resolves the same
    /// actions again, one per batch.
    package mutating func rollBackBatch() {
        for outcomes in batch.reversed() {
            sessions.update(outcomes.session) { $0.rewind(to: outcomes.first) }
        }
        batch = []
        reduced = uncommitted.last(where: { $0.update != nil })?.update?.to ?? head
    }

    /// Whether actions were resolved since the last batch was closed.
    package var hasOpenBatch: Bool { !batch.isEmpty }

    /// Closes the open batch with one record. `patch` leads from the state before the batch to the state after it; it
    /// is ignored if no action was applied.
    package mutating func close(patch: [UInt8], summary: Summary) -> [PrimaryDirective] {
        guard hasOpenBatch else { return [] }
        let from = uncommitted.last(where: { $0.update != nil })?.update?.to ?? head
        let update =
            reduced > from
            ? Update(lineage: lineage, epoch: epoch, from: from, to: reduced, patch: patch) : nil
        sequence = sequence.next
        let record = Record(
            sequence: sequence,
            from: from,
            to: reduced,
            update: update,
            summary: summary,
            outcomes: batch,
            forgotten: sessions.drainForgotten()
        )
        batch = []
        uncommitted.append(record)
        return [.commit(record)]
    }

    /// Whether the machine admits another record before the journal commits.
    package var hasRoom: Bool { uncommitted.count < limits.uncommittedRecordsMax }

    /// Rolls back all records that were passed to the journal: none became durable. The open batch must be closed.
    ///
    /// - Returns: the senders of the rolled-back actions, each with the identity of its first frame.
    package mutating func rollBack() -> [(session: SessionID, frame: Refusal.PushedFrame)] {
        precondition(!hasOpenBatch, "a batch is open")
        var senders: OrderedDictionary<SessionID, Refusal.PushedFrame> = [:]
        for outcomes in uncommitted.flatMap(\.outcomes)
        where outcomes.session != .primary && senders[outcomes.session] == nil {
            senders[outcomes.session] = Refusal.PushedFrame(opened: outcomes.opened, first: outcomes.first)
        }
        // The next record has to list these evictions instead.
        sessions.rewind(forgetting: uncommitted.flatMap(\.forgotten))
        uncommitted = []
        reduced = head
        sequence = durable
        return senders.map { (session: $0.key, frame: $0.value) }
    }

    /// Publishes the records up to `sequence`: they are durable, or the store has no journal or a relaxed one.
    package mutating func committed(through sequence: JournalSequence, at now: Instant) -> [PrimaryDirective] {
        var directives: [PrimaryDirective] = []
        while let record = uncommitted.first, record.sequence <= sequence {
            uncommitted.removeFirst()
            durable = record.sequence
            if let update = record.update {
                head = update.to
                summary = record.summary
                ring.append(update, limits: limits)
                directives.append(.publish(.feed, .update(update)))
            }
            for resolved in record.outcomes {
                let outcomes = sessions.update(resolved.session) { session in
                    session.markDurable(through: resolved.last)
                    let outcomes = session.durableOutcomes(from: resolved.first, through: resolved.last)
                    // After the receipts, which contain each message once.
                    session.dropMessages(bytesMax: limits.sessionMessageBytesMax)
                    return outcomes
                }
                // The shell informs the primary's own process.
                if let outcomes, resolved.session != .primary {
                    directives += receipts(outcomes, of: resolved.session)
                }
            }
            directives.append(.durable(record))
        }
        return directives
    }

    /// The receipts for outcomes of a session, in as many frames as they need.
    func receipts(_ outcomes: OutcomeRuns, of id: SessionID) -> [PrimaryDirective] {
        outcomes.parts(bytesMax: limits.outcomesBytesMax, runsMax: Limits.receiptRunsMax).map { part in
            .publish(.receipts(id), .receipts(Receipts(lineage: lineage, epoch: epoch, outcomes: part)))
        }
    }

    // MARK: Time

    /// The time of the next `tick`.
    package var nextDeadline: Instant {
        min(heartbeatDue, joins.cache.nextExpiry(retention: limits.snapshotRetention) ?? heartbeatDue)
    }

    /// Publishes a heartbeat when it is due. `time` is the wall clock.
    package mutating func tick(at now: Instant, time: Timestamp) -> [PrimaryDirective] {
        joins.cache.expire(at: now, retention: limits.snapshotRetention)
        guard now >= heartbeatDue else { return [] }
        heartbeatDue = now.advanced(by: limits.heartbeatInterval)
        let heartbeat = Heartbeat(lineage: lineage, epoch: epoch, head: head, digest: summary.digest, time: time)
        return [.publish(.feed, .heartbeat(heartbeat))]
    }
}

extension PrimaryMachine {
    /// Checks a frame from the ``FrameRouter`` against its session, and admits its new actions.
    ///
    /// A known number is answered with its recorded outcome (with nothing while that is not durable), a number ahead
    /// with the expected one; each at most once per turn.
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
            directives += receipts(session.durableOutcomes(from: frame.first, through: last), of: frame.session)
        }
        let room = limits.windowActionsMax - session.undurableCount
        let fresh = frame.actions[known...].prefix(max(0, room))
        guard !fresh.isEmpty else { return (nil, directives) }
        return (AdmittedActions(session: frame.session, first: session.expected, actions: fresh), directives)
    }

    /// The rejection of an action that exceeds the size limit.
    package func rejection(ofBytes count: Int) -> Rejection? {
        count > limits.actionBytesMax ? .tooLarge(count, bytesMax: limits.actionBytesMax) : nil
    }

    /// The next number of the primary's own session.
    package var ownNumber: ActionNumber { sessions.own.expected }

    /// The number of further actions that the primary's own session may have without a durable outcome; beyond it they
    /// wait.
    package var ownRoom: Int {
        max(0, limits.windowActionsMax - sessions.own.undurableCount)
    }

    /// The watermark of a session, and its durable receipts.
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
        let outcomes = session.durableOutcomes(from: session.outcomes.start, through: session.durable)
        return [answer] + receipts(outcomes, of: id)
    }

    /// The journal sequence at which a new session opens: after the last durable record, because another incarnation
    /// may have to recognize it, or after evicted sessions that never wrote a record.
    private var opening: JournalSequence { max(durable, sessions.horizon) }

    /// Opens the session of a frame, unless it may be an evicted one.
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

    /// Refuses the actions of a frame. At most once per turn and `opened` value, so that a late duplicate does not
    /// suppress the refusal of the current frame.
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

    /// Answers a session at most once per turn.
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
    /// The opening in a refused frame; `nil` for other answers.
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
        Rejection(.overloaded, "all \(countMax) sessions of this store have uncommitted actions; try again")
    }
}
