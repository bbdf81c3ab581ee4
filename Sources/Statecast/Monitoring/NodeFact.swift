import Metrics
import StatecastProtocol

/// A number that operators see of a node or of one of its stores: a gauge, and a member of `/statusz`.
package enum NodeFact: String, CaseIterable, Sendable {
    // Of a store at its primary.
    case sessions, stateBytes, heldBytes, joinsWaiting, effectsRunning, isStorageFull
    case recordsRecovered, recordsToRecover
    case journalBytes, oldestRevision, lastSnapshotSeconds, lastBackupSeconds
    // Of a node that shares its journals.
    case isLeading, leaseSeconds, standbyLagRecords
    // Of a replica.
    case isLive, lagRevisions, lagSeconds
    // Of a sender.
    case isOpen, outboxActions

    /// Whether it is 1 or 0 for yes or no.
    package var isFlag: Bool { rawValue.hasPrefix("is") }

    private var metric: NodeMetric {
        switch self {
        case .sessions: .primarySessions
        case .stateBytes: .primaryStateBytes
        case .heldBytes: .primaryHeldBytes
        case .joinsWaiting: .primaryJoinsWaiting
        case .effectsRunning: .primaryEffectsRunning
        case .isStorageFull: .primaryStorageFull
        case .recordsRecovered: .primaryRecordsRecovered
        case .recordsToRecover: .primaryRecordsToRecover
        case .journalBytes: .journalSizeBytes
        case .oldestRevision: .journalOldestRevision
        case .lastSnapshotSeconds: .journalLastSnapshotSeconds
        case .lastBackupSeconds: .journalLastBackupSeconds
        case .isLeading: .primaryLeading
        case .leaseSeconds: .primaryLeaseSeconds
        case .standbyLagRecords: .primaryStandbyLagRecords
        case .isLive: .replicaLive
        case .lagRevisions: .replicaLagRevisions
        case .lagSeconds: .replicaLagSeconds
        case .isOpen: .senderOpen
        case .outboxActions: .senderOutboxActions
        }
    }

    fileprivate static func record(_ facts: [NodeFact: Double], _ dimensions: [(String, String)] = []) {
        for (fact, value) in facts { fact.metric.gauge(dimensions).record(value) }
    }
}

extension NodeReport {
    /// Reports the gauges: once a second, since most change with each action.
    func recordGauges() {
        NodeFact.record(facts)
        for health in stores {
            let dimensions = [("store", health.store.text)]
            NodeFact.record(health.facts, dimensions)
            guard role == .primary, let position = health.position else { continue }
            NodeMetric.primaryEpoch.gauge(dimensions).record(Double(position.epoch.rawValue))
            NodeMetric.primaryRevision.gauge(dimensions).record(Double(position.revision.rawValue))
        }
    }
}
