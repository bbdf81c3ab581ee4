import Logging
import StatecastCoding
package import StatecastJournal
package import StatecastProtocol

/// The journal of a store: records on one thread, snapshots on another.
struct StoreJournal<State: Codable & Equatable & Sendable> {
    let writer: JournalWriter
    private let name: StoreName
    private let logger: Logger
    private let historyBytes: Int
    private let metrics: JournalMetrics
    private let results: EventQueue<StoreResult>

    init(
        _ journal: any Journal,
        of definition: TypedStore<State>,
        on node: NodeServices,
        results: EventQueue<StoreResult>
    ) {
        name = definition.name
        logger = definition.logger
        historyBytes = node.journalPolicy.historyBytes
        let metrics = JournalMetrics(store: definition.name)
        self.metrics = metrics
        self.results = results
        writer = JournalWriter(
            journal,
            metrics: metrics,
            in: node.environment,
            onLease: node.onLease,
            onResult: { results.append(.journaled($0)) }
        )
    }

    /// Enqueues a record.
    func commit(_ record: EncodedRecord) {
        writer.append(JournalRecord(sequence: record.sequence, from: record.from, to: record.to, body: record.body))
    }

    /// Stores a snapshot, off the loop and in parallel with commits.
    func store(_ snapshot: SnapshotToStore) {
        let (historyBytes, results) = (historyBytes, results)
        writer.performAfterDrain { [self] journal in
            // A failure of the journal itself ends the primary, which reports it.
            if snapshot.isLast, case .failure = journal { return }
            let version = Version<State>.typed(snapshot.version)
            let outcome: Result<Int, any Error> = Result {
                let journal = try journal.get()
                let bytes = try StateEncoder().encode(version.state)
                guard try Summary(ofEncoded: bytes).digest == snapshot.context.summary.digest else {
                    throw JournalFailure(.misfit, "the encoded state differs from the published one")
                }
                let entry = SnapshotEntry(sequence: version.sequence, revision: version.revision)
                let content = JournalSnapshot(entry, context: snapshot.context.encoded, state: bytes)
                try journal.store(content, as: snapshot.isLast ? .interim : .regular)
                // A stop has little time, and its snapshot replaces that of the last stop.
                if !snapshot.isLast { try journal.prune(keeping: historyBytes) }
                return bytes.count
            }
            report(outcome, revision: version.revision)
            if !snapshot.isLast { results.append(.snapshotStored(isStored: (try? outcome.get()) != nil)) }
        }
    }

    private func report(_ outcome: Result<Int, any Error>, revision: Revision) {
        switch outcome {
        case .success(let bytes):
            metrics.snapshotStored(bytes: bytes)
            logger.debug("snapshot stored", metadata: ["store": "\(name)", "revision": "\(revision)"])
        case .failure(let error):
            metrics.snapshotFailed()
            // Nothing is lost: the records are stored, and the next snapshot may succeed.
            logger.error("no snapshot of revision \(revision) is stored: \(error)", metadata: ["store": "\(name)"])
        }
    }
}

/// The crash marker of a journal that has one.
package struct OptionalMarker: ReductionMarking {
    private let marker: CrashMarker?

    package init(_ marker: CrashMarker?) { self.marker = marker }

    var suspects: [Suspect] { marker?.suspects ?? [] }

    package func begin(_ session: SessionID, _ number: ActionNumber) { marker?.begin(session, number) }
    package func end() { marker?.end() }
    func clear(_ session: SessionID, _ number: ActionNumber) { marker?.resolve(session, number) }
}
