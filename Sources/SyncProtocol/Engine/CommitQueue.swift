import DequeModule
import OrderedCollections
import StateCoding
import StateCore

/// The state of a store at a revision.
struct Version<State: Sendable>: Sendable {
    var state: State
    var summary: Summary
    var revision: Revision
}

/// The outcomes of one session in a batch.
struct SessionOutcomes: Hashable, Sendable {
    let session: SessionID
    /// The journal sequence at which the session was opened.
    let opened: JournalSequence
    var outcomes: OutcomeRuns
}

/// The work for an action once its batch is published. Most actions of senders have none.
struct FollowUp: Sendable {
    let session: SessionID
    let number: ActionNumber
    let outcome: Outcome
    let effect: Effect
    let local: LocalAction?
}

/// A closed batch, which waits until it may be published.
struct ClosedBatch<State: Sendable>: Sendable {
    let sequence: JournalSequence
    /// `nil` if no action was applied.
    let update: Update?
    /// The state after the batch.
    let version: Version<State>
    let outcomes: [SessionOutcomes]
    /// The sessions that were evicted before it was closed.
    let forgotten: [SessionID]
    /// In the order of the actions.
    let followUps: [FollowUp]
    /// The IDs of the effects that its effects cancel when they start.
    let cancelled: Set<AnyID>
    /// The actions that middlewares dispatched.
    let dispatched: [any Action]
    /// Observers that registered while the batch was made or in flight. Their replay must contain the batch.
    var joining: [(observer: ObserverID, replay: Replay)]
    let counts: OutcomeCounts
    /// The size of the record.
    let bytes: Int
}

/// The batches that are passed to the journal and not published yet, and the records that it has not stored yet.
struct CommitQueue<State: Sendable>: Sendable {
    private var batches: Deque<ClosedBatch<State>> = []
    /// The records that are not stored, with their sizes; at relaxed durability they may be published already.
    private var unstored: Deque<(sequence: JournalSequence, bytes: Int)> = []
    private var unstoredBytes = 0
    /// The last record that was passed to the journal.
    private(set) var sequence: JournalSequence
    /// The last record that was published.
    private(set) var published: JournalSequence

    init(after sequence: JournalSequence) { (self.sequence, published) = (sequence, sequence) }

    /// The number of batches that are not published.
    var count: Int { batches.count }

    func hasRoom(_ limits: Limits) -> Bool {
        batches.count < limits.uncommittedRecordsMax && unstoredBytes < limits.uncommittedBytesMax
    }

    /// Whether a batch in flight cancels the effects with an ID.
    func cancels(_ id: AnyID) -> Bool { batches.contains { $0.cancelled.contains(id) } }

    /// Appends the batch with the next sequence.
    mutating func append(_ batch: ClosedBatch<State>) {
        sequence = batch.sequence
        batches.append(batch)
        unstored.append((batch.sequence, batch.bytes))
        unstoredBytes += batch.bytes
    }

    /// Lets an observer wait for the last batch.
    ///
    /// - Returns: `false` if there is none.
    mutating func join(_ observer: ObserverID, _ replay: Replay) -> Bool {
        guard !batches.isEmpty else { return false }
        batches[batches.endIndex - 1].joining.append((observer, replay))
        return true
    }

    /// Removes the next batch up to `sequence`, to publish it.
    mutating func dequeue(through sequence: JournalSequence) -> ClosedBatch<State>? {
        guard let batch = batches.first, batch.sequence <= sequence else { return nil }
        batches.removeFirst()
        published = batch.sequence
        return batch
    }

    /// The journal has stored the records up to `sequence`.
    ///
    /// - Returns: whether one of them was not stored before.
    @discardableResult
    mutating func stored(through sequence: JournalSequence) -> Bool {
        guard let first = unstored.first, first.sequence <= sequence else { return false }
        while let first = unstored.first, first.sequence <= sequence {
            unstoredBytes -= first.bytes
            unstored.removeFirst()
        }
        return true
    }

    /// Drops all batches that are not published: none is stored.
    mutating func rollBack() -> [ClosedBatch<State>] {
        defer { (batches, unstored, unstoredBytes, sequence) = ([], [], 0, published) }
        return Array(batches)
    }
}
