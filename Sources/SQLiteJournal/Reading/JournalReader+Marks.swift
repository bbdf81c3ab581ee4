internal import Journal
internal import SyncProtocol

/// Whether a journal holds what it has to.
extension JournalReader {
    /// Refuses one that does not hold what it acknowledged, or whose page of marks belongs to another.
    func checkEnd() throws(JournalFailure) {
        // First, so that whoever writes meanwhile is not thought to have lost something.
        let acknowledged = try acknowledged()
        try checkMarks()
        let end = try end()
        guard end.sequence >= acknowledged.sequence else { throw lacks(acknowledged, behind: end) }
    }

    /// Refuses one whose page of marks belongs to another.
    func checkMarks() throws(JournalFailure) {
        let marks = try marks.get()
        try marks.check(contents(), in: directory)
    }

    /// What to say of one that ends before what it acknowledged.
    func lacks(_ acknowledged: SnapshotEntry, behind end: SnapshotEntry) -> JournalFailure {
        directory.damaged(
            "it ends at revision \(end.revision) (record \(end.sequence)), and what was acknowledged at revision "
                + "\(acknowledged.revision) (record \(acknowledged.sequence))"
        )
    }

    /// Where the history ends.
    func end() throws(JournalFailure) -> SnapshotEntry {
        let last = try contents().last
        if let revision = try records.revision(at: last) { return SnapshotEntry(sequence: last, revision: revision) }
        guard let entry = try snapshots().first(where: { $0.sequence == last }) else {
            throw directory.damaged("neither a record nor a snapshot \(last) is there")
        }
        return entry
    }
}
