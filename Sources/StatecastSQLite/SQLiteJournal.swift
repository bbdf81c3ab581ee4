public import StatecastJournal
public import StatecastProtocol
import StatecastThreading

/// A journal in a directory: the records in an SQLite database with a write-ahead log, a file for each snapshot, and a
/// file that notes the last acknowledged record.
///
/// The directory is locked while a primary has it open. SQLite drops a damaged end of its log silently; the note of the
/// last acknowledged record and a checksum in each record detect it.
public final class SQLiteJournal: MeasurableJournal, CustomStringConvertible {
    private let directory: JournalDirectory
    private let storage = Locked<Opened?>(nil)

    /// The failures that an acknowledged action survives.
    public let durability: Durability
    /// A part of the file "marks", available while the journal is open.
    public var crashMarker: CrashMarker { opened.marks.crashMarker }

    private struct Opened: Sendable {
        let lock: DirectoryLock
        let marks: CommitMarkFile
        var files: OpenedFiles
        /// Read-only until the first write.
        var records: RecordStore
        /// The first of the records that were never acknowledged and cannot be read. The first write removes them.
        var firstLost: JournalSequence?
    }

    /// A journal in a directory, which ``open()`` creates if it does not exist.
    public init(at path: String, durability: Durability = .full) {
        directory = JournalDirectory(path: path)
        self.durability = durability
    }

    /// The directory's path.
    public var description: String { directory.path }

    private var opened: Opened {
        guard let opened = storage.withLock({ $0 }) else { preconditionFailure("the journal is not open") }
        return opened
    }

    /// Opens the database for writing at the first call. Closing a database that is open for writing changes its files:
    /// a primary that opens the journal and cannot continue from its content must leave them unchanged.
    private func writable() throws(JournalFailure) -> Opened {
        try storage.withLock { storage throws(JournalFailure) in
            guard var opened = storage else { preconditionFailure("the journal is not open") }
            guard opened.records.isReadOnly else { return opened }
            try opened.files.check()
            opened.records = try RecordStore(directory, durability)
            try opened.files.check()
            // Includes the log, which exists from now on.
            opened.files = try OpenedFiles(directory)
            // An earlier process ended between beginning the history and marking it as begun.
            if !opened.marks.isBegun { try opened.marks.begin() }
            if let firstLost = opened.firstLost.take() { try opened.records.drop(from: firstLost) }
            storage = opened
            return opened
        }
    }

    /// Locks the directory, and checks its content against the last acknowledged record. The first write removes
    /// damaged records that were never acknowledged.
    public func open() throws(JournalFailure) -> JournalContents? {
        try directory.make()
        let lock = try DirectoryLock(directory)
        try CommitMarkFile.checkUnused(in: directory)
        let found = try JournalInspection(directory)
        try directory.makeSnapshotFolder()
        let marks = try CommitMarkFile(directory)
        let records = if let found { found.records } else { try RecordStore(directory, durability) }
        let files = try OpenedFiles(directory)
        if found != nil { try SnapshotFile.removeTemporaryFiles(in: directory) }
        storage.withLock {
            $0 = Opened(lock: lock, marks: marks, files: files, records: records, firstLost: found?.firstLost)
        }
        return found?.contents
    }

    /// Begins a history in an empty journal; durable on return.
    public func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        let opened = try writable()
        try SnapshotFile(snapshot.entry, isInterim: false, in: directory).write(snapshot)
        try opened.marks.prepare(identity, at: snapshot.entry)
        try opened.records.begin(identity, from: snapshot)
        try opened.marks.begin()
    }

    /// Notes that an incarnation begins; durable on return.
    public func claim(_ epoch: EpochStart) throws(JournalFailure) {
        let opened = try writable()
        try opened.records.claim(epoch)
        // An epoch is published only when no later incarnation can reuse it.
        try directory.syncLog()
        // The incarnation publishes what it has found, also a record that no earlier one has acknowledged.
        if let last = try opened.records.last() { opened.marks.acknowledge(last) }
        try opened.marks.claim(epoch.epoch)
        try opened.files.check()
    }

    /// Appends records in one transaction, and notes the last one as acknowledged.
    public func append(_ records: [JournalRecord]) throws(JournalFailure) {
        guard let last = records.last else { return }
        let opened = try writable()
        try opened.records.append(records)
        try opened.files.check()
        opened.marks.acknowledge(SnapshotEntry(sequence: last.sequence, revision: last.to))
        opened.records.checkpointIfDue(opened.marks)
    }

    /// Checks that the database, its log and the file "marks" are those that were opened.
    public func checkPlace() throws(JournalFailure) { try opened.files.check() }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { try opened.records.epochs() }

    /// The records after one, oldest first.
    public func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        let opened = opened
        guard opened.firstLost != sequence.next else { return [] }
        guard let oldest = try opened.records.snapshots().first, sequence >= oldest.sequence else {
            throw JournalFailure(.pruned, "record \(sequence.next) is no longer kept")
        }
        let records = try opened.records.records(after: sequence, maxBytes: maxBytes)
        // Removed files can still be read, and another primary may have begun a history in their place.
        try opened.files.check()
        return records
    }

    /// The snapshots that are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try opened.records.snapshots() }

    /// Reads and checks a snapshot.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        do throws(JournalFailure) { return try SnapshotFile(entry, in: directory).read() } catch {
            guard error.code == .pruned, try opened.records.snapshots().contains(entry) else { throw error }
            throw directory.damaged("the file of the snapshot of revision \(entry.revision) is missing")
        }
    }

    /// The copy in the database of the snapshot at which the history begins.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { try opened.records.origin() }

    /// Writes a snapshot, and reads it again.
    public func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        // The path may lead to another journal, and the folder may have been removed.
        try checkPlace()
        try directory.makeSnapshotFolder()
        // The records that led to a snapshot must be durable before it.
        if durability != .full { try directory.syncLog() }
        let file = SnapshotFile(snapshot.entry, isInterim: kind == .interim, in: directory)
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

    package func measure() throws(JournalFailure) -> JournalSize {
        let snapshots = try snapshots()
        return JournalSize(
            bytes: directory.bytes,
            oldest: snapshots.first?.revision ?? Revision(0),
            lastSnapshot: snapshots.last.flatMap { SnapshotFile($0, in: directory).time },
            lastBackup: JournalDirectory.time(directory.backupNote)
        )
    }

    /// Writes the rest of the log into the database, and unlocks the directory.
    public func close() {
        let opened = storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
        opened?.records.close()
        try? opened?.marks.flush()
    }
}

/// The content of a journal at a start, checked against the last acknowledged record.
///
/// All checks that can refuse a start run before SQLite opens the database for writing: it would drop a damaged end of
/// the log, write the rest into the database and remove the log, after which nothing could be repaired.
private struct JournalInspection {
    /// Read-only.
    let records: RecordStore
    /// The content without lost records.
    let contents: JournalContents
    /// The first damaged record; it was never acknowledged.
    let firstLost: JournalSequence?

    /// Returns `nil` if no history has begun. Changes no file.
    init?(_ directory: JournalDirectory) throws(JournalFailure) {
        let result = Result { () throws(JournalFailure) in try CommitMarkFile(reading: directory) }
        let marks = try? result.get()
        try marks?.checkServable()
        let isBegun = marks?.isBegun ?? false
        if !isBegun && directory.isUnbegun { return nil }
        records = try RecordStore(reading: directory)
        guard let contents = try records.contents() else {
            // Before a history has begun, there is at most its first snapshot.
            if !isBegun, try directory.snapshots().count <= 1 { return nil }
            throw directory.damaged("journal.sqlite no longer holds a history")
        }
        guard let snapshot = try records.snapshots().last else { throw directory.damaged("it has no snapshot") }
        let acknowledged = try result.get().check(contents)
        let lost = try records.checkEnd(contents.last, acknowledged: acknowledged, snapshot)
        var droppedCount = 0
        if let lost { droppedCount = try records.count(from: lost) }
        firstLost = lost
        self.contents = JournalContents(
            identity: contents.identity,
            epochs: contents.epochs,
            last: lost.map { JournalSequence($0.rawValue - 1) } ?? contents.last,
            droppedCount: droppedCount
        )
    }
}
