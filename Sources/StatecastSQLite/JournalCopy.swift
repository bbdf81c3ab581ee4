package import StatecastCore
import StatecastFiles
package import StatecastJournal
package import StatecastProtocol
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A copy of a journal that was made.
package struct JournalCopy: Sendable {
    package let identity: JournalIdentity
    /// The beginning of the history in the copy.
    package let from: SnapshotEntry
    /// The end of the history in the copy.
    package let to: SnapshotEntry
}

extension JournalIdentity {
    /// The same store with a new lineage: two primaries that continued one history would publish different states under
    /// the same revisions.
    func inNewLineage(begun: Timestamp) -> JournalIdentity {
        var generator = SystemRandom()
        return JournalIdentity(store: store, lineage: Lineage(using: &generator), begun: begun)
    }
}

extension JournalReader {
    /// Copies the present content of the journal, also while a primary writes to the journal.
    ///
    /// A primary refuses the copy; ``restore(to:begun:)`` creates a journal from it.
    package func backup(to path: String) throws(JournalFailure) -> JournalCopy {
        let copy = try copy(to: path, contents().identity, as: .backup)
        // For monitoring, unless this user may not. The one before may be of another user.
        unlink(directory.backupNote)
        _ = try? OpenFile(directory.backupNote, O_WRONLY | O_CREAT | O_TRUNC)
        return copy
    }

    /// Creates a journal from a backup or another journal: the same history with a new lineage.
    ///
    /// - Parameter begun: the time at which the new lineage begins.
    package func restore(to path: String, begun: Timestamp) throws(JournalFailure) -> JournalCopy {
        try copy(to: path, contents().identity.inNewLineage(begun: begun), as: .journal)
    }

    private func copy(
        to path: String,
        _ identity: JournalIdentity,
        as purpose: CommitMarkFile.Purpose
    ) throws(JournalFailure) -> JournalCopy {
        try checkEnd()
        return try JournalCopy.make(at: path, identity, contents(), as: purpose, from: self)
    }

    /// Moves the journal of a stopped primary to another place. When it is there, no primary may continue it here.
    ///
    /// - Parameters:
    ///   - place: where it is moved to. A move that was interrupted can be repeated to the same place only.
    ///   - copy: copies the journal, and checks the copy, unless an earlier move has completed it.
    ///   - release: lets the copy be used.
    /// - Throws: ``JournalFailure`` with code `in-use`, `misfit` or `damaged`, and what `copy` throws; then it stays
    ///   here.
    package static func move(
        _ path: String,
        to place: String,
        copy: (_ reader: JournalReader, _ isCompleted: Bool) throws(JournalFailure) -> Void,
        release: () throws(JournalFailure) -> Void
    ) throws(JournalFailure) {
        let directory = JournalDirectory(path: path)
        let reader = try JournalReader(at: path)
        let lock = try DirectoryLock(directory)
        defer { withExtendedLifetime(lock) {} }
        let marks = try CommitMarkFile(directory)
        let note = path + "/moved-to"
        let text = Array(place.utf8)
        let noted = try? OpenFile(note, O_RDONLY).read(text.count + 1, at: 0)
        let isRepeated = marks.purpose == .moving && noted == text
        if !isRepeated { try marks.checkServable() }
        try reader.checkEnd()
        try copy(reader, isRepeated)
        do throws(SystemFailure) { try OpenFile(note, O_WRONLY | O_CREAT | O_TRUNC).write(text[...], at: 0) } catch {
            throw directory.failed(error)
        }
        try marks.begin(as: .moving)
        try release()
        try marks.begin(as: .moved)
    }
}

extension JournalCopy {
    /// Removes a copy that was interrupted.
    ///
    /// - Returns: what the directory contains if it has a complete journal of the store.
    /// - Throws: ``JournalFailure`` if a journal cannot be made in the directory.
    package static func prepare(at path: String, for store: StoreName) throws(JournalFailure) -> JournalContents? {
        let directory = JournalDirectory(path: path)
        let purpose = (try? CommitMarkFile(reading: directory))?.purpose
        if purpose == .journal, let present = try? JournalReader(at: path).contents(), present.identity.store == store {
            return present
        }
        if purpose == .unfinished { directory.removeJournal() }
        try directory.requireEmpty()
        return nil
    }

    /// Creates a journal in a directory with the history of another one, and with its lineage.
    package static func make(
        at path: String,
        _ contents: JournalContents,
        from source: any JournalReading
    ) throws(JournalFailure) -> JournalCopy {
        try make(at: path, contents.identity, contents, as: .journal, from: source)
    }

    fileprivate static func make(
        at path: String,
        _ identity: JournalIdentity,
        _ contents: JournalContents,
        as purpose: CommitMarkFile.Purpose,
        from source: any JournalReading
    ) throws(JournalFailure) -> JournalCopy {
        let snapshots = try source.snapshots()
        guard let oldest = snapshots.first else {
            throw JournalFailure(.damaged, "the journal of the store \"\(identity.store)\" has no snapshot")
        }
        var end = oldest
        try JournalBuilder.write(to: path, identity, from: source.snapshot(oldest), as: purpose) {
            builder throws(JournalFailure) in
            try builder.claim(contents.epochs)
            try builder.appendRecords(through: contents.last) { last, body throws(JournalFailure) in
                try source.forEachRecord(after: last, body)
            }
            guard builder.last.sequence == contents.last else {
                throw JournalFailure(
                    .damaged,
                    "the journal of the store \"\(identity.store)\" ends at revision \(builder.last.revision), before "
                        + "record \(contents.last)"
                )
            }
            for entry in snapshots.dropFirst() where entry.sequence <= contents.last {
                do throws(JournalFailure) { try builder.store(source.snapshot(entry)) } catch {
                    if error.code != .pruned { throw error }
                }
            }
            end = builder.last
        }
        return JournalCopy(identity: identity, from: oldest, to: end)
    }
}

/// Writes a new journal with the content of another one. Until it is finished, the directory is marked as incomplete.
final class JournalBuilder {
    /// The bytes of records in one transaction.
    private static let bytesAtOnce = 4 << 20

    private let directory: JournalDirectory
    private let marks: CommitMarkFile
    private let records: RecordStore
    private(set) var last: SnapshotEntry

    /// - Parameter directory: empty and locked.
    private init(
        _ directory: JournalDirectory,
        _ identity: JournalIdentity,
        from snapshot: JournalSnapshot
    ) throws(JournalFailure) {
        self.directory = directory
        last = snapshot.entry
        try directory.makeSnapshotFolder()
        marks = try CommitMarkFile(directory)
        try marks.prepare(identity, at: last)
        try marks.begin(as: .unfinished)
        // Durable only when it is finished.
        records = try RecordStore(directory, .normal)
        try records.begin(identity, from: snapshot)
        try store(snapshot)
    }

    /// Writes a journal; removes it if that fails.
    static func write(
        to path: String,
        _ identity: JournalIdentity,
        from snapshot: JournalSnapshot,
        as purpose: CommitMarkFile.Purpose,
        _ body: (JournalBuilder) throws(JournalFailure) -> Void
    ) throws(JournalFailure) {
        let directory = JournalDirectory(path: path)
        try directory.requireEmpty()
        try directory.make()
        let lock = try DirectoryLock(directory)
        defer { withExtendedLifetime(lock) {} }
        // Another process may have created files before the lock was held.
        try directory.requireEmpty(besidesLock: true)
        do throws(JournalFailure) {
            let builder = try JournalBuilder(directory, identity, from: snapshot)
            try body(builder)
            try builder.finish(as: purpose)
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

    /// Calls `body` with each record after `last`, in order, until it returns `false`.
    typealias RecordSource = (
        _ last: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) -> Void

    /// Appends the records of a source after the last one, in batches.
    func appendRecords(through end: JournalSequence, from source: RecordSource) throws(JournalFailure) {
        var records: [JournalRecord] = []
        var bytes = 0
        guard last.sequence < end else { return }
        try source(last.sequence) { record throws(JournalFailure) in
            records.append(record)
            bytes += record.body.count
            if bytes >= Self.bytesAtOnce {
                try append(records)
                (records, bytes) = ([], 0)
            }
            return record.sequence < end
        }
        try append(records)
    }

    func store(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        try SnapshotFile(snapshot.entry, isInterim: false, in: directory).write(snapshot)
    }

    private func finish(as purpose: CommitMarkFile.Purpose) throws(JournalFailure) {
        try records.checkpoint()
        records.close()
        for _ in 0..<2 { marks.acknowledge(last) }
        try marks.flush()
        try directory.sync(directory.path)
        try marks.begin(as: purpose)
    }
}
