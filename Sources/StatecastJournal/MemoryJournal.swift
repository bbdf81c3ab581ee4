public import StatecastProtocol
import StatecastThreading

/// A journal in memory, for tests and simulations that stop a primary and start another one with the same object.
public final class MemoryJournal: Journal, CustomStringConvertible {
    private struct Storage {
        var image = JournalImage()
        var isOpen = false
    }

    private let storage = Locked(Storage())
    private let maxBytes: Int

    /// The durability that the journal reports.
    public let durability: Durability
    /// Exists as long as the journal.
    public let crashMarker = CrashMarker()

    /// "in memory".
    public var description: String { "in memory" }

    /// Creates an empty journal.
    ///
    /// - Parameter maxBytes: the most bytes of records; then the journal is full.
    public init(durability: Durability = .full, maxBytes: Int = .max) {
        self.durability = durability
        self.maxBytes = maxBytes
    }

    /// Locks the journal.
    public func open() throws(JournalFailure) -> JournalContents? {
        try storage.withLock { storage throws(JournalFailure) in
            guard !storage.isOpen else {
                throw JournalFailure(.inUse, "another primary of this process has the journal open")
            }
            storage.isOpen = true
            return storage.image.contents
        }
    }

    /// Begins a history.
    public func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        storage.withLock { $0.image.begin(identity, from: snapshot) }
    }

    /// Notes the beginning of an incarnation.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) { storage.withLock { $0.image.claim(epoch) } }

    /// Appends all records, or none if there is no room.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        try storage.withLock { storage throws(JournalFailure) in
            let bytes = records.reduce(storage.image.recordBytes) { $0 + $1.body.count }
            guard bytes <= maxBytes else {
                throw JournalFailure(.storageFull, "the journal has room for \(maxBytes) bytes, and is full")
            }
            storage.image.append(records)
        }
    }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { storage.withLock { $0.image.epochs } }

    /// The records after one, oldest first.
    public func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        try storage.withLock { storage throws(JournalFailure) in
            try storage.image.records(after: sequence, maxBytes: maxBytes)
        }
    }

    /// The snapshots that are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { storage.withLock { $0.image.snapshots } }

    /// Reads a snapshot.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        try storage.withLock { storage throws(JournalFailure) in try storage.image.snapshot(entry) }
    }

    /// Stores a snapshot.
    public func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        storage.withLock { $0.image.store(snapshot, as: kind) }
    }

    /// Removes the oldest snapshots, and the records before the oldest one that stays.
    public func prune(keeping historyBytes: Int) throws(JournalFailure) {
        storage.withLock { $0.image.prune(keeping: historyBytes) }
    }

    /// Unlocks the journal.
    public func close() { storage.withLock { $0.isOpen = false } }
}
