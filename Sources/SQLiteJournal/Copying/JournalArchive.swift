internal import Journal
package import StateCore
internal import SyncProtocol

/// A journal as a stream of bytes; see ``ArchiveItem`` for its form.
package enum JournalArchive {
    /// Writes a journal as it is now, also while a primary goes on writing it.
    ///
    /// - Parameter write: takes the bytes, in order.
    package static func export(_ journal: JournalReader, _ write: @escaping ([UInt8]) throws -> Void) throws {
        try journal.checkEnd()
        let contents = try journal.contents()
        var snapshots = try journal.snapshots()[...]
        guard let oldest = snapshots.popFirst() else { throw journal.directory.damaged("it has no snapshot") }
        var writer = ArchiveWriter(write)
        try writer.append(.identity(contents.identity))
        for epoch in contents.epochs { try writer.append(.epoch(epoch)) }
        try writer.append(.snapshot(journal.snapshot(oldest)))
        var last = oldest.sequence
        var failure: (any Error)?
        try journal.forEachRecord(after: oldest.sequence) { record throws(JournalFailure) in
            // Appended since.
            guard record.sequence <= contents.last else { return false }
            do {
                try writer.append(.record(record))
                last = record.sequence
                while let entry = snapshots.first, entry.sequence <= last {
                    // A primary may have forgotten it since.
                    if let snapshot = try journal.snapshotIfKept(entry) { try writer.append(.snapshot(snapshot)) }
                    snapshots.removeFirst()
                }
            } catch { failure = error }
            return failure == nil && last < contents.last
        }
        if let failure { throw failure }
        guard last == contents.last else { throw journal.directory.damaged("it ends before record \(contents.last)") }
        try writer.finish()
    }

    /// Makes a journal of an archive, under a new lineage.
    ///
    /// - Parameters:
    ///   - path: a directory that does not exist, or is empty.
    ///   - begun: when the new lineage begins.
    ///   - read: the next bytes of the archive, however many; `nil` at its end.
    /// - Throws: ``JournalFailure``; then nothing is left at the path.
    package static func `import`(
        to path: String,
        begun: Timestamp,
        _ read: @escaping () throws -> [UInt8]?
    ) throws -> JournalCopy {
        var reader = ArchiveReader(read)
        guard case .identity(let old) = try reader.next() else {
            throw reader.damaged("it does not say which store it is")
        }
        var epochs: [EpochStart] = []
        var item = try reader.next()
        while case .epoch(let start) = item {
            epochs.append(start)
            item = try reader.next()
        }
        guard case .snapshot(let first) = item else { throw reader.damaged("a snapshot was expected") }
        let identity = old.inNewLineage(begun: begun)
        var end = first.entry
        try JournalDraft.write(to: path, identity, from: first, as: .journal) { draft throws(JournalFailure) in
            try draft.claim(epochs)
            do { try take(&reader, into: draft) } catch let failure as JournalFailure { throw failure } catch {
                throw JournalFailure(.inputOutput, "\(error)")
            }
            end = draft.last
        }
        return JournalCopy(identity: identity, from: first.entry, to: end)
    }

    private static func take(_ reader: inout ArchiveReader, into draft: JournalDraft) throws {
        var records: [JournalRecord] = []
        while true {
            let count = reader.count
            let item = try reader.next()
            if case .record(let record) = item {
                records.append(record)
                if records.count < 256 { continue }
            }
            try draft.append(records)
            records = []
            switch item {
            case .record: continue
            case .snapshot(let snapshot) where snapshot.entry == draft.last: try draft.store(snapshot)
            case .end(count):
                try reader.requireEnd()
                return
            default: throw reader.damaged("it does not belong there")
            }
        }
    }
}
