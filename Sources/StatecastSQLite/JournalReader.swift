public import StatecastJournal
public import StatecastProtocol

/// Reads a journal in a directory, also while a primary writes it. It changes
/// nothing; a backup is noted in a file beside it.
///
/// ```swift
/// let journal = try JournalReader(at: "/var/lib/statecast/fleet")
/// print(try journal.contents().identity.lineage)
/// ```
public final class JournalReader: JournalReading {
    let directory: JournalDirectory
    let records: RecordStore
    private let marks: Result<CommitMarkFile, JournalFailure>

    /// Opens an existing journal.
    ///
    /// - Throws: `JournalFailure` with code `input-output` if there is no journal, `newer-format` or `damaged`; with
    ///   code `misfit` for an incomplete copy.
    public convenience init(at path: String) throws(JournalFailure) {
        try self.init(describing: path)
        if case .success(let marks) = marks { try marks.checkFinished() }
    }

    /// Opens a journal or an incomplete copy.
    private init(describing path: String) throws(JournalFailure) {
        directory = JournalDirectory(path: path)
        try directory.requireName()
        guard directory.hasDatabase else { throw directory.absent }
        try directory.requireReadable()
        let directory = directory
        marks = Result { () throws(JournalFailure) in try CommitMarkFile(reading: directory) }
        records = try RecordStore(reading: directory)
        guard try records.identity() != nil else {
            if (try? marks.get())?.isBegun == true {
                throw directory.damaged("journal.sqlite no longer holds a history")
            }
            throw JournalFailure(.inputOutput, "the journal \(path) holds no history yet")
        }
    }

    /// Reads the rest of a damaged journal, without checks.
    init(_ directory: JournalDirectory, _ records: RecordStore) {
        self.directory = directory
        self.records = records
        marks = .failure(directory.damaged("the file \"marks\" is not read"))
    }

    deinit { records.close() }

    /// The journal's present content.
    public func contents() throws(JournalFailure) -> JournalContents {
        guard let contents = try records.contents() else {
            throw directory.damaged("journal.sqlite no longer holds a history")
        }
        return contents
    }

    /// A description of the process that has the journal open; `nil` if it is not open.
    public var holder: String? { DirectoryLock.holder(of: directory) }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { try records.epochs() }

    /// The records after one, oldest first.
    public func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        do throws(JournalFailure) { return try records.records(after: sequence, maxBytes: maxBytes) } catch {
            throw pruned(error, through: sequence.next)
        }
    }

    /// The failure to report for one that was met while reading a record: a primary may have pruned the record since.
    func pruned(_ failure: JournalFailure, through sequence: JournalSequence) -> JournalFailure {
        guard failure.code == .damaged, let oldest = try? snapshots().first, oldest.sequence >= sequence else {
            return failure
        }
        return JournalFailure(
            .pruned,
            "record \(sequence) is no longer kept: the journal's history begins at revision \(oldest.revision)"
        )
    }

    /// The last record that ends at or before a revision.
    public func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try records.sequence(at: revision)
    }

    /// The snapshots that are kept and whose later records are kept, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try records.snapshots() }

    /// Reads and checks a snapshot: the first one from the database, if its file cannot be read.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        do throws(JournalFailure) { return try SnapshotFile(entry, in: directory).read() } catch {
            if let origin = try? origin(), origin.entry == entry { return origin }
            guard try directory.snapshots().contains(entry) else {
                throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
            }
            throw error
        }
    }

    /// The copy in the database of the snapshot at which the history begins.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { try records.origin() }

    /// Reads a snapshot; `nil` if a primary has pruned it since it was listed.
    func snapshotIfKept(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot? {
        do throws(JournalFailure) { return try snapshot(entry) } catch {
            guard error.code == .pruned else { throw error }
            return nil
        }
    }

    /// The last record that was acknowledged.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` if that cannot be read.
    package func acknowledged() throws(JournalFailure) -> SnapshotEntry {
        let marks = try marks.get()
        // A primary may be writing one of the two slots.
        for _ in 0..<100 {
            if let acknowledged = marks.acknowledged { return acknowledged }
        }
        throw directory.damaged("the file \"marks\", which notes the last acknowledged record, cannot be read")
    }

    // MARK: End of the history

    /// Checks that all acknowledged records are there, and that the file "marks" belongs to the journal.
    func checkEnd() throws(JournalFailure) {
        // Read before the end: a primary may append in between.
        let acknowledged = try acknowledged()
        try checkMarks()
        let end = try end()
        guard end.sequence >= acknowledged.sequence else { throw directory.lacks(acknowledged, end: end) }
    }

    /// Checks that the file "marks" belongs to the journal.
    func checkMarks() throws(JournalFailure) { try marks.get().check(contents()) }

    private func end() throws(JournalFailure) -> SnapshotEntry {
        let last = try contents().last
        if let revision = try records.revision(at: last) { return SnapshotEntry(sequence: last, revision: revision) }
        guard let entry = try snapshots().first(where: { $0.sequence == last }) else {
            throw directory.damaged("it has neither a record nor a snapshot \(last)")
        }
        return entry
    }

    // MARK: Summary

    /// Summarizes a journal or an incomplete copy.
    package static func info(at path: String) throws(JournalFailure) -> JournalInfo {
        try JournalReader(describing: path).info()
    }

    package func info() throws(JournalFailure) -> JournalInfo {
        // Read before the end: a primary may append in between.
        let acknowledged = try? acknowledged()
        let contents = try contents()
        let size = try records.size()
        let snapshots = try snapshots()
        return JournalInfo(
            purpose: purpose,
            identity: contents.identity,
            epochs: contents.epochs,
            oldest: snapshots.first,
            last: try end(),
            acknowledged: acknowledged,
            recordCount: size.count,
            recordBytes: size.bytes,
            snapshots: snapshots.map { ($0, SnapshotFile($0, in: directory).byteCount) },
            holder: holder
        )
    }

    private var purpose: JournalInfo.Purpose {
        switch (try? marks.get())?.purpose {
        case .journal: .journal
        case .backup: .backup
        case .unfinished: .unfinished
        case .moving, .moved: .moved
        default: .unknown
        }
    }
}

/// A summary of a journal, made without reading all of it.
package struct JournalInfo: Sendable {
    package enum Purpose: String, Sendable { case journal, backup, unfinished, moved, unknown }

    package let purpose: Purpose
    package let identity: JournalIdentity
    package let epochs: [EpochStart]
    /// The beginning of the history that is kept.
    package let oldest: SnapshotEntry?
    package let last: SnapshotEntry
    /// `nil` if it cannot be read.
    package let acknowledged: SnapshotEntry?
    package let recordCount: Int
    package let recordBytes: Int
    package let snapshots: [(entry: SnapshotEntry, bytes: Int)]
    /// A description of the process that has the journal open.
    package let holder: String?
}
