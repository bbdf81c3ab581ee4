package import Journal
package import StateCore
internal import SyncProtocol

/// What was copied.
package struct JournalCopy: Sendable {
    /// What the copy is about.
    package let identity: JournalIdentity
    /// Where the history begins that it holds.
    package let from: SnapshotEntry
    /// Where it ends.
    package let to: SnapshotEntry
}

extension JournalIdentity {
    /// The same store, in a history of its own: two primaries that went on with one history would both give out its
    /// revisions, and nobody could tell theirs apart.
    func inNewLineage(begun: Timestamp) -> JournalIdentity {
        var generator = SystemRandomNumberGenerator()
        return JournalIdentity(store: store, lineage: Lineage(using: &generator), begun: begun)
    }
}

extension JournalReader {
    /// Copies the journal as it is now, also while a primary goes on writing it.
    ///
    /// A primary refuses the copy; ``restore(to:begun:)`` makes a journal of it.
    package func backup(to path: String) throws(JournalFailure) -> JournalCopy {
        try copy(to: path, contents().identity, as: .backup)
    }

    /// Makes a journal of a backup (or of any other journal): the same history, under a new lineage.
    ///
    /// - Parameter begun: when the new lineage begins.
    package func restore(to path: String, begun: Timestamp) throws(JournalFailure) -> JournalCopy {
        try copy(to: path, contents().identity.inNewLineage(begun: begun), as: .journal)
    }

    private func copy(
        to path: String,
        _ identity: JournalIdentity,
        as purpose: MarkPage.Purpose
    ) throws(JournalFailure) -> JournalCopy {
        try checkEnd()
        let contents = try contents()
        let snapshots = try snapshots()
        guard let oldest = snapshots.first else { throw directory.damaged("it has no snapshot") }
        var end = oldest
        try JournalDraft.write(to: path, identity, from: snapshot(oldest), as: purpose) {
            draft throws(JournalFailure) in
            try draft.claim(contents.epochs)
            try draft.takeRecords(through: contents.last) { last, body throws(JournalFailure) in
                try forEachRecord(after: last, body)
            }
            guard draft.last.sequence == contents.last else {
                throw directory.damaged("it ends at revision \(draft.last.revision), before record \(contents.last)")
            }
            for entry in snapshots.dropFirst() where entry.sequence <= contents.last {
                if let snapshot = try snapshotIfKept(entry) { try draft.store(snapshot) }
            }
            end = draft.last
        }
        return JournalCopy(identity: identity, from: oldest, to: end)
    }
}

extension JournalDraft {
    /// So many bytes of records are written at once.
    private static let bytesAtOnce = 4 << 20

    /// Calls the body with each record after one, in order, until it asks to stop.
    typealias RecordSource = (
        _ last: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) -> Void

    /// Takes over the records behind its last one.
    func takeRecords(through end: JournalSequence, from source: RecordSource) throws(JournalFailure) {
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
}
