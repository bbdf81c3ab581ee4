import StatecastCoding
public import StatecastJournal
public import StatecastProtocol

extension JournalReader {
    /// Finds the last changes of a part of the state, and the actions that made them.
    ///
    /// ```swift
    /// let journal = try JournalReader(at: "/var/lib/statecast/fleet")
    /// for change in try journal.blame(["hosts", "web-1", "busy"], limit: 1).changes {
    ///     print(change.revision, change.actions.map { $0.name ?? "?" })
    /// }
    /// ```
    ///
    /// Reads the records backwards, in a small part of the time that a replay takes, and neither applies patches nor
    /// reads snapshots. A change that is found may have left the part as it was: the patch replaced a value above it by
    /// one that holds an equal part, or shifted the elements of an array.
    ///
    /// - Parameters:
    ///   - path: the names of the keys, as in JSON; of an element of an array, the index. The index is that after each
    ///     change: elements are not followed to earlier indices.
    ///   - revision: the revision at which the search begins, or rather the end of the last batch at or before it. By
    ///     default, or beyond the end, the end of the journal.
    ///   - before: `next` of an earlier search, which this one continues. Replaces `revision`.
    ///   - limit: the number of changes to find, at least 1.
    ///   - maxBytes: the bytes of records after which the search ends; it reads at most one record more.
    ///   - isOver: ends the search when it returns `true`, such as after a deadline. It is called after each part of
    ///     the records, some milliseconds apart.
    /// - Throws: `JournalFailure` with code `pruned` if the revision is no longer kept; with code `damaged`.
    public func blame(
        _ path: [String],
        at revision: Revision? = nil,
        before: JournalSequence? = nil,
        limit: Int = 10,
        maxBytes: Int = .max,
        until isOver: () -> Bool = { false }
    ) throws(JournalFailure) -> Blame {
        if before == nil, let revision { try requireKept(revision) }
        guard let oldest = try snapshots().first else {
            throw directory.damaged("it has no snapshot")
        }
        let scope = Blame.Scope(
            from: oldest,
            to: try end(at: revision, before: before, after: oldest),
            boundary: try boundary(oldest),
            epochs: try epochs()
        )
        return try Blame.search(
            for: ValuePath(path),
            in: scope,
            limit: limit,
            maxBytes: maxBytes,
            until: isOver
        ) { sequence, maxBytes throws(JournalFailure) in
            do throws(JournalFailure) {
                return try self.records(before: sequence, after: oldest.sequence, maxBytes: maxBytes)
            } catch {
                guard error.code == .pruned else { throw error }
                return []
            }
        }
    }

    /// The records between two, newest first.
    ///
    /// - Parameter maxBytes: the most bytes of bodies to return; at least one record is returned if there is one.
    /// - Throws: ``JournalFailure`` with code `damaged` that names the record; with code `pruned` if the newest of them
    ///   is no longer kept.
    package func records(
        before sequence: JournalSequence,
        after oldest: JournalSequence,
        maxBytes: Int
    ) throws(JournalFailure) -> [JournalRecord] {
        do throws(JournalFailure) {
            return try records.records(before: sequence, after: oldest, maxBytes: maxBytes)
        } catch {
            throw pruned(error, through: sequence.previous)
        }
    }

    /// The record with which a search begins.
    private func end(
        at revision: Revision?,
        before: JournalSequence?,
        after oldest: SnapshotEntry
    ) throws(JournalFailure) -> SnapshotEntry {
        let last = try contents().last
        var sequence = last
        if let before {
            sequence = min(before.previous, last)
        } else if let revision {
            sequence = try self.sequence(at: revision) ?? oldest.sequence
        }
        guard sequence > oldest.sequence else { return oldest }
        if let end = try records.revision(at: sequence) { return SnapshotEntry(sequence: sequence, revision: end) }
        throw pruned(directory.damaged("record \(sequence) is missing"), through: sequence)
    }

    private func boundary(_ oldest: SnapshotEntry) throws(JournalFailure) -> Blame.Boundary {
        if oldest.sequence == JournalSequence(0) { return .initial }
        return try records.first() == oldest.sequence ? .restored : .snapshot
    }
}
