import StatecastJournal
import StatecastProtocol
import StatecastThreading

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
        /// How often a commit with an unknown outcome is repeated; `nil`: until it is known.
        var repetitionsLeft: Int?
        /// Whether a renewal of the claim to a shared journal is enqueued.
        var isRenewing = false
        var commitTimes = RecentTimes()
    }

    private let journal: any Journal
    private let queue = Locked(Queue())
    private let commits: any WorkQueue
    private let snapshots: any WorkQueue
    private let metrics: JournalMetrics
    private let now: @Sendable () -> Instant
    private let onLease: @Sendable (LeaseReport) -> Void
    /// The last measurement of the journal's files, and whether one is in progress.
    private let measured = Locked<(gauges: [NodeMetric: Double], isMeasuring: Bool)>(([:], false))
    private let onResult: @Sendable (Result<JournalSequence, JournalFailure>) -> Void

    /// - Parameters:
    ///   - onLease: called on a thread of a shared journal, after each commit and renewal.
    ///   - onResult: called on a thread of the journal, with the last durable record, or with the failure of all later
    ///     ones.
    init(
        _ journal: any Journal,
        metrics: JournalMetrics,
        in environment: some StoreEnvironment,
        onLease: @escaping @Sendable (LeaseReport) -> Void = { _ in },
        onResult: @escaping @Sendable (Result<JournalSequence, JournalFailure>) -> Void
    ) {
        self.journal = journal
        now = { environment.now }
        self.onLease = onLease
        self.metrics = metrics
        commits = environment.makeQueue("statecast.journal.commit", .high)
        snapshots = environment.makeQueue("statecast.journal.snapshot", .low)
        self.onResult = onResult
    }

    var durability: Durability { journal.durability }

    /// The durations of the last commits.
    var commitTimes: RecentTimes { queue.withLock { $0.commitTimes } }

    /// Returns the last measurement of the journal's files, and begins another one on the thread of the snapshots: a
    /// disk may not answer.
    func measure() -> [NodeMetric: Double] {
        guard let journal = journal as? any MeasurableJournal else { return [:] }
        let (gauges, isMeasuring) = measured.withLock { measured in
            defer { measured.isMeasuring = true }
            return measured
        }
        if !isMeasuring {
            snapshots.async { [measured] in
                let size = try? journal.measure()
                measured.withLock { $0 = (size.map(\.gauges) ?? $0.gauges, false) }
            }
        }
        return gauges
    }

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

    var description: String { "\(journal)" }

    /// Waits until all records that are enqueued now are committed or have failed, and until this is reported.
    ///
    /// - Returns: why records could not be stored.
    @discardableResult
    func drain() -> JournalFailure? {
        let enqueued = queue.withLock { $0.enqueued }
        // A failure resets `enqueued`.
        while queue.withLock({ min(enqueued, $0.enqueued) > $0.committed }) { commits.sync {} }
        // The job that commits records reports it, too.
        commits.sync {}
        return queue.withLock { $0.failure }
    }

    /// Performs long work with the journal after ``drain()``, one at a time. The work receives a failure of the drain
    /// instead of the journal.
    func performAfterDrain(_ work: @escaping @Sendable (Result<any Journal, JournalFailure>) -> Void) {
        snapshots.async { [self] in
            work(drain().map { .failure($0) } ?? .success(journal))
        }
    }

    /// Waits for all work in progress, and closes the journal.
    func close() {
        drain()
        snapshots.sync {}
        journal.close()
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
            let (start, sent) = (ContinuousClock.now, now())
            try journal.append(records)
            onLease(.confirmed(sent: sent))
            let bytes = records.reduce(0) { $0 + $1.body.count }
            let last = records[records.count - 1].sequence
            let duration = start.duration(to: .now)
            queue.withLock {
                $0.committed = last
                $0.commitTimes.append(duration)
            }
            metrics.committed(records, bytes: bytes, in: duration)
            onResult(.success(last))
            commits.async { [self] in commit() }
        } catch {
            metrics.failed(error)
            // The same records again: whether they are stored must be known before anything else is.
            if error.code == .unknown, mayRepeat() {
                onLease(.unknown(error))
                return commits.async { [self] in store(records) }
            }
            fail(error)
        }
    }

    private func mayRepeat() -> Bool {
        queue.withLock { queue in
            guard queue.failure == nil, queue.repetitionsLeft != 0 else { return false }
            queue.repetitionsLeft = queue.repetitionsLeft.map { $0 - 1 }
            return true
        }
    }

    private func fail(_ failure: JournalFailure) {
        let failure = queue.withLock { queue in
            let first = queue.failure.flatMap { $0.code == .storageFull ? nil : $0 } ?? failure
            queue = Queue(
                committed: queue.committed,
                failure: first,
                repetitionsLeft: queue.repetitionsLeft,
                commitTimes: queue.commitTimes
            )
            return first
        }
        if failure.code != .storageFull { onLease(.failed(failure)) }
        onResult(.failure(failure))
    }

    // MARK: Shared journals

    /// Renews the claim to a shared journal after the commits that are enqueued.
    func renew() {
        guard let shared = journal as? SharedJournal else { return }
        let isFirst = queue.withLock { queue in
            defer { queue.isRenewing = true }
            return !queue.isRenewing && (queue.failure == nil || queue.failure?.code == .storageFull)
        }
        guard isFirst else { return }
        commits.async { [self] in
            queue.withLock { $0.isRenewing = false }
            let sent = now()
            do throws(JournalFailure) {
                try shared.renew()
                onLease(.confirmed(sent: sent))
            } catch {
                metrics.failed(error)
                if error.code == .unknown { onLease(.unknown(error)) } else { fail(error) }
            }
        }
    }

    /// A stop does not wait long for a shared database that does not answer.
    func prepareToStop() { queue.withLock { $0.repetitionsLeft = Self.maxRepetitionsAtEnd } }

    private static let maxRepetitionsAtEnd = 1

    /// Gives up a shared journal, after the commits that are enqueued.
    ///
    /// - Throws: ``JournalFailure`` with code `fenced` or `unknown`.
    func resign(to heir: NodeID?) throws(JournalFailure) {
        guard let shared = journal as? SharedJournal else { return }
        if let failure = drain() { throw failure }
        try shared.resign(to: heir)
    }

    /// The outcome of an action is durable that has ended processes of several nodes.
    func removeCrashes(of session: SessionID, _ number: ActionNumber) {
        guard let shared = journal as? SharedJournal else { return }
        // If it fails, an action that does not come again stays suspected.
        snapshots.async { try? shared.removeCrashes(of: session, number) }
    }

    /// Accepts and repeats no more commits: their outcomes stay unknown.
    func abandon(because failure: JournalFailure) { queue.withLock { $0.failure = $0.failure ?? failure } }

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

extension JournalSize {
    fileprivate var gauges: [NodeMetric: Double] {
        var gauges = [NodeMetric.journalSizeBytes: Double(bytes), .journalOldestRevision: Double(oldest.rawValue)]
        gauges[.journalLastSnapshotSeconds] = lastSnapshot.map { Double($0.milliseconds) / 1000 }
        gauges[.journalLastBackupSeconds] = lastBackup.map { Double($0.milliseconds) / 1000 }
        return gauges
    }
}
