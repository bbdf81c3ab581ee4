import Metrics
package import StatecastProtocol
import StatecastThreading

/// The metrics of a replica. Each label has the dimension `store`.
package struct ReplicaMetrics {
    private let dimensions: [(String, String)]
    private let updates: Counter
    private let updateBytes: Counter
    private let joins: Counter
    private let reconnects: Counter
    private let gaps: Counter
    private let snapshots: Counter
    private let snapshotBytes: Counter
    private let startedOver: Counter
    private let rewound: Counter
    private let backlogOverflows: Counter
    private let unreadable: Counter
    private let queueSteps: Recorder

    package init(store: StoreName) {
        let dimensions = [("store", store.text)]
        self.dimensions = dimensions
        updates = NodeMetric.replicaUpdates.counter(dimensions)
        updateBytes = NodeMetric.replicaPatchBytes.counter(dimensions)
        joins = NodeMetric.replicaJoins.counter(dimensions)
        reconnects = NodeMetric.replicaReconnects.counter(dimensions)
        gaps = NodeMetric.replicaGaps.counter(dimensions)
        snapshots = NodeMetric.replicaSnapshots.counter(dimensions)
        snapshotBytes = NodeMetric.replicaSnapshotBytes.counter(dimensions)
        startedOver = NodeMetric.replicaDiverged.counter(dimensions)
        rewound = NodeMetric.replicaRewound.counter(dimensions)
        backlogOverflows = NodeMetric.replicaBacklogOverflows.counter(dimensions)
        unreadable = NodeMetric.replicaMessagesUnreadable.counter(dimensions)
        queueSteps = NodeMetric.replicaQueueSteps.recorder(dimensions)
    }

    package func applied(bytes: Int) {
        updates.increment()
        updateBytes.increment(by: bytes)
    }

    func malformed() { unreadable.increment() }

    package func count(_ event: ReplicaEvent) {
        switch event {
        case .joining: joins.increment()
        case .reconnecting: reconnects.increment()
        case .gap: gaps.increment()
        case .rewound: rewound.increment()
        case .snapshot(let bytes):
            snapshots.increment()
            snapshotBytes.increment(by: bytes)
        case .diverged: startedOver.increment()
        case .backlogOverflow: backlogOverflows.increment()
        case .refused(let code):
            NodeMetric.replicaJoinsRefused.counter(dimensions + [("code", code.group)]).increment()
        }
    }

    /// The size of a batch when the document dequeues it.
    package func dequeued(steps: Int) { queueSteps.record(steps) }
}

/// How far the shown state is from the newest one that the primary announced.
///
/// The loop updates the newest revision, the document's task the one shown.
final class ReplicaLag: Sendable {
    private struct Storage {
        var head: Position?
        var shown: Position?
        /// The head at the last sample, and when that was.
        var sampled: (head: Position, time: ContinuousClock.Instant)?
        /// When the shown state was last known to be the present one.
        var lastPresent = ContinuousClock.now

        /// `nil` if the positions belong to different histories.
        var revisions: Int? {
            guard let head, let shown, head.lineage == shown.lineage else { return nil }
            return head.revision.distance(beyond: shown.revision)
        }
    }

    private let storage = Locked(Storage())

    /// Notes the revision that a frame of the primary announces.
    func received(_ frame: Frame) {
        switch frame {
        case .update(let update): noteHead(update.lineage, update.epoch, update.to)
        case .heartbeat(let heartbeat): noteHead(heartbeat.lineage, heartbeat.epoch, heartbeat.head)
        case .welcome(let welcome): noteHead(welcome.lineage, welcome.epoch, welcome.head)
        default: return
        }
    }

    func shown(_ position: Position) { storage.withLock { $0.shown = position } }

    private func noteHead(_ lineage: Lineage, _ epoch: Epoch, _ revision: Revision) {
        storage.withLock { storage in
            // The answer to a join may be older than a frame received before.
            if let head = storage.head, head.lineage == lineage, head.revision >= revision { return }
            storage.head = Position(lineage: lineage, epoch: epoch, revision: revision)
        }
    }

    /// Notes, once a second, whether the replica keeps up: with a stream of updates, it rarely shows the newest
    /// revision, but that of a second before.
    func sample(isLive: Bool, at now: ContinuousClock.Instant = .now) {
        storage.withLock { storage in
            defer { storage.sampled = storage.head.map { ($0, now) } }
            guard isLive, let shown = storage.shown else { return }
            if storage.revisions == 0 {
                storage.lastPresent = now
            } else if let (head, time) = storage.sampled, head.lineage == shown.lineage, shown.revision >= head.revision
            {
                storage.lastPresent = time
            }
        }
    }

    /// What operators see.
    func gauges(isLive: Bool, at now: ContinuousClock.Instant = .now) -> [NodeMetric: Double] {
        storage.withLock { storage in
            let isPresent = isLive && storage.revisions == 0
            let lag = isPresent ? Duration.zero : storage.lastPresent.duration(to: now)
            var gauges = [NodeMetric.replicaLive: isLive ? 1.0 : 0, .replicaLagSeconds: lag / .seconds(1)]
            gauges[.replicaLagRevisions] = storage.revisions.map(Double.init)
            return gauges
        }
    }
}
