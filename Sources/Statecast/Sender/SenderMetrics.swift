import Metrics
package import StatecastProtocol

/// The metrics of a sender. Each label has the dimension `store`.
package struct SenderMetrics {
    private let dimensions: [(String, String)]
    private let appliedCount: Counter
    private let frames: Counter
    private let pushed: Counter
    private let asked: Counter
    private let reconnects: Counter
    private let rewound: Counter
    private let lineages: Counter
    private let losses: Counter
    private let receipts: Timer

    package init(store: StoreName) {
        let dimensions = [("store", store.text)]
        self.dimensions = dimensions
        appliedCount = NodeMetric.senderActionsApplied.counter(dimensions)
        frames = NodeMetric.senderFrames.counter(dimensions)
        pushed = NodeMetric.senderActionsPushed.counter(dimensions)
        asked = NodeMetric.senderWatermarksAsked.counter(dimensions)
        reconnects = NodeMetric.senderReconnects.counter(dimensions)
        rewound = NodeMetric.senderRewound.counter(dimensions)
        lineages = NodeMetric.senderLineagesChanged.counter(dimensions)
        losses = NodeMetric.senderOutcomesLost.counter(dimensions)
        receipts = NodeMetric.senderReceiptDurationSeconds.timer(dimensions)
    }

    package func resolved(_ counts: OutcomeCounts) {
        if counts.applied > 0 { appliedCount.increment(by: counts.applied) }
        // Kept actions have no outcome yet: they are in the session file.
        for (code, count) in counts.rejected where code != .kept {
            counter(.senderActionsRejected, code).increment(by: count)
        }
    }

    package func received(after duration: Duration) { receipts.record(duration) }

    package func count(_ event: SenderEvent) {
        switch event {
        case .asked: asked.increment()
        case .reconnecting, .actionsReconnecting: reconnects.increment()
        case .rewound: rewound.increment()
        case .lineageChanged: lineages.increment()
        case .outcomesLost: losses.increment()
        case .refused(let code): counter(.senderRequestsRefused, code).increment()
        case .framePushed(let actions):
            frames.increment()
            pushed.increment(by: actions)
        }
    }

    private func counter(_ metric: NodeMetric, _ code: Rejection.Code) -> Counter {
        metric.counter(dimensions + [("code", code.group)])
    }
}
