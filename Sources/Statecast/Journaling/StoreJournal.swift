import Logging
import StatecastCoding
package import StatecastJournal
package import StatecastProtocol

/// The journal of a store: records on a thread of their own, snapshots and reads on others.
struct StoreJournal<State: Codable & Equatable & Sendable> {
    let writer: JournalWriter
    private let name: StoreName
    private let logger: Logger
    private let limits: Limits
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
        limits = node.limits
        historyBytes = node.journalPolicy.historyBytes
        let metrics = JournalMetrics(store: definition.name)
        self.metrics = metrics
        self.results = results
        writer = JournalWriter(journal, metrics: metrics, in: node.environment) { results.append(.journaled($0)) }
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

    /// Reads updates for replicas that return after a long time, off the loop.
    func readPast(after start: Revision, through end: Revision, maxBytes: Int, _ lineage: Lineage, _ epoch: Epoch) {
        writer.read { [name, logger, limits, results] journal in
            var updates: [Update]?
            do {
                let bounds = PastBounds(
                    patchBytes: maxBytes,
                    recordBytes: max(maxBytes, PastBounds.minRecordBytes),
                    updates: limits.maxCatchUpComposed
                )
                let read = try journal.updates(after: start, through: end, bounds, lineage, epoch)
                // The patch of a migration may not fit into a frame.
                updates = read?.allSatisfy { $0.patch.count <= limits.maxPatchBytes } == true ? read : nil
            } catch {
                // The replicas get a snapshot.
                logger.warning("cannot read the journal for replicas: \(error)", metadata: ["store": "\(name)"])
            }
            results.append(.pastRead(updates, after: start))
        }
    }
}

/// The bounds beyond which a snapshot is cheaper.
private struct PastBounds {
    let patchBytes: Int
    /// Includes the actions in the records, which replicas do not need.
    let recordBytes: Int
    let updates: Int

    /// The minimum to read, regardless of the size of the state.
    static let minRecordBytes = 16 << 20
}

extension Journal {
    /// The updates from one revision to another, for an incarnation; `nil` if they exceed the bounds, or if no update
    /// begins or ends there.
    fileprivate func updates(
        after start: Revision,
        through end: Revision,
        _ bounds: PastBounds,
        _ lineage: Lineage,
        _ epoch: Epoch
    ) throws -> [Update]? {
        guard var last = try sequence(at: start) else { return nil }
        var updates: [Update] = []
        var (patchBytes, recordBytes) = (0, 0)
        while true {
            let records = try records(after: last, maxBytes: 1 << 20)
            guard let read = records.last else { return nil }
            last = read.sequence
            recordBytes += records.reduce(0) { $0 + $1.body.count }
            guard recordBytes <= bounds.recordBytes else { return nil }
            for record in records where record.to > record.from {
                guard record.from == updates.last?.to ?? start, record.to <= end else { return nil }
                let patch = try BatchRecord(decoding: record.body).patch
                patchBytes += patch.count
                guard patchBytes <= bounds.patchBytes, updates.count < bounds.updates else { return nil }
                updates.append(Update(lineage: lineage, epoch: epoch, from: record.from, to: record.to, patch: patch))
                if record.to == end { return updates }
            }
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
