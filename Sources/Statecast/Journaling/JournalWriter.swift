internal import Journal
internal import SyncProtocol
internal import Threading

/// Commits records on a thread of its own, since a store's loop must not wait for the journal.
///
/// Group commit: records that are appended during a commit share the next one.
final class JournalWriter: Sendable {
    private struct Queue {
        var records: [JournalRecord] = []
        var isCommitting = false
        /// The last record that was enqueued; 0 before the first.
        var enqueued = JournalSequence(0)
        /// The last record that was committed; 0 before the first.
        var committed = JournalSequence(0)
        /// After a failure, records are ignored until the store has rolled back.
        var failure: JournalFailure?
        /// Published records cannot be rolled back: they are retried until there is disk space.
        var waitsForRoom: JournalFailure?
    }

    private let journal: any Journal
    private let queue = Locked(Queue())
    private let commits: any WorkQueue
    private let snapshots: any WorkQueue
    private let reads: any WorkQueue
    private let metrics: JournalMetrics
    private let retryDelay: Duration
    private let onResult: @Sendable (Result<JournalSequence, JournalFailure>) -> Void

    /// - Parameter onResult: called on a thread of the journal, with the last durable record, or with the failure of
    ///   all later ones.
    init(
        _ journal: any Journal,
        metrics: JournalMetrics,
        retryDelay: Duration,
        in environment: some StoreEnvironment,
        onResult: @escaping @Sendable (Result<JournalSequence, JournalFailure>) -> Void
    ) {
        self.journal = journal
        self.metrics = metrics
        self.retryDelay = retryDelay
        commits = environment.makeQueue("statecast.journal.commit", .high)
        snapshots = environment.makeQueue("statecast.journal.snapshot", .low)
        reads = environment.makeQueue("statecast.journal.read", .low)
        self.onResult = onResult
    }

    var durability: Durability { journal.durability }

    /// Enqueues a record.
    func append(_ record: JournalRecord) {
        let isFirst = queue.withLock { queue in
            guard queue.failure == nil else { return false }
            queue.records.append(record)
            queue.enqueued = record.sequence
            defer { queue.isCommitting = true }
            return !queue.isCommitting
        }
        if isFirst { commits.async { [self] in commit() } }
    }

    /// The store has rolled back: accepts records again, unless the journal has failed for another reason than a full
    /// disk.
    func resume() {
        queue.withLock { if $0.failure?.code == .storageFull { $0.failure = nil } }
    }

    /// Checks that the journal is still in its place. If not, no more records are accepted.
    func checkPlace() throws(JournalFailure) {
        do throws(JournalFailure) { try journal.checkPlace() } catch {
            queue.withLock { $0.failure = $0.failure ?? error }
            throw error
        }
    }

    /// Checks that a record may be published before it is stored: the journal works, and is in its place.
    func checkPublishing() throws(JournalFailure) {
        if let failure = queue.withLock({ $0.failure }) { throw failure }
        try checkPlace()
    }

    var description: String { "\(journal)" }

    /// Waits until all records that are enqueued now are committed, have failed, or wait for room, and until this is
    /// reported.
    ///
    /// - Returns: why records could not be stored.
    @discardableResult
    func drain() -> JournalFailure? {
        let enqueued = queue.withLock { $0.enqueued }
        // A failure resets `enqueued`.
        while queue.withLock({ min(enqueued, $0.enqueued) > $0.committed && $0.waitsForRoom == nil }) {
            commits.sync {}
        }
        // The job that commits records reports it, too.
        commits.sync {}
        return queue.withLock { $0.waitsForRoom ?? $0.failure }
    }

    /// Performs long work with the journal after ``drain()``, one at a time. The work receives a failure of the drain
    /// instead of the journal.
    func performAfterDrain(_ work: @escaping @Sendable (Result<any Journal, JournalFailure>) -> Void) {
        snapshots.async { [self] in
            work(drain().map { .failure($0) } ?? .success(journal))
        }
    }

    /// Reads from the journal, on a thread of its own.
    func read(_ work: @escaping @Sendable (any Journal) -> Void) { reads.async { [self] in work(journal) } }

    /// Waits for all work in progress, and closes the journal.
    ///
    /// - Returns: the number of records that were published and could not be stored, and why.
    func close() -> (count: Int, failure: JournalFailure)? {
        // A retry may be under way: its first job enqueues the second one.
        for _ in 0..<2 { commits.sync {} }
        drain()
        // The last attempt may succeed.
        commits.sync { if queue.withLock({ $0.waitsForRoom != nil }), let records = dequeueAll() { store(records) } }
        let lost = queue.withLock { queue in
            defer { queue.records = [] }
            return queue.waitsForRoom.map { (count: queue.records.count, failure: $0) }
        }
        snapshots.sync {}
        reads.sync {}
        journal.close()
        return lost
    }

    /// Commits all enqueued records, then yields the queue of commits and continues with the records enqueued
    /// meanwhile.
    private func commit() {
        guard let records = dequeueAll() else { return }
        // A job of its own, so that records are also enqueued during a commit where a queue runs in virtual time.
        commits.async { [self] in store(records) }
    }

    private func store(_ records: [JournalRecord]) {
        do throws(JournalFailure) {
            let start = ContinuousClock.now
            try journal.append(records)
            let bytes = records.reduce(0) { $0 + $1.body.count }
            let last = records[records.count - 1].sequence
            queue.withLock { queue in
                queue.committed = last
                queue.waitsForRoom = nil
            }
            metrics.committed(records, bytes: bytes, in: start.duration(to: .now))
            onResult(.success(last))
            commits.async { [self] in commit() }
        } catch {
            metrics.failed(error)
            if error.code == .storageFull && durability == .relaxed {
                queue.withLock { queue in
                    queue.records = records + queue.records
                    queue.waitsForRoom = error
                }
                commits.async(after: retryDelay) { [self] in commit() }
            } else {
                queue.withLock { $0 = Queue(committed: $0.committed, failure: $0.failure ?? error) }
            }
            onResult(.failure(error))
        }
    }

    private func dequeueAll() -> [JournalRecord]? {
        queue.withLock { queue in
            guard !queue.records.isEmpty else {
                queue.isCommitting = false
                return nil
            }
            defer { queue.records = [] }
            return queue.records
        }
    }
}
