internal import Metrics
internal import SyncProtocol

/// What a replica reports to swift-metrics, every label with the dimension `store`.
struct ReplicaMetrics {
    private let dimensions: [(String, String)]
    private let updates: Counter
    private let updateBytes: Counter
    private let joins: Counter
    private let gaps: Counter
    private let snapshots: Counter
    private let snapshotBytes: Counter
    private let startedOver: Counter
    private let rewound: Counter
    private let backlogOverflows: Counter
    private let unreadable: Counter
    private let queueSteps: Recorder

    init(store: StoreName) {
        let dimensions = [("store", store.text)]
        func counter(_ label: String) -> Counter {
            Counter(label: "statecast_replica_" + label, dimensions: dimensions)
        }
        self.dimensions = dimensions
        updates = counter("updates_total")
        updateBytes = counter("patch_bytes_total")
        joins = counter("joins_total")
        gaps = counter("gaps_total")
        snapshots = counter("snapshots_total")
        snapshotBytes = counter("snapshot_bytes_total")
        startedOver = counter("diverged_total")
        rewound = counter("rewound_total")
        backlogOverflows = counter("backlog_overflows_total")
        unreadable = counter("messages_unreadable_total")
        queueSteps = Recorder(label: "statecast_replica_queue_steps", dimensions: dimensions)
    }

    func applied(bytes: Int) {
        updates.increment()
        updateBytes.increment(by: bytes)
    }

    func malformed() { unreadable.increment() }

    func count(_ event: ReplicaEvent) {
        switch event {
        case .joining: joins.increment()
        case .gap: gaps.increment()
        case .rewound: rewound.increment()
        case .snapshot(let bytes):
            snapshots.increment()
            snapshotBytes.increment(by: bytes)
        case .diverged: startedOver.increment()
        case .backlogOverflow: backlogOverflows.increment()
        case .refused(let code):
            Counter(label: "statecast_replica_joins_refused_total", dimensions: dimensions + [("code", code.group)])
                .increment()
        }
    }

    /// What waited for the document when it came to it.
    func queued(steps: Int) { queueSteps.record(steps) }
}
