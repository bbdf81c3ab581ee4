/// Decides when the journal of a store gets its next snapshot.
package struct SnapshotSchedule: Hashable, Sendable {
    /// The bytes of records before the first snapshot of an incarnation. The interval doubles up to the policy's, so
    /// that a young journal soon has more than its first snapshot.
    static let firstBytes = 1 << 20

    private var bytes = 0
    /// The number of records after the last snapshot.
    package private(set) var records = 0
    private var isUnderway = false
    private var intervalBytes = firstBytes
    /// The last record that a snapshot contains, or will when it is stored.
    private(set) var covered: JournalSequence
    private var stored: JournalSequence
    /// Whether a snapshot is due regardless of the counts.
    package var isWanted = false

    /// - Parameter stored: the last record that the newest snapshot contains.
    package init(after stored: JournalSequence = JournalSequence(0)) { (covered, self.stored) = (stored, stored) }

    /// Counts a record, with its size in bytes.
    package mutating func count(_ bytes: Int) {
        self.bytes += bytes
        records += 1
    }

    /// Starts a snapshot if one is due, and resets the counts.
    ///
    /// - Parameter last: the last record that the snapshot contains.
    /// - Returns: whether one is started.
    mutating func start(_ policy: SnapshotPolicy, stateBytes: Int, at last: JournalSequence) -> Bool {
        let isDue = bytes >= max(min(intervalBytes, policy.bytes), stateBytes) || records >= policy.records
        guard !isUnderway, isDue || isWanted else { return false }
        (bytes, records, isWanted, isUnderway) = (0, 0, false, true)
        intervalBytes = min(2 * intervalBytes, max(intervalBytes, policy.bytes))
        covered = last
        return true
    }

    /// The snapshot that was started is stored, or failed.
    mutating func finish(isStored: Bool) {
        isUnderway = false
        if isStored { stored = covered } else { covered = stored }
    }
}

/// The records after which a journal gets another snapshot: whichever is reached first.
package struct SnapshotPolicy: Hashable, Sendable {
    /// The bytes of their bodies.
    package let bytes: Int
    package let records: Int

    package init(bytes: Int, records: Int) {
        self.bytes = bytes
        self.records = records
    }
}
