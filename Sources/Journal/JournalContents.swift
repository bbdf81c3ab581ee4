public import StateCore
public import SyncProtocol

/// What a journal is about.
public struct JournalIdentity: Hashable, Sendable {
    /// The store whose history it is.
    public let store: StoreName
    /// The history.
    public let lineage: Lineage
    /// When the lineage was begun.
    public let begun: Timestamp

    /// Names a history.
    public init(store: StoreName, lineage: Lineage, begun: Timestamp) {
        self.store = store
        self.lineage = lineage
        self.begun = begun
    }
}

/// What a journal holds, as it was found when it was opened.
public struct JournalContents: Hashable, Sendable {
    /// What it is about.
    public let identity: JournalIdentity
    /// The incarnations of the primary, oldest first.
    public let epochs: [EpochStart]
    /// The last record; that of the oldest snapshot, if there is no record.
    public let last: JournalSequence
    /// How many records behind that were never acknowledged and damaged, and were dropped.
    public let droppedCount: Int

    /// Describes what was found.
    public init(identity: JournalIdentity, epochs: [EpochStart], last: JournalSequence, droppedCount: Int = 0) {
        self.identity = identity
        self.epochs = epochs
        self.last = last
        self.droppedCount = droppedCount
    }
}

/// A batch as the journal keeps it.
public struct JournalRecord: Hashable, Sendable {
    /// Its place; without gaps.
    public let sequence: JournalSequence
    /// Where the state stood before it.
    public let from: Revision
    /// Where the state stands behind it; equal to `from` if all of it was rejected.
    public let to: Revision
    /// What it holds, encoded.
    public let body: [UInt8]

    /// A record.
    public init(sequence: JournalSequence, from: Revision, to: Revision, body: [UInt8]) {
        self.sequence = sequence
        self.from = from
        self.to = to
        self.body = body
    }
}

/// Which state a snapshot holds.
public struct SnapshotEntry: Hashable, Sendable {
    /// The last record that is contained.
    public let sequence: JournalSequence
    /// Where that state stands.
    public let revision: Revision

    /// Names a snapshot.
    public init(sequence: JournalSequence, revision: Revision) {
        self.sequence = sequence
        self.revision = revision
    }
}

/// A whole state, and all else that is needed to go on from there.
public struct JournalSnapshot: Hashable, Sendable {
    /// Which one.
    public let entry: SnapshotEntry
    /// What belongs to it beside the state, encoded: it is small.
    public let context: [UInt8]
    /// The state, encoded.
    public let state: [UInt8]

    /// A snapshot.
    public init(_ entry: SnapshotEntry, context: [UInt8], state: [UInt8]) {
        self.entry = entry
        self.context = context
        self.state = state
    }
}
