import Metrics
package import StatecastJournal
package import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// A node whose health operators can see: a primary's node, a replica or a sender.
public protocol MonitoredNode: Sendable {
    /// Reads the health of the node without waiting for it.
    var health: NodeHealth { get }
}

/// Access to the state of a node, for probes and operators.
public struct NodeHealth: Sendable {
    /// What the node is and does at the moment.
    package let report: @Sendable () -> NodeReport
    /// Lets the node's loop call a function soon, whatever else it has to do.
    package let wake: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(
        report: @escaping @Sendable () -> NodeReport,
        wake: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.report, self.wake) = (report, wake)
    }

    init(on loop: PollLoop, report: @escaping @Sendable () -> NodeReport) {
        let executor = LoopTaskExecutor(on: loop)
        // From its first line on the loop: Swift's pool may be occupied.
        self.init(report: report) { answer in Task(executorPreference: executor) { answer() } }
    }
}

/// What a node tells its operators.
package struct NodeReport: Sendable {
    package enum Role: String, Sendable { case primary, replica, sender }

    package let role: Role
    /// The name of what the node does, such as `recovering`.
    package var phase: String
    /// What keeps a primary from serving replicas, and a replica from showing the present state: codes.
    package var reasons: [String] = []
    /// What keeps a primary from accepting actions, and a sender from sending them: codes.
    package var reasonsForSenders: [String] = []
    package var stores: [StoreHealth]
    package var gauges: [NodeMetric: Double] = [:]
    /// Whether the node recovers its stores.
    package var isStarting = false

    package init(role: Role, phase: String, stores: [StoreHealth] = []) {
        (self.role, self.phase, self.stores) = (role, phase, stores)
    }
}

/// The state of one store at a node.
package struct StoreHealth: Sendable {
    package let store: StoreName
    package var position: Position?
    /// Of its journal.
    package var durability: Durability?
    package var gauges: [NodeMetric: Double]

    package init(store: StoreName, position: Position? = nil, gauges: [NodeMetric: Double] = [:]) {
        (self.store, self.position, self.gauges) = (store, position, gauges)
    }
}

/// What a primary's node does; the names are those of ``NodeReport/phase``.
package enum PrimaryPhase: String, Sendable {
    case created, recovering, standby, serving, stopping
    /// It serves, and publishes nothing until a commit to the shared journal is confirmed.
    case unconfirmed

    package func report(_ stores: [StoreHealth], _ gauges: [NodeMetric: Double] = [:]) -> NodeReport {
        var report = NodeReport(role: .primary, phase: rawValue, stores: stores)
        report.gauges = gauges
        report.isStarting = self == .created || self == .recovering
        guard self == .serving else {
            (report.reasons, report.reasonsForSenders) = ([rawValue], [rawValue])
            return report
        }
        if stores.contains(where: { $0.gauges[.primaryStorageFull] == 1 }) {
            report.reasonsForSenders = [Rejection.Code.storageFull.rawValue]
        }
        return report
    }
}

extension NodeReport {
    /// Reports the gauges: once a second, since most change with each action.
    func recordGauges() {
        for (metric, value) in gauges { metric.gauge().record(value) }
        for health in stores {
            let dimensions = [("store", health.store.text)]
            for (metric, value) in health.gauges { metric.gauge(dimensions).record(value) }
            guard role == .primary, let position = health.position else { continue }
            NodeMetric.primaryEpoch.gauge(dimensions).record(Double(position.epoch.rawValue))
            NodeMetric.primaryRevision.gauge(dimensions).record(Double(position.revision.rawValue))
        }
    }

    init(_ store: StoreHealth, _ status: ReplicaStatus) {
        self.init(role: .replica, phase: status.phase, stores: [store])
        if status != .live { reasons = [phase] }
    }

    init(_ store: StoreHealth, _ status: SenderStatus) {
        self.init(role: .sender, phase: status.phase, stores: [store])
        if status != .open { reasonsForSenders = [phase] }
    }
}

extension ReplicaStatus {
    fileprivate var phase: String {
        switch self {
        case .joining: "joining"
        case .live: "live"
        case .stale: "stale"
        case .refused: "refused"
        case .incompatible: "incompatible"
        }
    }
}

extension SenderStatus {
    fileprivate var phase: String {
        switch self {
        case .connecting: "connecting"
        case .open: "open"
        case .waiting: "waiting"
        case .unreachable: "unreachable"
        case .refused: "refused"
        }
    }
}
