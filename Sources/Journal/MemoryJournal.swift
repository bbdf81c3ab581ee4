public import SyncProtocol
internal import Threading

/// A journal that lives as long as its object: for tests and simulations, which end a primary and start another on it.
public final class MemoryJournal: Journal, CustomStringConvertible {
    private struct Storage {
        var identity: JournalIdentity?
        var epochs: [EpochStart] = []
        var records: [JournalRecord] = []
        /// The last sequence that was pruned, or that the history began with.
        var pruned = JournalSequence(0)
        var snapshots: [JournalSnapshot] = []
        /// The snapshot that the next one replaces.
        var interim: SnapshotEntry?
        var isOpen = false
        var bytes = 0
    }

    private let storage = Locked(Storage())
    private let bytesMax: Int

    /// What an acknowledged action is said to survive.
    public let durability: Durability
    /// Lives as long as the journal.
    public let reductions: ReductionNotes

    /// What it is.
    public var description: String { "in memory" }

    /// An empty journal.
    ///
    /// - Parameter bytesMax: how much room there is for the bodies of records; beyond, it is full.
    public init(durability: Durability = .full, bytesMax: Int = .max) {
        self.durability = durability
        self.bytesMax = bytesMax
        reductions = ReductionNotes()
    }

    /// Takes it, unless another primary has.
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

    /// Notes that an incarnation begins.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) { storage.withLock { $0.epochs.append(epoch) } }

    /// Appends all records, or none if there is no room.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        try storage.withLock { storage throws(JournalFailure) in
            let bytes = records.reduce(0) { $0 + $1.body.count }
            guard storage.bytes + bytes <= bytesMax else {
                throw JournalFailure(.storageFull, "the journal has room for \(bytesMax) bytes, all of it is taken")
            }
            for record in records {
                let last = storage.records.last?.sequence ?? storage.pruned
                precondition(record.sequence == last.next, "record \(record.sequence) cannot stand behind \(last)")
                storage.records.append(record)
            }
            storage.bytes += bytes
        }
    }

    /// The incarnations of the primary.
    public func epochs() throws(JournalFailure) -> [EpochStart] { storage.withLock { $0.epochs } }

    /// The records behind one.
    public func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try storage.withLock { storage throws(JournalFailure) in
            guard sequence >= storage.pruned else { throw .pruned(sequence.next) }
            var bytes = 0
            let behind = storage.records.dropFirst(sequence.distance(beyond: storage.pruned))
            let end = behind.firstIndex { record in
                bytes += record.body.count
                return bytes > bytesMax
            }
            return Array(behind[..<max(end ?? behind.endIndex, min(behind.startIndex + 1, behind.endIndex))])
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

    /// The snapshots that are kept.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { storage.withLock { $0.snapshots.map(\.entry) } }

    /// A snapshot.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        guard let snapshot = storage.withLock({ $0.snapshots.first { $0.entry == entry } }) else {
            throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        }
        return snapshot
    }

    /// Keeps a snapshot.
    public func store(_ snapshot: JournalSnapshot, isInterim: Bool) throws(JournalFailure) {
        storage.withLock { storage in
            let interim = storage.interim
            storage.snapshots.removeAll { $0.entry.sequence >= snapshot.entry.sequence || $0.entry == interim }
            storage.snapshots.append(snapshot)
            storage.interim = isInterim ? snapshot.entry : nil
        }
    }

    /// Forgets what lies before.
    public func prune(keeping historyBytes: Int) throws(JournalFailure) {
        storage.withLock { storage in
            while storage.snapshots.count > 2 {
                let start = storage.snapshots[1].entry.sequence
                let forgotten = storage.records.prefix(start.distance(beyond: storage.pruned))
                let bytes = forgotten.reduce(0) { $0 + $1.body.count }
                guard storage.bytes - bytes >= historyBytes else { return }
                storage.records.removeFirst(forgotten.count)
                storage.snapshots.removeFirst()
                storage.bytes -= bytes
                storage.pruned = start
            }
        }
    }

    /// Lets another primary have it.
    public func close() { storage.withLock { $0.isOpen = false } }
}

extension JournalFailure {
    static func pruned(_ sequence: JournalSequence) -> JournalFailure {
        JournalFailure(.pruned, "record \(sequence) is no longer kept")
    }
}
