internal import Dispatch
internal import Journal
internal import SyncProtocol
internal import Threading

/// Between a store's loop, which must not wait, and its journal, which does nothing else.
///
/// While one commit runs, the records that come meanwhile gather; the next commit takes them all.
final class JournalWriter: Sendable {
    private struct Line {
        var records: [JournalRecord] = []
        var bytes = 0
        var isCommitting = false
        /// The last record that was handed in; 0 before there is one.
        var handedIn = JournalSequence(0)
        /// The last record that was appended; 0 before there is one.
        var last = JournalSequence(0)
        /// After a failure nothing is taken until the store has gone back to what is durable.
        var failure: JournalFailure?
        /// What was published already cannot be taken back: it waits for room.
        var waitsForRoom: JournalFailure?
    }

    private let journal: any Journal
    private let line = Locked(Line())
    private let commits = DispatchQueue(label: "statecast.journal.commit", qos: .userInitiated)
    private let snapshots = DispatchQueue(label: "statecast.journal.snapshot", qos: .utility)
    private let reads = DispatchQueue(label: "statecast.journal.read", qos: .utility)
    private let metrics: JournalMetrics
    private let retryDelay: DispatchTimeInterval
    private let settled: @Sendable (Result<JournalSequence, JournalFailure>) -> Void

    /// - Parameter settled: is told, on a thread of the journal, that the records up to one are durable, or that all that
    ///   were handed in since are not and never will be.
    init(
        _ journal: any Journal,
        metrics: JournalMetrics,
        retryDelay: Duration,
        settled: @escaping @Sendable (Result<JournalSequence, JournalFailure>) -> Void
    ) {
        self.journal = journal
        self.metrics = metrics
        self.retryDelay = .nanoseconds(Int(retryDelay / .nanoseconds(1)))
        self.settled = settled
    }

    var durability: Durability { journal.durability }

    /// The bytes of records that are not durable yet.
    var bytes: Int { line.withLock { $0.bytes } }

    /// Hands in a record; in order.
    func append(_ record: JournalRecord) {
        let isFirst = line.withLock { line in
            guard line.failure == nil else { return false }
            line.records.append(record)
            line.bytes += record.body.count
            line.handedIn = record.sequence
            defer { line.isCommitting = true }
            return !line.isCommitting
        }
        if isFirst { commits.async { [self] in commit() } }
    }

    /// The store has gone back to what is durable: records are taken again.
    func mend() { line.withLock { $0.failure = nil } }

    /// Checks that the journal is still in its place. If not, nothing is taken any more.
    func checkPlace() throws(JournalFailure) {
        do throws(JournalFailure) { try journal.checkPlace() } catch {
            line.withLock { $0.failure = $0.failure ?? error }
            throw error
        }
    }

    /// Checks what has to hold where a record is published before it is stored: the journal works, and is in its place.
    func checkPublishing() throws(JournalFailure) {
        if let failure = line.withLock({ $0.failure }) { throw failure }
        try checkPlace()
    }

    /// What the journal calls itself.
    var description: String { "\(journal)" }

    /// Waits until all that was handed in until now is settled, whatever comes meanwhile, or waits for room.
    ///
    /// - Returns: what became of it.
    @discardableResult
    func drain() -> [Result<JournalSequence, JournalFailure>] {
        let handedIn = line.withLock { $0.handedIn }
        // What a failure undid is no longer handed in.
        while line.withLock({ min(handedIn, $0.handedIn) > $0.last && $0.waitsForRoom == nil }) { commits.sync {} }
        let (last, failure, waitsForRoom) = line.withLock { ($0.last, $0.failure, $0.waitsForRoom) }
        // That something was stored before says nothing of the room there is.
        if let waitsForRoom { return [.failure(waitsForRoom)] }
        return (last > JournalSequence(0) ? [.success(last)] : []) + (failure.map { [.failure($0)] } ?? [])
    }

    /// Does something with the journal that may take long, when all that was handed in until now is settled. One such
    /// thing at a time; not if it could not be settled.
    func later(_ work: @escaping @Sendable (Result<any Journal, JournalFailure>) -> Void) {
        snapshots.async { [self] in
            for case .failure(let failure) in drain() { return work(.failure(failure)) }
            work(.success(journal))
        }
    }

    /// Reads from the journal; what was settled until now is there.
    func read(_ work: @escaping @Sendable (any Journal) -> Void) { reads.async { [self] in work(journal) } }

    /// Waits for all that is under way, and lets go of the journal.
    ///
    /// - Returns: how many records were published and could not be stored, and why.
    func close() -> (count: Int, failure: JournalFailure)? {
        drain()
        // There may be room in the end.
        commits.sync { if line.withLock({ $0.waitsForRoom != nil }) { commit() } }
        let lost = line.withLock { line in
            defer { line.records = [] }
            return line.waitsForRoom.map { (count: line.records.count, failure: $0) }
        }
        snapshots.sync {}
        reads.sync {}
        journal.close()
        return lost
    }

    /// Commits all that has gathered, and comes again for what gathered meanwhile: whoever waits gets its turn between.
    private func commit() {
        guard let records = next() else { return }
        do throws(JournalFailure) {
            let start = ContinuousClock.now
            try journal.append(records)
            let bytes = records.reduce(0) { $0 + $1.body.count }
            let last = records[records.count - 1].sequence
            line.withLock { line in
                line.bytes -= bytes
                line.last = last
                line.waitsForRoom = nil
            }
            metrics.committed(records, bytes: bytes, in: start.duration(to: .now))
            settled(.success(last))
            commits.async { [self] in commit() }
        } catch {
            metrics.failed(error)
            if error.code == .storageFull && durability == .relaxed {
                line.withLock { line in
                    line.records = records + line.records
                    line.waitsForRoom = error
                }
                commits.asyncAfter(deadline: .now() + retryDelay) { [self] in commit() }
            } else {
                line.withLock { $0 = Line(last: $0.last, failure: error) }
            }
            settled(.failure(error))
        }
    }

    private func next() -> [JournalRecord]? {
        line.withLock { line in
            guard !line.records.isEmpty else {
                line.isCommitting = false
                return nil
            }
            defer { line.records = [] }
            return line.records
        }
    }
}
