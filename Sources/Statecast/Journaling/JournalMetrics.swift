import Metrics
package import StatecastJournal
package import StatecastProtocol

/// The metrics of a store's journal. Each label has the dimension `store`.
package struct JournalMetrics {
    private let commits: Counter
    private let commitTime: Timer
    private let commitRecords: Recorder
    private let bytes: Counter
    private let full: Counter
    private let unknown: Counter
    private let snapshots: Counter
    private let snapshotsFailed: Counter
    private let snapshotBytes: Counter

    package init(store: StoreName) {
        let dimensions = [("store", store.text)]
        commits = NodeMetric.journalCommits.counter(dimensions)
        commitTime = NodeMetric.journalCommitDurationSeconds.timer(dimensions)
        commitRecords = NodeMetric.journalCommitRecords.recorder(dimensions)
        bytes = NodeMetric.journalBytes.counter(dimensions)
        full = NodeMetric.journalFull.counter(dimensions)
        unknown = NodeMetric.journalCommitsUnknown.counter(dimensions)
        snapshots = NodeMetric.journalSnapshots.counter(dimensions)
        snapshotsFailed = NodeMetric.journalSnapshotsFailed.counter(dimensions)
        snapshotBytes = NodeMetric.journalSnapshotBytes.counter(dimensions)
    }

    package func committed(_ records: [JournalRecord], bytes count: Int, in duration: Duration) {
        commits.increment()
        commitTime.record(duration)
        commitRecords.record(records.count)
        bytes.increment(by: count)
    }

    func failed(_ failure: JournalFailure) {
        switch failure.code {
        case .storageFull: full.increment()
        case .unknown: unknown.increment()
        default: break
        }
    }

    func snapshotStored(bytes count: Int) {
        snapshots.increment()
        snapshotBytes.increment(by: count)
    }

    func snapshotFailed() { snapshotsFailed.increment() }
}
