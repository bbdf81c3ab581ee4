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
    private let (epoch, revision, sessionCount, stateBytes, heldBytes): (Gauge, Gauge, Gauge, Gauge, Gauge)
    private let batchActions: Recorder
    private let updateBytes: Recorder

    init(store: StoreName) {
        self.store = store
        let dimensions = [("store", store.text)]
        applied = NodeMetric.primaryActionsApplied.counter(dimensions)
        batches = NodeMetric.primaryBatches.counter(dimensions)
        duplicates = NodeMetric.primaryActionsDuplicate.counter(dimensions)
        outOfOrder = NodeMetric.primaryFramesOutOfOrder.counter(dimensions)
        joins = NodeMetric.primaryJoins.counter(dimensions)
        joinsAbandoned = NodeMetric.primaryJoinsAbandoned.counter(dimensions)
        joinsWaiting = NodeMetric.primaryJoinsWaiting.gauge(dimensions)
        chunks = NodeMetric.primaryChunks.counter(dimensions)
        sessions = NodeMetric.primarySessionsOpened.counter(dimensions)
        otherLineage = NodeMetric.primaryFramesOtherLineage.counter(dimensions)
        epoch = NodeMetric.primaryEpoch.gauge(dimensions)
        revision = NodeMetric.primaryRevision.gauge(dimensions)
        sessionCount = NodeMetric.primarySessions.gauge(dimensions)
        stateBytes = NodeMetric.primaryStateBytes.gauge(dimensions)
        heldBytes = NodeMetric.primaryHeldBytes.gauge(dimensions)
        batchActions = NodeMetric.primaryBatchActions.recorder(dimensions)
        updateBytes = NodeMetric.primaryPatchBytes.recorder(dimensions)
    }

    func sampled(_ health: StoreHealth) {
        if let position = health.position {
            epoch.record(Double(position.epoch.rawValue))
            revision.record(Double(position.revision.rawValue))
        }
        sessionCount.record(health.sessions ?? 0)
        stateBytes.record(health.stateBytes ?? 0)
        heldBytes.record(health.heldBytes ?? 0)
    }

    func count(_ event: StoreEvent) {
        switch event {
        case .refused(let code): rejections(.primaryRequestsRefused, code).increment()
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
        for (code, count) in counts.rejected { rejections(.primaryActionsRejected, code).increment(by: count) }
        batches.increment()
        batchActions.record(counts.total)
        if let patchBytes { updateBytes.record(patchBytes) }
    }

    private func rejections(_ metric: NodeMetric, _ code: Rejection.Code) -> Counter {
        metric.counter([("store", store.text), ("code", code.group)])
    }
}
