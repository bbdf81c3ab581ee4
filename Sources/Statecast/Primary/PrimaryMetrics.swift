import Metrics
import StatecastProtocol

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

    func count(_ event: StoreEvent) {
        switch event {
        case .refused(let code): rejections("requests_refused_total", code).increment()
        case .duplicates(let count): duplicates.increment(by: count)
        case .outOfOrder: outOfOrder.increment()
        case .otherLineage: otherLineage.increment()
        case .joined: joins.increment()
        case .joinAbandoned: joinsAbandoned.increment()
        case .chunkPublished: chunks.increment()
        case .sessionOpened: sessions.increment()
        case .published(let counts, let patchBytes): published(counts, patchBytes: patchBytes)
        case .joinsWaiting(let count): joinsWaiting.record(count)
        }
    }

    private func published(_ counts: OutcomeCounts, patchBytes: Int?) {
        applied.increment(by: counts.applied)
        for (code, count) in counts.rejected { rejections("actions_rejected_total", code).increment(by: count) }
        batches.increment()
        batchActions.record(counts.total)
        if let patchBytes { updateBytes.record(patchBytes) }
    }

    private func rejections(_ label: String, _ code: Rejection.Code) -> Counter {
        Counter(label: "statecast_primary_" + label, dimensions: [("store", store.text), ("code", code.group)])
    }
}
