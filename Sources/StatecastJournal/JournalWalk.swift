package import StatecastCoding
package import StatecastProtocol

/// Replays a history as an untyped state, record by record from a snapshot, and checks each record: that it continues
/// from the previous one, that its patch can be applied, and that it leads to the published digest.
package struct JournalWalk: Sendable {
    /// The state.
    package private(set) var tree: Value
    /// The digest and size of the state.
    package private(set) var summary: Summary
    package private(set) var place: SnapshotEntry
    /// The context of the snapshot.
    package let start: SnapshotContext

    private var sessions: SessionTable
    /// Only the continuity of a session's numbers is checked, so one remembered outcome suffices.
    private static let maxOutcomes = 1

    /// Begins at a snapshot.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` if its digest is wrong.
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

    /// Whether a snapshot holds the state and sessions to which the records led.
    package func agrees(with snapshot: JournalSnapshot) throws(JournalFailure) -> Bool {
        let other = try JournalWalk(from: snapshot)
        return place == other.place && tree == other.tree && other.sessions.agrees(with: sessions)
    }

    /// Applies a record.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`; then only ``place`` remains valid.
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
            try sessions.replay(batch, maxCount: Self.maxOutcomes, maxMessageBytes: 0)
            if batch.to > batch.from { try Patch(decoding: batch.patch).apply(to: &tree, summary: &summary) }
            guard summary == batch.summary else {
                throw CodingFailure(
                    .malformed,
                    "it leads to the digest \(summary.digest), not to \(batch.summary.digest)"
                )
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

extension JournalReading {
    /// Calls `body` with each record after `sequence`, in order, until it returns `false`.
    ///
    /// Reads some records at a time, and holds no lock in between: a primary that writes is not delayed.
    ///
    /// - Throws: ``JournalFailure``, after `body` was called with all records before the one that cannot be read.
    package func forEachRecord(
        after sequence: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        var last = sequence
        var maxBytes = 8 << 20
        while true {
            let records: [JournalRecord]
            do throws(JournalFailure) { records = try self.records(after: last, maxBytes: maxBytes) } catch {
                // One at a time, to read the records before the damage.
                guard error.code == .damaged, maxBytes > 1 else { throw error }
                maxBytes = 1
                continue
            }
            guard let end = records.last else { return }
            for record in records where try !body(record) { return }
            last = end.sequence
        }
    }

    /// Replays to the last batch boundary at or before a revision.
    ///
    /// - Throws: ``JournalFailure`` with code `pruned` if the records that led to it are no longer kept; with code
    ///   `damaged`.
    package func walk(to revision: Revision) throws(JournalFailure) -> JournalWalk {
        var walk = try JournalWalk(from: newestSnapshot(before: revision))
        try walkOn(&walk, to: revision)
        return walk
    }

    /// Continues to the last batch boundary at or before a revision.
    package func walkOn(_ walk: inout JournalWalk, to revision: Revision) throws(JournalFailure) {
        guard walk.place.revision < revision else { return }
        try forEachRecord(after: walk.place.sequence) { record throws(JournalFailure) in
            guard record.to <= revision else { return false }
            try walk.advance(by: record)
            // Later records may be damaged.
            return record.to < revision
        }
    }

    /// The newest intact snapshot: from an older one, more records lead to the same state.
    private func newestSnapshot(before revision: Revision) throws(JournalFailure) -> JournalSnapshot {
        let entries = try snapshots()
        var first: JournalFailure?
        for entry in entries.reversed() where entry.revision <= revision {
            do throws(JournalFailure) { return try snapshot(entry) } catch { first = first ?? error }
        }
        if let first { throw first }
        guard let oldest = entries.first else { throw JournalFailure(.damaged, "the journal has no snapshot") }
        throw pruned(revision, before: oldest)
    }

    /// - Throws: ``JournalFailure`` with code `pruned` if a revision is older than the oldest snapshot.
    package func requireKept(_ revision: Revision) throws(JournalFailure) {
        guard let oldest = try snapshots().first, revision < oldest.revision else { return }
        throw pruned(revision, before: oldest)
    }

    private func pruned(_ revision: Revision, before oldest: SnapshotEntry) -> JournalFailure {
        JournalFailure(
            .pruned,
            "revision \(revision) is no longer kept: the journal's history begins at revision \(oldest.revision)"
        )
    }
}

extension BatchRecord {
    /// Decodes a record.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`.
    package init(reading record: JournalRecord) throws(JournalFailure) {
        do { try self.init(decoding: record.body) } catch { throw record.unreadable(error) }
    }
}

extension JournalRecord {
    func unreadable(_ failure: CodingFailure) -> JournalFailure {
        JournalFailure(
            .damaged,
            "from revision \(from.next) on: record \(sequence) cannot be read: \(failure)"
        )
    }
}
