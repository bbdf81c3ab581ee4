internal import Dispatch
internal import GRDB
public import Journal
internal import Locking
public import SyncProtocol

/// A journal in a directory: the records in an SQLite database with a write-ahead log, each snapshot in a file of its own,
/// and a page that says what was acknowledged.
///
/// The directory is locked while a primary has it. SQLite itself drops a damaged end of its log without a word; the page
/// of marks, and a checksum with each record, are there to notice.
public final class SQLiteJournal: Journal {
    private let directory: JournalDirectory
    private let storage = Locked<Opened?>(nil)

    /// What an acknowledged action survives.
    public let durability: Durability
    /// In the page of marks, from `open` on.
    public var reductions: ReductionNotes { opened.marks.reductions }

    /// What exists while it is open.
    private struct Opened: Sendable {
        let lock: DirectoryLock
        let marks: MarkPage
        let records: RecordStore
    }

    /// A journal in a directory, which is made when it is opened.
    public init(at path: String, durability: Durability = .full) {
        directory = JournalDirectory(path: path)
        self.durability = durability
    }

    private var opened: Opened {
        guard let opened = storage.withLock({ $0 }) else { preconditionFailure("the journal is not open") }
        return opened
    }

    /// Takes the directory, checks what is in it against the marks, and drops what was never acknowledged and is damaged.
    public func open() throws(JournalFailure) -> JournalContents? {
        try directory.make()
        let lock = try DirectoryLock(directory)
        let marks = try MarkPage(directory)
        try marks.checkServable(in: directory)
        guard directory.hasDatabase || !marks.isBegun else { throw directory.damaged("journal.sqlite is missing") }
        let records = try RecordStore(directory, durability)
        let contents = try records.contents()
        guard contents != nil || !marks.isBegun else {
            throw directory.damaged("journal.sqlite holds no history any more")
        }
        if let contents {
            try marks.check(contents, in: directory)
            try records.settleEnd(acknowledged: marks.acknowledged, snapshots: try directory.snapshots())
        }
        storage.withLock { $0 = Opened(lock: lock, marks: marks, records: records) }
        return try records.contents()
    }

    /// Begins a history in an empty journal.
    public func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        let opened = opened
        try SnapshotFile(snapshot.entry, in: directory).write(snapshot)
        opened.marks.prepare(identity.lineage, snapshot.entry.sequence, snapshot.entry.revision)
        try opened.records.begin(identity, at: snapshot.entry)
        opened.marks.begin()
    }

    /// Notes that an incarnation begins.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) {
        let opened = opened
        try opened.records.claim(epoch)
        opened.marks.claim(epoch.epoch)
    }

    /// Appends records in one transaction, and marks the last one as acknowledged.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        guard let last = records.last else { return }
        let opened = opened
        try opened.records.append(records)
        opened.marks.acknowledge(last.sequence, last.to)
        opened.records.checkpointIfDue(opened.marks)
    }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { try opened.records.epochs() }

    /// The records behind one.
    public func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        guard let oldest = try directory.snapshots().first, sequence >= oldest.sequence else {
            throw JournalFailure(.pruned, "record \(sequence.next) is no longer kept")
        }
        return try opened.records.records(after: sequence, bytesMax: bytesMax)
    }

    /// The last record that ends at or before a revision.
    public func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try opened.records.sequence(at: revision)
    }

    /// The snapshots that are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try directory.snapshots() }

    /// Reads a snapshot and checks it.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        try SnapshotFile(entry, in: directory).read()
    }

    /// Writes a snapshot beside the others, and reads it again.
    public func store(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        // A snapshot must not outlive what led to it.
        if durability != .full { try opened.records.checkpoint() }
        let file = SnapshotFile(snapshot.entry, in: directory)
        try file.write(snapshot)
        _ = try file.read()
    }

    /// Removes the oldest snapshots and the records before the oldest one that stays.
    public func prune(keeping historyBytes: Int) throws(JournalFailure) {
        let records = opened.records
        while true {
            let snapshots = try directory.snapshots()
            guard snapshots.count > 2, try records.bytes(after: snapshots[1].sequence) >= historyBytes else { return }
            // The snapshot last: without it the records could not be read, but not the other way round.
            try records.prune(through: snapshots[1].sequence)
            try SnapshotFile(snapshots[0], in: directory).remove()
        }
    }

    /// Writes what is left of the log into the database, and lets the directory go.
    public func close() {
        let opened = storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
        opened?.records.close()
        opened?.marks.flush()
    }
}
