import Metrics
import StatecastProtocol

/// The metrics of a sender. Each label has the dimension `store`.
struct SenderMetrics {
    private let dimensions: [(String, String)]
    private let appliedCount: Counter
    private let frames: Counter
    private let pushed: Counter
    private let asked: Counter
    private let reconnects: Counter
    private let rewound: Counter
    private let lineages: Counter
    private let losses: Counter
    private let outbox: Gauge

    init(store: StoreName) {
        let dimensions = [("store", store.text)]
        func counter(_ label: String) -> Counter { Counter(label: "statecast_sender_" + label, dimensions: dimensions) }
        self.dimensions = dimensions
        appliedCount = counter("actions_applied_total")
        frames = counter("frames_total")
        pushed = counter("actions_pushed_total")
        asked = counter("watermarks_asked_total")
        reconnects = counter("reconnects_total")
        rewound = counter("rewound_total")
        lineages = counter("lineages_changed_total")
        losses = counter("outcomes_lost_total")
        outbox = Gauge(label: "statecast_sender_outbox_actions", dimensions: dimensions)
    }

    func resolved(_ counts: OutcomeCounts) {
        if counts.applied > 0 { appliedCount.increment(by: counts.applied) }
        // Kept actions have no outcome yet: they are in the session file.
        for (code, count) in counts.rejected where code != .kept {
            counter("actions_rejected_total", code).increment(by: count)
        }
    }

    func pending(_ count: Int) { outbox.record(count) }

    func count(_ event: SenderEvent) {
        switch event {
        case .asked: asked.increment()
        case .reconnecting, .actionsReconnecting: reconnects.increment()
        case .rewound: rewound.increment()
        case .lineageChanged: lineages.increment()
        case .outcomesLost: losses.increment()
        case .refused(let code): counter("requests_refused_total", code).increment()
        case .framePushed(let actions):
            frames.increment()
            pushed.increment(by: actions)
        }
    }

    private func counter(_ label: String, _ code: Rejection.Code) -> Counter {
        Counter(label: "statecast_sender_" + label, dimensions: dimensions + [("code", code.group)])
    }
}
