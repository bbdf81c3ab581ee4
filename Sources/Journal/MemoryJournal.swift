public import SyncProtocol
internal import Threading

/// A journal in memory, for tests and simulations that stop a primary and start another one with the same object.
public final class MemoryJournal: Journal, CustomStringConvertible {
    private struct Storage {
        var identity: JournalIdentity?
        var epochs: [EpochStart] = []
        var records: [JournalRecord] = []
        /// The last pruned record, or the one at which the history began.
        var pruned = JournalSequence(0)
        var snapshots: [JournalSnapshot] = []
        /// The snapshot that the next one replaces.
        var interim: SnapshotEntry?
        var isOpen = false
        var bytes = 0
    }

    private let storage = Locked(Storage())
    private let bytesMax: Int

    /// The durability that the journal reports.
    public let durability: Durability
    /// Exists as long as the journal.
    public let crashMarker = CrashMarker()

    /// "in memory".
    public var description: String { "in memory" }

    /// Creates an empty journal.
    ///
    /// - Parameter bytesMax: the most bytes of records; then the journal is full.
    public init(durability: Durability = .full, bytesMax: Int = .max) {
        self.durability = durability
        self.bytesMax = bytesMax
    }

    /// Locks the journal.
    public func open() throws(JournalFailure) -> JournalContents? {
        try storage.withLock { storage throws(JournalFailure) in
            guard !storage.isOpen else {
                throw JournalFailure(.inUse, "another primary of this process has the journal open")
            }
            storage.isOpen = true
            guard let identity = storage.identity else { return nil }
            return JournalContents(
                identity: identity,
                epochs: storage.epochs,
                last: storage.records.last?.sequence ?? storage.pruned
            )
        }
    }

    /// Begins a history.
    public func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        storage.withLock { storage in
            precondition(storage.identity == nil, "this journal has a history already")
            storage.identity = identity
            storage.snapshots = [snapshot]
            storage.pruned = snapshot.entry.sequence
        }
    }

    /// Notes the beginning of an incarnation.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) { storage.withLock { $0.epochs.append(epoch) } }

    /// Appends all records, or none if there is no room.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        try storage.withLock { storage throws(JournalFailure) in
            let bytes = records.reduce(0) { $0 + $1.body.count }
            guard storage.bytes + bytes <= bytesMax else {
                throw JournalFailure(.storageFull, "the journal has room for \(bytesMax) bytes, and is full")
            }
            for record in records {
                let last = storage.records.last?.sequence ?? storage.pruned
                precondition(record.sequence == last.next, "record \(record.sequence) cannot follow \(last)")
                storage.records.append(record)
            }
            storage.bytes += bytes
        }
    }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { storage.withLock { $0.epochs } }

    /// The records after one, oldest first.
    public func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try storage.withLock { storage throws(JournalFailure) in
            guard sequence >= storage.pruned else {
                throw JournalFailure(.pruned, "record \(sequence.next) is no longer kept")
            }
            var bytes = 0
            let later = storage.records.dropFirst(sequence.distance(beyond: storage.pruned))
            let end = later.firstIndex { record in
                bytes += record.body.count
                return bytes > bytesMax
            }
            return Array(later[..<max(end ?? later.endIndex, min(later.startIndex + 1, later.endIndex))])
        }
    }

    /// The last record that ends at or before a revision.
    public func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        storage.withLock { storage in
            guard let first = storage.records.first else {
                return storage.snapshots.last.flatMap { $0.entry.revision <= revision ? storage.pruned : nil }
            }
            guard first.from <= revision else { return nil }
            return storage.records.last { $0.to <= revision }?.sequence ?? storage.pruned
        }
    }

    /// The snapshots that are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { storage.withLock { $0.snapshots.map(\.entry) } }

    /// Reads a snapshot.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        guard let snapshot = storage.withLock({ $0.snapshots.first { $0.entry == entry } }) else {
            throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        }
        return snapshot
    }

    /// Stores a snapshot.
    public func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        storage.withLock { storage in
            let interim = storage.interim
            storage.snapshots.removeAll { $0.entry.sequence >= snapshot.entry.sequence || $0.entry == interim }
            storage.snapshots.append(snapshot)
            storage.interim = kind == .interim ? snapshot.entry : nil
        }
    }

    /// Removes the oldest snapshots, and the records before the oldest one that stays.
    public func prune(keeping historyBytes: Int) throws(JournalFailure) {
        storage.withLock { storage in
            while storage.snapshots.count > 2 {
                let start = storage.snapshots[1].entry.sequence
                let removed = storage.records.prefix(start.distance(beyond: storage.pruned))
                let bytes = removed.reduce(0) { $0 + $1.body.count }
                guard storage.bytes - bytes >= historyBytes else { return }
                storage.records.removeFirst(removed.count)
                storage.snapshots.removeFirst()
                storage.bytes -= bytes
                storage.pruned = start
            }
        }
    }

    /// Unlocks the journal.
    public func close() { storage.withLock { $0.isOpen = false } }
}
