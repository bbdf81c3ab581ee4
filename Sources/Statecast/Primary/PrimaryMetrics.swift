internal import Metrics
internal import SyncProtocol

/// The metrics of a store. Each label has the dimension `store`.
struct PrimaryMetrics {
    private let store: StoreName
    private let applied: Counter
    private let batches: Counter
    private let duplicates: Counter
    private let outOfOrder: Counter
    private let joins: Counter
    private let joinsAbandoned: Counter
    private let joinsWaiting: Gauge
    private let chunks: Counter
    private let sessions: Counter
    private let otherLineage: Counter
    private let batchActions: Recorder
    private let updateBytes: Recorder

    init(store: StoreName) {
        self.store = store
        let dimensions = [("store", store.text)]
        func counter(_ label: String) -> Counter {
            Counter(label: "statecast_primary_" + label, dimensions: dimensions)
        }
        applied = counter("actions_applied_total")
        batches = counter("batches_total")
        duplicates = counter("actions_duplicate_total")
        outOfOrder = counter("frames_out_of_order_total")
        joins = counter("joins_total")
        joinsAbandoned = counter("joins_abandoned_total")
        joinsWaiting = Gauge(label: "statecast_primary_joins_waiting", dimensions: dimensions)
        chunks = counter("chunks_total")
        sessions = counter("sessions_opened_total")
        otherLineage = counter("frames_other_lineage_total")
        batchActions = Recorder(label: "statecast_primary_batch_actions", dimensions: dimensions)
        updateBytes = Recorder(label: "statecast_primary_patch_bytes", dimensions: dimensions)
    }

    func count(_ event: PrimaryEvent) {
        switch event {
        case .refused(let code): rejections("requests_refused_total", code).increment()
        case .duplicates(let count): duplicates.increment(by: count)
        case .outOfOrder: outOfOrder.increment()
        case .otherLineage: otherLineage.increment()
        case .joined: joins.increment()
        case .joinAbandoned: joinsAbandoned.increment()
        case .chunkPublished: chunks.increment()
        case .sessionOpened: sessions.increment()
        }
    }

    /// The number of joins that wait at the end of a turn.
    func waiting(joins count: Int) { joinsWaiting.record(count) }

    func closed(_ record: Record, _ outcomeCounts: OutcomeCounts) {
        applied.increment(by: outcomeCounts.applied)
        for (code, count) in outcomeCounts.rejected { rejections("actions_rejected_total", code).increment(by: count) }
        batches.increment()
        batchActions.record(record.outcomes.reduce(0) { $0 + $1.last.distance(beyond: $1.first) + 1 })
        if let update = record.update { updateBytes.record(update.patch.count) }
    }

    private func rejections(_ label: String, _ code: Rejection.Code) -> Counter {
        Counter(label: "statecast_primary_" + label, dimensions: [("store", store.text), ("code", code.group)])
    }
}
