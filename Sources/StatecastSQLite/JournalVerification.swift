package import StatecastJournal
import StatecastProtocol

/// The result of reading and checking a whole journal.
package struct JournalVerification: Sendable {
    /// The beginning of the history that is kept.
    package let from: SnapshotEntry
    package fileprivate(set) var to: SnapshotEntry
    package fileprivate(set) var snapshotCount = 1
    /// The damage after the last acknowledged record: a start drops these records.
    package fileprivate(set) var tail: String?
}

extension JournalReader {
    /// Checks each record's checksum, order and patch; each snapshot, and whether the records lead to it; the epochs,
    /// and the last acknowledged record.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` that names the last intact revision.
    package func verify() throws(JournalFailure) -> JournalVerification {
        // Read before the end: a primary may append in between.
        let acknowledged = try acknowledged()
        try checkMarks()
        var snapshots = try snapshots()[...]
        guard let oldest = snapshots.popFirst() else { throw directory.damaged("it has no snapshot") }
        var walk = try JournalWalk(from: snapshot(oldest))
        var verification = JournalVerification(from: oldest, to: oldest)
        let wrongSnapshot: JournalFailure?
        do throws(JournalFailure) {
            wrongSnapshot = try follow(&walk, comparing: &snapshots, &verification)
        } catch {
            guard try self.acknowledged().sequence <= walk.place.sequence else { throw wholeOnly(upTo: walk, error) }
            wrongSnapshot = nil
            verification.tail = error.reason
        }
        if let wrongSnapshot { throw wholeOnly(upTo: walk, wrongSnapshot) }
        guard walk.place.sequence >= acknowledged.sequence else {
            throw wholeOnly(upTo: walk, directory.lacks(acknowledged, end: walk.place))
        }
        if let beyond = snapshots.first {
            throw wholeOnly(
                upTo: walk,
                directory.damaged("no records lead to the snapshot of revision \(beyond.revision)")
            )
        }
        try verifyOrigin()
        verification.to = walk.place
        return verification
    }

    /// Compares both copies of the first snapshot: the loss of one has no effect until the other is lost, too.
    private func verifyOrigin() throws(JournalFailure) {
        guard let origin = try origin() else { return }
        let reason: String
        do throws(JournalFailure) {
            guard try SnapshotFile(origin.entry, in: directory).read() != origin else { return }
            reason =
                "the snapshot of revision \(origin.entry.revision) differs in its file and in journal.sqlite"
        } catch {
            guard error.code != .pruned else {
                // A primary prunes the copy in the database first.
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
            "the journal \(directory.path) has its first snapshot only once: \(what). Its copy in journal.sqlite is "
                + "intact and is used instead",
            reason: what
        )
    }

    /// - Returns: the failure of the first wrong snapshot.
    private func follow(
        _ walk: inout JournalWalk,
        comparing snapshots: inout ArraySlice<SnapshotEntry>,
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
                return directory.damaged(
                    "the snapshot of revision \(entry.revision) does not match the records that lead to it"
                )
            }
            return nil
        } catch {
            return error
        }
    }

    private func wholeOnly(upTo walk: JournalWalk, _ failure: JournalFailure) -> JournalFailure {
        JournalFailure(.damaged, "whole up to revision \(walk.place.revision), not beyond: \(failure)")
    }
}
