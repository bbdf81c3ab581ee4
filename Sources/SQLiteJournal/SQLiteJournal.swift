internal import Dispatch
internal import GRDB
public import Journal
public import SyncProtocol
internal import Threading

/// A journal in a directory: the records in an SQLite database with a write-ahead log, each snapshot in a file of its own,
/// and a page that says what was acknowledged.
///
/// The directory is locked while a primary has it. SQLite itself drops a damaged end of its log without a word; the page
/// of marks, and a checksum with each record, are there to notice.
public final class SQLiteJournal: Journal, CustomStringConvertible {
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
        var files: OpenFiles
        /// Only reads until something is to be written.
        var records: RecordStore
        /// From here on records were never acknowledged and cannot be read: they go before anything is written.
        var firstLost: JournalSequence?
    }

    /// A journal in a directory, which is made when it is opened.
    public init(at path: String, durability: Durability = .full) {
        directory = JournalDirectory(path: path)
        self.durability = durability
    }

    /// The directory.
    public var description: String { directory.path }

    private var opened: Opened {
        guard let opened = storage.withLock({ $0 }) else { preconditionFailure("the journal is not open") }
        return opened
    }

    /// Opened for writing when that is asked for first. Closing what was opened for writing changes the files: whoever opens
    /// the journal, and then cannot go on with what it holds, leaves them as they are.
    private func writable() throws(JournalFailure) -> Opened {
        try storage.withLock { storage throws(JournalFailure) in
            guard var opened = storage else { preconditionFailure("the journal is not open") }
            guard opened.records.isReadOnly else { return opened }
            try opened.files.check()
            opened.records = try RecordStore(directory, durability)
            try opened.files.check()
            // With the log, which is there from now on.
            opened.files = try OpenFiles(directory)
            // One that ended while it began the history left that to do.
            if !opened.marks.isBegun { try opened.marks.begin() }
            if let firstLost = opened.firstLost.take() { try opened.records.drop(from: firstLost) }
            storage = opened
            return opened
        }
    }

    /// Takes the directory, and checks what is in it against the marks. What was never acknowledged and is damaged goes when
    /// something is written first.
    public func open() throws(JournalFailure) -> JournalContents? {
        try directory.make()
        let lock = try DirectoryLock(directory)
        try MarkPage.checkUnused(in: directory)
        let found = try FoundJournal(directory)
        try directory.makeSnapshotFolder()
        let marks = try MarkPage(directory)
        guard let found else {
            let records = try RecordStore(directory, durability)
            let files = try OpenFiles(directory)
            storage.withLock { $0 = Opened(lock: lock, marks: marks, files: files, records: records) }
            return nil
        }
        let files = try OpenFiles(directory)
        try directory.removeDrafts()
        storage.withLock {
            $0 = Opened(lock: lock, marks: marks, files: files, records: found.records, firstLost: found.firstLost)
        }
        return found.contents
    }

    /// Begins a history in an empty journal.
    public func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        let opened = try writable()
        try SnapshotFile(snapshot.entry, isInterim: false, in: directory).write(snapshot)
        try opened.marks.prepare(identity, at: snapshot.entry)
        try opened.records.begin(identity, from: snapshot)
        try opened.marks.begin()
    }

    /// Notes that an incarnation begins.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) {
        let opened = try writable()
        try opened.records.claim(epoch)
        // Nobody may learn of an epoch that could begin again.
        try directory.syncLog()
        try opened.marks.claim(epoch.epoch)
        try opened.files.check()
    }

    /// Appends records in one transaction, and marks the last one as acknowledged.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        guard let last = records.last else { return }
        let opened = try writable()
        try opened.records.append(records)
        try opened.files.check()
        opened.marks.acknowledge(last.sequence, last.to)
        opened.records.checkpointIfDue(opened.marks)
    }

    /// Checks that the database, its log and the page of marks are those that were opened.
    public func checkPlace() throws(JournalFailure) { try opened.files.check() }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { try opened.records.epochs() }

    /// The records behind one.
    public func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        let opened = opened
        guard opened.firstLost != sequence.next else { return [] }
        guard let oldest = try opened.records.snapshots().first, sequence >= oldest.sequence else {
            throw JournalFailure(.pruned, "record \(sequence.next) is no longer kept")
        }
        let records = try opened.records.records(after: sequence, bytesMax: bytesMax)
        // SQLite may have opened a connection for this: by the path.
        try opened.files.check()
        return records
    }

    /// The last record that ends at or before a revision.
    public func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try opened.records.sequence(at: revision)
    }

    /// The snapshots that are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try opened.records.snapshots() }

    /// Reads a snapshot and checks it.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        do throws(JournalFailure) { return try SnapshotFile(entry, in: directory).read() } catch {
            guard error.code == .pruned, try opened.records.snapshots().contains(entry) else { throw error }
            throw directory.damaged("the file of the snapshot of revision \(entry.revision) is missing")
        }
    }

    /// The snapshot at which the history begins, as the database keeps it beside its file.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { try opened.records.origin() }

    /// Writes a snapshot beside the others, and reads it again.
    public func store(_ snapshot: JournalSnapshot, isInterim: Bool) throws(JournalFailure) {
        // The path may lead to another journal.
        try checkPlace()
        // Its folder may have been removed.
        try directory.makeSnapshotFolder()
        // A snapshot must not outlive what led to it.
        if durability != .full { try directory.syncLog() }
        let file = SnapshotFile(snapshot.entry, isInterim: isInterim, in: directory)
        try file.write(snapshot)
        do throws(JournalFailure) { _ = try file.read() } catch {
            try file.remove()
            throw error
        }
        try file.removeInterim()
    }

    /// Removes the oldest snapshots and the records before the oldest one that stays.
    public func prune(keeping historyBytes: Int) throws(JournalFailure) {
        let opened = try writable()
        let records = opened.records
        while true {
            try opened.files.check()
            let snapshots = try records.snapshots()
            for entry in try directory.snapshots() where !snapshots.contains(entry) {
                try SnapshotFile(entry, in: directory).remove()
            }
            guard snapshots.count > 2, try records.bytes(after: snapshots[1].sequence) >= historyBytes else { return }
            try records.prune(through: snapshots[1].sequence)
        }
    }

    /// Writes what is left of the log into the database, and lets the directory go.
    public func close() {
        let opened = storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
        opened?.records.close()
        try? opened?.marks.flush()
    }
}
