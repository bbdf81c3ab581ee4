import DequeModule
import OrderedCollections
package import StateCoding
package import StateCore

/// Decides for one store of a primary: who may join and with what, which actions are new, and what is published when.
///
/// The shell reduces and encodes, the machine keeps the books. One turn of the loop is: `subscribed` and `admit` for
/// what arrived, `resolved` for what was reduced, `close` at the end with the patch, `served` for joins and chunks.
/// Nothing becomes visible before `committed`.
package struct PrimaryMachine: Hashable, Sendable {
    package let store: StoreName
    package let lineage: Lineage
    package let epoch: Epoch
    package let limits: Limits
    let fingerprint: UInt64
    let actionsEndpoint: String
    let actions: [StoreSchema.Entry]
    /// Whether updates that are no longer kept in memory may be asked for.
    let readsPast: Bool
    /// What an acknowledged action survives; `nil` without a journal.
    let durability: String?

    /// The last durable revision: where replicas may be.
    package private(set) var head: Revision
    /// Digest and size of the state at the head.
    private(set) var summary: Summary
    /// The last revision reduced; ahead of the head while records are not durable.
    package private(set) var reduced: Revision
    /// The last record handed out to be made durable.
    private var sequence: JournalSequence
    /// The last durable record.
    package private(set) var durable: JournalSequence

    /// Where the incarnations before this one began.
    let epochs: EpochTable
    package internal(set) var sessions: SessionTable
    var ring: UpdateRing
    var desk = JoinDesk()
    /// The open batch: which numbers it has settled so far.
    private var batch: [Record.SessionOutcomes] = []
    /// Records that are not durable yet, in order.
    private var uncommitted: Deque<Record> = []
    private var heartbeatDue: Instant
    /// Sessions that were told something in this turn, so that a flood of frames is answered once.
    var answered: Set<AnsweredSession> = []
    /// Topics that were answered in this turn, however many subscribed to them.
    var answeredTopics: Set<Topic> = []

    /// A store that goes on from what is known of it.
    package init(
        store: StoreName,
        history: History,
        fingerprint: UInt64,
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
        self.fingerprint = fingerprint
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

    /// Says what became of an admitted action. Only the next number of its session may be resolved.
    package mutating func resolved(_ session: SessionID, _ number: ActionNumber, _ verdict: Verdict) -> Outcome {
        let outcome: Outcome
        switch verdict {
        case .applied:
            reduced = reduced.next
            outcome = .applied(reduced)
        case .rejected(let rejection):
            outcome = .rejected(rejection.final(messageBytesMax: limits.rejectionMessageBytesMax))
        }
        sessions.update(session) { entry in
            precondition(
                number == entry.expected,
                "session \(session) expects \(entry.expected), \(number) was resolved"
            )
            entry.append(outcome, countMax: limits.windowActionsMax)
        }
        if let last = batch.last, last.session == session, last.last.next == number {
            batch[batch.count - 1].last = number
        } else {
            let opened = sessions[session]?.opened ?? sequence
            batch.append(Record.SessionOutcomes(session: session, opened: opened, first: number, last: number))
        }
        return outcome
    }

    /// Takes back all that the open batch resolved: its patch could not be made or is too large for a frame. The
    /// shell then resolves the same actions again, one to a batch.
    package mutating func reopenBatch() {
        for outcomes in batch.reversed() {
            sessions.update(outcomes.session) { entry in
                entry.taken = outcomes.first.previous
                entry.log.rewind(to: outcomes.first)
            }
        }
        batch = []
        reduced = uncommitted.last(where: { $0.update != nil })?.update?.to ?? head
    }

    /// Whether something was resolved since the last batch was closed.
    package var hasOpenBatch: Bool { !batch.isEmpty }

    /// Ends the batch: what it settled goes into one record. `patch` leads from the state before the batch to the one
    /// behind it; it does not matter if nothing was applied.
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
            forgotten: sessions.takeForgotten()
        )
        batch = []
        uncommitted.append(record)
        return [.commit(record)]
    }

    /// Whether more may be reduced before the journal has caught up.
    package var hasRoom: Bool { uncommitted.count < limits.uncommittedRecordsMax }

    /// None of the records that were handed out was made durable, and none will be: it is as if their actions had never
    /// come. The open batch must have been closed.
    ///
    /// - Returns: the senders whose actions they were, each with what names the first of these.
    package mutating func rollBack() -> [(session: SessionID, frame: Refusal.PushedFrame)] {
        precondition(!hasOpenBatch, "a batch is open")
        var senders: OrderedDictionary<SessionID, Refusal.PushedFrame> = [:]
        for outcomes in uncommitted.flatMap(\.outcomes)
        where outcomes.session != .primary && senders[outcomes.session] == nil {
            senders[outcomes.session] = Refusal.PushedFrame(opened: outcomes.opened, first: outcomes.first)
        }
        // That they were forgotten stands in no record now, and has to stand in the next.
        sessions.rewind(forgetting: uncommitted.flatMap(\.forgotten))
        uncommitted = []
        reduced = head
        sequence = durable
        return senders.map { (session: $0.key, frame: $0.value) }
    }

    /// The records up to `sequence` are durable: now, and not before, they may be seen.
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
            for settled in record.outcomes {
                sessions.update(settled.session) { $0.durable = settled.last }
                // Its own process is told by the shell.
                if settled.session != .primary {
                    directives += receipts(of: settled.session, from: settled.first, through: settled.last)
                }
                // After the receipts, which carry each message once.
                sessions.update(settled.session) { $0.forgetMessages(bytesMax: limits.sessionMessageBytesMax) }
            }
            directives.append(.durable(record))
        }
        return directives
    }

    /// The receipts for a range of numbers, as far as their outcomes are remembered and durable.
    func receipts(of id: SessionID, from first: ActionNumber, through last: ActionNumber) -> [PrimaryDirective] {
        guard let session = sessions[id] else { return [] }
        let (first, outcomes) = session.log.outcomes(from: first, through: min(last, session.durable))
        guard !outcomes.isEmpty else { return [] }
        return [
            .publish(
                .receipts(id),
                .receipts(Receipts(lineage: lineage, epoch: epoch, first: first, outcomes: outcomes))
            )
        ]
    }

    // MARK: Time

    /// When `tick` wants to be called next.
    package var nextDeadline: Instant {
        min(heartbeatDue, desk.shelf.nextExpiry(retention: limits.snapshotRetention) ?? heartbeatDue)
    }

    /// Says a sign of life when one is due. `time` is the wall clock.
    package mutating func tick(at now: Instant, time: Timestamp) -> [PrimaryDirective] {
        desk.shelf.expire(at: now, retention: limits.snapshotRetention)
        guard now >= heartbeatDue else { return [] }
        heartbeatDue = now.advanced(by: limits.heartbeatInterval)
        let heartbeat = Heartbeat(lineage: lineage, epoch: epoch, head: head, digest: summary.digest, time: time)
        return [.publish(.feed, .heartbeat(heartbeat))]
    }
}

/// What the reducer's side says of an action.
package enum Verdict: Hashable, Sendable {
    case applied
    case rejected(Rejection)
}
