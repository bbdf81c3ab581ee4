internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol

/// When the journal of a store is to get its next snapshot.
struct SnapshotSchedule {
    /// The bytes of records before the first snapshot of an incarnation. The interval doubles from there up to the policy's:
    /// a young journal soon has more than the snapshot at which it begins.
    static let firstBytes = 1 << 20

    private var bytes = 0
    /// The number of records after the last snapshot.
    private(set) var records = 0
    private var isUnderway = false
    private var intervalBytes = firstBytes
    /// The last record that a snapshot contains, or will when it is stored.
    private(set) var covered: JournalSequence
    private var stored: JournalSequence
    /// Whether one is to be taken whatever the counts are.
    var isWanted = false

    /// - Parameter stored: the last record that the newest snapshot contains.
    init(after stored: JournalSequence = JournalSequence(0)) { (covered, self.stored) = (stored, stored) }

    /// A record of so many bytes was handed to the journal.
    mutating func count(_ bytes: Int) {
        self.bytes += bytes
        records += 1
    }

    /// Whether one is to be taken now; if so, counting begins anew.
    ///
    /// - Parameter last: the last record that it contains.
    mutating func start(_ policy: JournalPolicy, stateBytes: Int, at last: JournalSequence) -> Bool {
        let isDue =
            bytes >= max(min(intervalBytes, policy.snapshotBytes), stateBytes) || records >= policy.snapshotRecords
        guard !isUnderway, isDue || isWanted else { return false }
        (bytes, records, isWanted, isUnderway) = (0, 0, false, true)
        intervalBytes = min(2 * intervalBytes, max(intervalBytes, policy.snapshotBytes))
        covered = last
        return true
    }

    /// It is taken, or could not be.
    mutating func finish(isStored: Bool) {
        isUnderway = false
        if isStored { stored = covered } else { covered = stored }
    }
}

extension StoreHost {
    /// Stores what is published, off the loop and beside the commits.
    func storeSnapshotIfDue() {
        guard let journal,
            snapshots.start(
                surroundings.journalPolicy,
                stateBytes: publishedSummary.bytes,
                at: machine.durable
            )
        else { return }
        storeSnapshot(in: journal, isInterim: false) { [name, onLoop = surroundings.onLoop] entry, outcome in
            onLoop(name) { $0.snapshotStored(entry, outcome) }
        }
    }

    /// Stores what is published before the journal is closed: the next start has less to read, and needs no record.
    func storeSnapshotOfStop() {
        guard let journal, machine.durable > snapshots.covered else { return }
        storeSnapshot(in: journal, isInterim: true) { [name, logger, journalMetrics] entry, outcome in
            Self.note(entry, outcome, name, journalMetrics, logger)
        }
    }

    /// - Parameter done: called on a thread of the journal with what became of it.
    private func storeSnapshot(
        in journal: JournalWriter,
        isInterim: Bool,
        done: @escaping @Sendable (SnapshotEntry, Result<Int, any Error>) -> Void
    ) {
        let entry = SnapshotEntry(sequence: machine.durable, revision: machine.head)
        let context = SnapshotContext(
            epoch: machine.epoch,
            fingerprint: definition.fingerprint,
            summary: publishedSummary,
            sessions: machine.sessions,
            migrations: definition.evolution.count
        )
        let (state, historyBytes) = (published, surroundings.journalPolicy.historyBytes)
        journal.later { journal in
            // The failure of the journal itself is reported where it ends the primary.
            if isInterim, case .failure = journal { return }
            let outcome: Result<Int, any Error> = Result {
                let journal = try journal.get()
                let bytes = try StateEncoder().encode(state)
                guard try Summary(ofEncoded: bytes).digest == context.summary.digest else {
                    throw JournalFailure(.misfit, "the state encodes to something else than was published")
                }
                try journal.store(JournalSnapshot(entry, context: context.encoded, state: bytes), isInterim: isInterim)
                // A stop has little time, and its snapshot replaces the one of the last stop.
                if !isInterim { try journal.prune(keeping: historyBytes) }
                return bytes.count
            }
            done(entry, outcome)
        }
    }

    func snapshotStored(_ entry: SnapshotEntry, _ outcome: Result<Int, any Error>) {
        snapshots.finish(isStored: (try? outcome.get()) != nil)
        Self.note(entry, outcome, name, journalMetrics, logger)
    }

    private static func note(
        _ entry: SnapshotEntry,
        _ outcome: Result<Int, any Error>,
        _ name: StoreName,
        _ journalMetrics: JournalMetrics,
        _ logger: Logger
    ) {
        switch outcome {
        case .success(let bytes):
            journalMetrics.snapshotStored(bytes: bytes)
            logger.debug("snapshot stored", metadata: ["store": "\(name)", "revision": "\(entry.revision)"])
        case .failure(let error):
            journalMetrics.snapshotFailed()
            // Nothing is lost: the records are there, and the next snapshot may succeed.
            logger.error(
                "no snapshot of revision \(entry.revision) is stored: \(error)",
                metadata: ["store": "\(name)"]
            )
        }
    }
}
