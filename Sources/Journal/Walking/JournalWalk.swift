package import StateCoding
package import SyncProtocol

/// Follows a history in the shape in which it was recorded, record by record from a snapshot on, and checks all that can be
/// checked: that each record goes on where the last one ended, that its patch fits, and leads to what was published.
package struct JournalWalk: Sendable {
    /// The state.
    package private(set) var tree: Value
    /// Its digest and size.
    package private(set) var summary: Summary
    /// Where it stands.
    package private(set) var place: SnapshotEntry
    /// What the snapshot says beside the state.
    package let start: SnapshotContext

    private var sessions: SessionTable
    /// How many outcomes a session remembers does not matter to who only looks whether its numbers go on.
    private static let outcomesMax = 1

    /// Begins at a snapshot.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` if it is not what was published.
    package init(from snapshot: JournalSnapshot) throws(JournalFailure) {
        do {
            start = try SnapshotContext(decoding: snapshot.context)
            tree = try Value(decoding: snapshot.state)
        } catch {
            throw JournalFailure(
                .damaged,
                "the snapshot of revision \(snapshot.entry.revision) cannot be read: \(error)"
            )
        }
        summary = Summary(of: tree)
        guard summary == start.summary else {
            throw JournalFailure(
                .damaged,
                "the snapshot of revision \(snapshot.entry.revision) has the digest \(summary.digest), and "
                    + "\(start.summary.digest) was published"
            )
        }
        sessions = start.sessions
        place = snapshot.entry
    }

    /// Whether a snapshot holds what this walk came to.
    package func agrees(with snapshot: JournalSnapshot) throws(JournalFailure) -> Bool {
        let other = try JournalWalk(from: snapshot)
        return place == other.place && tree == other.tree && other.sessions.agrees(with: sessions)
    }

    /// Goes on by a record.
    ///
    /// - Returns: what the record holds.
    /// - Throws: ``JournalFailure`` with code `damaged`; then its place alone can still be relied on.
    @discardableResult
    package mutating func advance(by record: JournalRecord) throws(JournalFailure) -> BatchRecord {
        do {
            guard record.sequence == place.sequence.next, record.from == place.revision else {
                throw CodingFailure(.malformed, "it begins at revision \(record.from)")
            }
            let batch = try BatchRecord(decoding: record.body)
            guard batch.from == record.from, batch.to == record.to else {
                throw CodingFailure(.malformed, "it holds the revisions \(batch.from) to \(batch.to)")
            }
            try sessions.replay(batch, countMax: Self.outcomesMax, messageBytesMax: 0)
            if batch.to > batch.from { try Patch(decoding: batch.patch).apply(to: &tree, summary: &summary) }
            guard summary == Summary(digest: batch.digest, bytes: batch.bytes) else {
                throw CodingFailure(.malformed, "it leads to the digest \(summary.digest), not to \(batch.digest)")
            }
            place = SnapshotEntry(sequence: record.sequence, revision: record.to)
            return batch
        } catch {
            throw JournalFailure(
                .damaged,
                "from revision \(place.revision.next) on: record \(record.sequence) does not fit: \(error)"
            )
        }
    }
}
