package import Journal
internal import SyncProtocol

/// How much of a journal was found to be as it must be.
package struct JournalVerification: Sendable {
    /// Where the history begins that is kept.
    package let from: SnapshotEntry
    /// Where it ends.
    package fileprivate(set) var to: SnapshotEntry
    package fileprivate(set) var snapshotCount = 1
    /// What is wrong behind all that was acknowledged: nobody knows of it, and a start drops it.
    package fileprivate(set) var tail: String?
}

extension JournalReader {
    /// Reads all of it: each record's checksum, place, and what it leads to; each snapshot, and whether the records lead to
    /// it; the epochs, and what was acknowledged.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` that says up to which revision it is whole.
    package func verify() throws(JournalFailure) -> JournalVerification {
        // First, so that whoever writes meanwhile is not thought to have lost something.
        let acknowledged = try acknowledged()
        try checkMarks()
        var snapshots = try snapshots()[...]
        guard let oldest = snapshots.popFirst() else { throw directory.damaged("it has no snapshot") }
        var walk = try JournalWalk(from: snapshot(oldest))
        var verification = JournalVerification(from: oldest, to: oldest)
        let wrongSnapshot: JournalFailure?
        do throws(JournalFailure) {
            wrongSnapshot = try follow(&walk, past: &snapshots, &verification)
        } catch {
            guard try self.acknowledged().sequence <= walk.place.sequence else { throw wholeOnly(up: walk, error) }
            wrongSnapshot = nil
            verification.tail = error.reason
        }
        if let wrongSnapshot { throw wholeOnly(up: walk, wrongSnapshot) }
        guard walk.place.sequence >= acknowledged.sequence else {
            throw wholeOnly(up: walk, lacks(acknowledged, behind: walk.place))
        }
        if let beyond = snapshots.first {
            throw wholeOnly(
                up: walk,
                directory.damaged("no records lead to the snapshot of revision \(beyond.revision)")
            )
        }
        try verifyOrigin()
        verification.to = walk.place
        return verification
    }

    /// Reads the first snapshot in both its places: a loss in one of them has no effect before the other one is lost, too.
    private func verifyOrigin() throws(JournalFailure) {
        guard let origin = try origin() else { return }
        let reason: String
        do throws(JournalFailure) {
            guard try SnapshotFile(origin.entry, in: directory).read() != origin else { return }
            reason =
                "the snapshot of revision \(origin.entry.revision) is another one in its file than in journal.sqlite"
        } catch {
            guard error.code != .pruned else {
                // A primary removes the one in the database first.
                guard try self.origin() != nil else { return }
                throw onlyInDatabase("the file of the snapshot of revision \(origin.entry.revision) is missing")
            }
            throw onlyInDatabase(error.reason)
        }
        throw directory.damaged(reason)
    }

    private func onlyInDatabase(_ what: String) -> JournalFailure {
        JournalFailure(
            .damaged,
            "the journal \(directory.path) has its first snapshot only once: \(what). Its copy in journal.sqlite is whole, "
                + "and is used in its place",
            reason: what
        )
    }

    /// - Returns: what is wrong with the snapshot to which it came.
    private func follow(
        _ walk: inout JournalWalk,
        past snapshots: inout ArraySlice<SnapshotEntry>,
        _ verification: inout JournalVerification
    ) throws(JournalFailure) -> JournalFailure? {
        var wrong: JournalFailure?
        try forEachRecord(after: walk.place.sequence) { record throws(JournalFailure) in
            do throws(JournalFailure) { try walk.advance(by: record) } catch { throw directory.damaged(error.message) }
            while wrong == nil, let next = snapshots.first, next.sequence <= record.sequence {
                wrong = difference(of: next, from: walk)
                snapshots.removeFirst()
                verification.snapshotCount += 1
            }
            return wrong == nil
        }
        return wrong
    }

    private func difference(of entry: SnapshotEntry, from walk: JournalWalk) -> JournalFailure? {
        do throws(JournalFailure) {
            guard let snapshot = try snapshotIfKept(entry) else { return nil }
            guard try walk.agrees(with: snapshot) else {
                return directory.damaged("the snapshot of revision \(entry.revision) is not what the records lead to")
            }
            return nil
        } catch {
            return error
        }
    }

    private func wholeOnly(up walk: JournalWalk, _ failure: JournalFailure) -> JournalFailure {
        JournalFailure(.damaged, "whole up to revision \(walk.place.revision), not beyond: \(failure)")
    }
}
