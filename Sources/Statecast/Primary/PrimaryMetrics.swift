import Metrics
package import StatecastProtocol

/// The metrics of a store. Each label has the dimension `store`.
package struct PrimaryMetrics {
    private let store: StoreName
    private let applied: Counter
    private let batches: Counter
    private let duplicates: Counter
    private let outOfOrder: Counter
    private let joins: Counter
    private let joinsAbandoned: Counter
    private let chunks: Counter
    private let sessions: Counter
    private let otherLineage: Counter
    private let effectsFailed: Counter
    private let (turns, reductions, waits): (Timer, Timer, Timer)
    private let batchActions: Recorder
    private let updateBytes: Recorder

    package init(store: StoreName) {
        self.store = store
        let dimensions = [("store", store.text)]
        applied = NodeMetric.primaryActionsApplied.counter(dimensions)
        batches = NodeMetric.primaryBatches.counter(dimensions)
        duplicates = NodeMetric.primaryActionsDuplicate.counter(dimensions)
        outOfOrder = NodeMetric.primaryFramesOutOfOrder.counter(dimensions)
        joins = NodeMetric.primaryJoins.counter(dimensions)
        joinsAbandoned = NodeMetric.primaryJoinsAbandoned.counter(dimensions)
        chunks = NodeMetric.primaryChunks.counter(dimensions)
        sessions = NodeMetric.primarySessionsOpened.counter(dimensions)
        otherLineage = NodeMetric.primaryFramesOtherLineage.counter(dimensions)
        effectsFailed = NodeMetric.primaryEffectsFailed.counter(dimensions)
        turns = NodeMetric.primaryTurnDurationSeconds.timer(dimensions)
        reductions = NodeMetric.primaryReduceDurationSeconds.timer(dimensions)
        waits = NodeMetric.primaryWaitDurationSeconds.timer(dimensions)
        batchActions = NodeMetric.primaryBatchActions.recorder(dimensions)
        updateBytes = NodeMetric.primaryPatchBytes.recorder(dimensions)
    }

    package func turned(in duration: Duration, reducedIn reduction: Duration) {
        turns.record(duration)
        reductions.record(reduction)
    }

    func effectFailed() { effectsFailed.increment() }

    package func count(_ event: StoreEvent) {
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
        case .reduced(let waited): waits.record(waited)
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
