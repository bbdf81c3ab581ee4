internal import Foundation
public import Journal
public import SyncProtocol

/// Looks at a journal in a directory, also while a primary writes it, and changes nothing in it.
///
/// ```swift
/// let journal = try JournalReader(at: "/var/lib/statecast/fleet")
/// print(try journal.contents().identity.lineage)
/// ```
public final class JournalReader: JournalReading {
    let directory: JournalDirectory
    let records: RecordStore
    /// What was acknowledged; or why that cannot be read.
    let marks: Result<MarkPage, JournalFailure>

    /// Opens a journal that exists.
    ///
    /// - Throws: `JournalFailure` with code `input-output` if there is none, `newer-format` or `damaged`; with code `misfit`
    ///   for a copy that was interrupted.
    public convenience init(at path: String) throws(JournalFailure) {
        try self.init(describing: path)
        if (try? marks.get())?.purpose == .unfinished { throw MarkPage.unfinished(directory) }
    }

    /// Opens also what was not copied to its end: to say so.
    init(describing path: String) throws(JournalFailure) {
        directory = JournalDirectory(path: path)
        try directory.requireName()
        guard directory.hasDatabase else { throw directory.absent }
        try directory.requireReadable()
        let directory = directory
        marks = Result { () throws(JournalFailure) in try MarkPage(reading: directory) }
        records = try RecordStore(reading: directory)
        guard try records.identity() != nil else {
            if (try? marks.get())?.isBegun == true {
                throw directory.damaged("journal.sqlite holds no history any more")
            }
            throw JournalFailure(.inputOutput, "the journal \(path) holds no history yet")
        }
    }

    /// For a journal of which not all can be read: nothing is checked, and the marks are nobody's concern.
    init(_ directory: JournalDirectory, _ records: RecordStore) {
        self.directory = directory
        self.records = records
        marks = .failure(directory.damaged("the file \"marks\" is not read"))
    }

    deinit { records.close() }

    /// What it holds at the moment.
    public func contents() throws(JournalFailure) -> JournalContents {
        guard let contents = try records.contents() else {
            throw directory.damaged("journal.sqlite holds no history any more")
        }
        return contents
    }

    /// Who writes it, in words; `nil` if nobody does.
    public var holder: String? { DirectoryLock.holder(of: directory) }

    /// The incarnations of the primary, oldest first.
    public func epochs() throws(JournalFailure) -> [EpochStart] { try records.epochs() }

    /// The records behind one.
    public func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        do throws(JournalFailure) { return try records.records(after: sequence, bytesMax: bytesMax) } catch {
            // A primary may have forgotten them since.
            guard error.code == .damaged, let oldest = try snapshots().first, oldest.sequence > sequence else {
                throw error
            }
            throw JournalFailure(
                .pruned,
                "record \(sequence.next) is no longer kept: the journal's history begins at revision \(oldest.revision)"
            )
        }
    }

    /// The last record that ends at or before a revision.
    public func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try records.sequence(at: revision)
    }

    /// The snapshots that are kept and lead to the end, oldest first.
    public func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        try records.snapshots()
    }

    /// Reads a snapshot and checks it: the first one from the database, if its file cannot be read.
    public func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        do throws(JournalFailure) { return try SnapshotFile(entry, in: directory).read() } catch {
            if let origin = try? origin(), origin.entry == entry { return origin }
            guard try directory.snapshots().contains(entry) else {
                throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
            }
            throw error
        }
    }

    /// The snapshot at which the history begins, as the database keeps it beside its file.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { try records.origin() }

    /// Reads a snapshot; `nil` if a primary has forgotten it since it was listed.
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
        // A primary may be writing one of the two places.
        for _ in 0..<100 {
            if let mark = marks.acknowledged { return SnapshotEntry(sequence: mark.sequence, revision: mark.revision) }
        }
        throw directory.damaged("the file \"marks\", which says what was acknowledged, cannot be read")
    }
}
