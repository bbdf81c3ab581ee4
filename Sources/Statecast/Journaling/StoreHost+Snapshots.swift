internal import Journal
internal import Logging

/// When the journal of a store is to get its next snapshot.
struct SnapshotSchedule {
    private var bytes = 0
    private var records = 0
    private var isUnderway = false
    /// Whether one is to be taken whatever the counts are.
    var isWanted = false

    /// A record of so many bytes was handed to the journal.
    mutating func count(_ bytes: Int) {
        self.bytes += bytes
        records += 1
    }

    /// Whether one is to be taken now; if so, counting begins anew.
    mutating func start(_ policy: JournalPolicy, stateBytes: Int) -> Bool {
        let isDue = bytes >= max(policy.snapshotBytes, stateBytes) || records >= policy.snapshotRecords
        guard !isUnderway, isDue || isWanted else { return false }
        self = SnapshotSchedule()
        isUnderway = true
        return true
    }

    /// It is taken, or could not be.
    mutating func finish() { isUnderway = false }
}

extension StoreHost {
    /// Stores what is published, off the loop and beside the commits.
    func storeSnapshotIfDue() {
        guard let journal, snapshots.start(surroundings.journalPolicy, stateBytes: publishedSummary.bytes) else {
            return
        }
        let entry = SnapshotEntry(sequence: machine.durable, revision: machine.head)
        let context = SnapshotContext(
            epoch: machine.epoch,
            fingerprint: definition.fingerprint,
            summary: publishedSummary,
            sessions: machine.sessions,
            migrations: definition.evolution.count
        )
        let (state, historyBytes) = (published, surroundings.journalPolicy.historyBytes)
        journal.later { [name, onLoop = surroundings.onLoop] journal in
            let outcome: Result<Int, any Error> = Result {
                let journal = try journal.get()
                let bytes = try StateEncoder().encode(state)
                guard try Summary(ofEncoded: bytes).digest == context.summary.digest else {
                    throw JournalFailure(.misfit, "the state encodes to something else than was published")
                }
                try journal.store(JournalSnapshot(entry, context: context.encoded, state: bytes))
                try journal.prune(keeping: historyBytes)
                return bytes.count
            }
            onLoop(name) { $0.snapshotStored(entry, outcome) }
        }
    }

    func snapshotStored(_ entry: SnapshotEntry, _ outcome: Result<Int, any Error>) {
        snapshots.finish()
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
