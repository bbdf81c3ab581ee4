public import StatecastCore
public import StatecastProtocol

/// The identity of a history.
public struct JournalIdentity: Hashable, Sendable {
    /// The store that has the history.
    public let store: StoreName
    /// The random identity of the history.
    public let lineage: Lineage
    /// The time at which the lineage began.
    public let begun: Timestamp

    /// Creates an identity.
    public init(store: StoreName, lineage: Lineage, begun: Timestamp) {
        self.store = store
        self.lineage = lineage
        self.begun = begun
    }
}

/// The content of a journal when it was opened.
public struct JournalContents: Hashable, Sendable {
    /// The identity of the history.
    public let identity: JournalIdentity
    /// The incarnations of the primary, oldest first.
    public let epochs: [EpochStart]
    /// The last record; the record of the oldest snapshot if there are no records.
    public let last: JournalSequence
    /// The number of damaged records after the last one. They were never acknowledged, and are dropped.
    public let droppedCount: Int

    /// The least epoch of the next incarnation, where several nodes share a journal.
    package var term: Epoch?

    /// Creates a description of a journal's content.
    public init(identity: JournalIdentity, epochs: [EpochStart], last: JournalSequence, droppedCount: Int = 0) {
        self.identity = identity
        self.epochs = epochs
        self.last = last
        self.droppedCount = droppedCount
    }
}

/// The journal's record of one batch of actions.
public struct JournalRecord: Hashable, Sendable {
    /// The record's number; numbers have no gaps.
    public let sequence: JournalSequence
    /// The revision before the batch.
    public let from: Revision
    /// The revision after the batch; equal to `from` if no action was applied and the state was not migrated.
    public let to: Revision
    /// The encoded batch.
    public let body: [UInt8]

    /// Creates a record.
    public init(sequence: JournalSequence, from: Revision, to: Revision, body: [UInt8]) {
        self.sequence = sequence
        self.from = from
        self.to = to
        self.body = body
    }
}

/// A place in a journal: a record, and the revision to which it leads.
public struct SnapshotEntry: Hashable, Sendable {
    /// The last record that a state contains.
    public let sequence: JournalSequence
    /// The revision of that state.
    public let revision: Revision

    /// Creates an entry.
    public init(sequence: JournalSequence, revision: Revision) {
        self.sequence = sequence
        self.revision = revision
    }
}

/// A whole state, and everything else that is needed to continue from it.
public struct JournalSnapshot: Hashable, Sendable {
    /// The place of the snapshot in the journal.
    public let entry: SnapshotEntry
    /// The encoded sessions, digest and epoch; they are small.
    public let context: [UInt8]
    /// The encoded state.
    public let state: [UInt8]

    /// Creates a snapshot.
    public init(_ entry: SnapshotEntry, context: [UInt8], state: [UInt8]) {
        self.entry = entry
        self.context = context
        self.state = state
    }
}
