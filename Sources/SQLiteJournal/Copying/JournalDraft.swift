internal import Foundation
internal import Journal
internal import SyncProtocol

/// A journal that is being written from what another one held. Until it is finished nobody takes it for one.
final class JournalDraft {
    private let directory: JournalDirectory
    private let marks: MarkPage
    private let records: RecordStore
    /// Where it ends.
    private(set) var last: SnapshotEntry

    /// Begins in a directory that is empty, and locked.
    private init(
        _ directory: JournalDirectory,
        _ identity: JournalIdentity,
        from snapshot: JournalSnapshot
    ) throws(JournalFailure) {
        self.directory = directory
        last = snapshot.entry
        try directory.makeSnapshotFolder()
        marks = try MarkPage(directory)
        try marks.prepare(identity, at: last)
        try marks.begin(as: .unfinished)
        // What matters is durable when it is finished, not before.
        records = try RecordStore(directory, .normal)
        try records.begin(identity, from: snapshot)
        try store(snapshot)
    }

    /// Writes a journal; if that fails, nothing is left of it.
    static func write(
        to path: String,
        _ identity: JournalIdentity,
        from snapshot: JournalSnapshot,
        as purpose: MarkPage.Purpose,
        _ body: (JournalDraft) throws(JournalFailure) -> Void
    ) throws(JournalFailure) {
        let directory = JournalDirectory(path: path)
        try directory.requireEmpty()
        try directory.make()
        let lock = try DirectoryLock(directory)
        defer { withExtendedLifetime(lock) {} }
        // Somebody else may have been quicker.
        try directory.requireEmpty(besidesLock: true)
        do throws(JournalFailure) {
            let draft = try JournalDraft(directory, identity, from: snapshot)
            try body(draft)
            try draft.finish(as: purpose)
        } catch {
            directory.removeJournal()
            throw error
        }
    }

    func claim(_ epochs: [EpochStart]) throws(JournalFailure) {
        for epoch in epochs {
            try records.claim(epoch)
            try marks.claim(epoch.epoch)
        }
    }

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        for record in records {
            guard record.sequence == last.sequence.next, record.from == last.revision, record.to >= record.from else {
                throw JournalFailure(
                    .damaged,
                    "record \(record.sequence) from revision \(record.from) does not follow record \(last.sequence) at "
                        + "revision \(last.revision)"
                )
            }
            last = SnapshotEntry(sequence: record.sequence, revision: record.to)
        }
        try self.records.append(records)
    }

    func store(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        try SnapshotFile(snapshot.entry, isInterim: false, in: directory).write(snapshot)
    }

    private func finish(as purpose: MarkPage.Purpose) throws(JournalFailure) {
        try records.checkpoint()
        records.close()
        for _ in 0..<2 { marks.acknowledge(last.sequence, last.revision) }
        try marks.flush()
        try directory.sync()
        try marks.begin(as: purpose)
    }
}
