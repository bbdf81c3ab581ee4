package import SyncProtocol

extension JournalReading {
    /// Hands over the records behind one, in order, until the body has seen enough.
    ///
    /// It reads some at a time and holds nothing meanwhile: a primary that writes here is not held up.
    ///
    /// - Parameter body: says whether to go on.
    /// - Throws: ``JournalFailure``; all records before the one that cannot be read were handed over.
    package func forEachRecord(
        after sequence: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        var last = sequence
        var bytesMax = 8 << 20
        while true {
            let records: [JournalRecord]
            do throws(JournalFailure) { records = try self.records(after: last, bytesMax: bytesMax) } catch {
                // One at a time: what lies before the damage can be read.
                guard error.code == .damaged, bytesMax > 1 else { throw error }
                bytesMax = 1
                continue
            }
            guard let end = records.last else { return }
            for record in records where try !body(record) { return }
            last = end.sequence
        }
    }

    /// Goes to the last batch boundary at or before a revision.
    ///
    /// - Throws: ``JournalFailure`` with code `pruned` if what led there is no longer kept; with code `damaged`.
    package func walk(to revision: Revision) throws(JournalFailure) -> JournalWalk {
        var walk = try JournalWalk(from: newestSnapshot(before: revision))
        try walkOn(&walk, to: revision)
        return walk
    }

    /// Goes on to the last batch boundary at or before a revision.
    package func walkOn(_ walk: inout JournalWalk, to revision: Revision) throws(JournalFailure) {
        guard walk.place.revision < revision else { return }
        try forEachRecord(after: walk.place.sequence) { record throws(JournalFailure) in
            guard record.to <= revision else { return false }
            try walk.advance(by: record)
            // What lies behind it need not be whole.
            return record.to < revision
        }
    }

    /// The newest one that is whole: from an older one more records lead to the same state.
    private func newestSnapshot(before revision: Revision) throws(JournalFailure) -> JournalSnapshot {
        let entries = try snapshots()
        var first: JournalFailure?
        for entry in entries.reversed() where entry.revision <= revision {
            do throws(JournalFailure) { return try snapshot(entry) } catch { first = first ?? error }
        }
        if let first { throw first }
        guard let oldest = entries.first else { throw JournalFailure(.damaged, "the journal has no snapshot") }
        throw pruned(revision, behind: oldest)
    }

    /// - Throws: ``JournalFailure`` with code `pruned` if a revision lies before all that is kept.
    package func requireKept(_ revision: Revision) throws(JournalFailure) {
        guard let oldest = try snapshots().first, revision < oldest.revision else { return }
        throw pruned(revision, behind: oldest)
    }

    private func pruned(_ revision: Revision, behind oldest: SnapshotEntry) -> JournalFailure {
        JournalFailure(
            .pruned,
            "revision \(revision) is no longer kept: the journal's history begins at revision \(oldest.revision)"
        )
    }
}

extension BatchRecord {
    /// What a record holds.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`.
    package init(reading record: JournalRecord) throws(JournalFailure) {
        do { try self.init(decoding: record.body) } catch {
            throw JournalFailure(
                .damaged,
                "from revision \(record.from.next) on: record \(record.sequence) cannot be read: \(error)"
            )
        }
    }
}
