import Statecast
import StatecastCoding
import StatecastJSON

/// What the pages of a monitor show, as JSON.
struct MonitorPages: Sendable {
    /// A page, and whether the checked condition holds.
    struct Page: Sendable {
        let isGood: Bool
        let content: Value
    }

    let nodes: [NodeHealth]

    private var reports: [NodeReport] { nodes.map { $0.report() } }

    func live(_ silences: [Duration]) -> Page {
        let silent = zip(reports, silences).filter { $1 >= Liveness.limit }
        return Page(
            isGood: silent.isEmpty,
            content: [
                "live": .bool(silent.isEmpty),
                "reasons": .array(
                    silent.map { .text("the loop of the \($0.role) has not answered for \($1.components.seconds) s") }
                ),
            ]
        )
    }

    /// Whether the nodes are ready for replicas, for senders, or for both.
    func ready(replicas: Bool, senders: Bool) -> Page {
        let reports = reports
        let (forReplicas, forSenders) = (reports.flatMap(\.reasons), reports.flatMap(\.reasonsForSenders))
        let isReady = !(replicas && !forReplicas.isEmpty) && !(senders && !forSenders.isEmpty)
        return Page(
            isGood: isReady,
            content: ["ready": .bool(isReady), "replicas": readiness(forReplicas), "senders": readiness(forSenders)]
        )
    }

    var started: Page {
        let reports = reports
        let isStarted = !reports.contains(where: \.isStarting)
        let nodes = reports.map { report -> Value in
            ["phase": .text(report.phase), "stores": .array(report.stores.map(\.content))]
        }
        return Page(isGood: isStarted, content: ["started": .bool(isStarted), "nodes": .array(nodes)])
    }

    var status: Value { ["version": .text(Release.number), "nodes": .array(reports.map(\.content))] }
}

extension NodeReport {
    fileprivate var content: Value {
        var content: ValueMap = [
            "role": .text(role.rawValue), "phase": .text(phase), "replicas": readiness(reasons),
            "senders": readiness(reasonsForSenders), "stores": .array(stores.map(\.content)),
        ]
        content.add(gauges)
        return .map(content)
    }
}

extension StoreHealth {
    /// What is known, with the names of `statecast-send --ping --json`.
    fileprivate var content: Value {
        var content: ValueMap = ["store": .text(store.text)]
        if let position {
            content["lineage"] = .text("\(position.lineage)")
            content["epoch"] = Value(position.epoch.rawValue)
            content["revision"] = Value(position.revision.rawValue)
        }
        if let durability { content["durability"] = .text(durability.rawValue) }
        content.add(gauges)
        return .map(content)
    }
}

extension ValueMap {
    fileprivate mutating func add(_ gauges: [NodeMetric: Double]) {
        for (metric, value) in gauges {
            let number = Int(exactly: value).map { Value($0) } ?? .float(value)
            self[.text(metric.member)] = metric.isFlag ? .bool(value == 1) : number
        }
    }
}

/// Whether a node is ready for some peers, and why not.
private func readiness(_ reasons: [String]) -> Value {
    ["ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map { .text($0) })]
}
