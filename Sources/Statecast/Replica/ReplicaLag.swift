internal import Metrics
internal import SyncProtocol
internal import Synchronization

/// Reports how many revisions lie between the newest one that the primary spoke of and the one that is shown.
///
/// The loop hears of the one, the document's task shows the other; neither waits for the other because of a number.
final class ReplicaLag: Sendable {
    private struct Storage {
        var head: Position?
        var shown: Position?

        /// Between two histories there is no number.
        var revisions: Int? {
            guard let head, let shown, head.lineage == shown.lineage else { return nil }
            return head.revision.distance(beyond: shown.revision)
        }
    }

    private let storage = Mutex(Storage())
    private let gauge: Gauge

    init(store: StoreName) {
        gauge = Gauge(label: "statecast_replica_lag_revisions", dimensions: [("store", store.text)])
    }

    /// The primary says in a frame how far it is.
    func heard(_ frame: Frame) {
        switch frame {
        case .update(let update): heard(update.lineage, update.epoch, update.to)
        case .heartbeat(let heartbeat): heard(heartbeat.lineage, heartbeat.epoch, heartbeat.head)
        case .welcome(let welcome): heard(welcome.lineage, welcome.epoch, welcome.head)
        default: return
        }
    }

    /// A state is shown.
    func shown(_ position: Position) { report { $0.shown = position } }

    private func heard(_ lineage: Lineage, _ epoch: Epoch, _ revision: Revision) {
        report { storage in
            // What a join is answered with lies behind what was heard before.
            if let head = storage.head, head.lineage == lineage, head.revision >= revision { return }
            storage.head = Position(lineage: lineage, epoch: epoch, revision: revision)
        }
    }

    /// Reports in the order of the changes.
    private func report(_ change: (inout sending Storage) -> Void) {
        storage.withLock { storage in
            change(&storage)
            if let revisions = storage.revisions { gauge.record(revisions) }
        }
    }
}
