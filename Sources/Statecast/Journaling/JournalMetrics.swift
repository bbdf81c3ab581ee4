import Metrics
import StatecastJournal
import StatecastProtocol

/// The metrics of a store's journal. Each label has the dimension `store`.
struct JournalMetrics {
    private let commits: Counter
    private let commitTime: Timer
    private let commitRecords: Recorder
    private let bytes: Counter
    private let full: Counter
    private let unknown: Counter
    private let snapshots: Counter
    private let snapshotsFailed: Counter
    private let snapshotBytes: Counter

    init(store: StoreName) {
        let dimensions = [("store", store.text)]
        func counter(_ label: String) -> Counter {
            Counter(label: "statecast_journal_" + label, dimensions: dimensions)
        }
        commits = counter("commits_total")
        commitTime = Timer(label: "statecast_journal_commit_time", dimensions: dimensions)
        commitRecords = Recorder(label: "statecast_journal_commit_records", dimensions: dimensions)
        bytes = counter("bytes_total")
        full = counter("full_total")
        unknown = counter("commits_unknown_total")
        snapshots = counter("snapshots_total")
        snapshotsFailed = counter("snapshots_failed_total")
        snapshotBytes = counter("snapshot_bytes_total")
    }

    func committed(_ records: [JournalRecord], bytes count: Int, in duration: Duration) {
        commits.increment()
        commitTime.record(duration: duration)
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
