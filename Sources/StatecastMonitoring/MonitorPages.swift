import Statecast
import StatecastCoding
import StatecastJSON

/// What the pages of a monitor show, as JSON.
struct MonitorPages: Sendable {
    /// A page, and whether what it was asked for is so.
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

    /// - Parameter parts: what has to be ready: replicas, senders or both.
    func ready(replicas: Bool, senders: Bool) -> Page {
        let reports = reports
        let (forReplicas, forSenders) = (reports.flatMap(\.reasons), reports.flatMap(\.reasonsForSenders))
        let isReady = !(replicas && !forReplicas.isEmpty) && !(senders && !forSenders.isEmpty)
        func part(_ reasons: [String]) -> Value {
            ["ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map { .text($0) })]
        }
        return Page(
            isGood: isReady,
            content: ["ready": .bool(isReady), "replicas": part(forReplicas), "senders": part(forSenders)]
        )
    }

    var started: Page {
        let reports = reports
        let isStarted = !reports.contains(where: \.isStarting)
        return Page(
            isGood: isStarted,
            content: ["started": .bool(isStarted), "phases": .array(reports.map { .text($0.phase) })]
        )
    }

    var status: Value { ["version": .text(Release.number), "nodes": .array(reports.map(\.content))] }
}

extension NodeReport {
    fileprivate var content: Value {
        func reasons(_ codes: [String]) -> Value { .array(codes.map { .text($0) }) }
        return [
            "role": .text(role.rawValue), "phase": .text(phase),
            "replicas": ["ready": .bool(self.reasons.isEmpty), "reasons": reasons(self.reasons)],
            "senders": ["ready": .bool(reasonsForSenders.isEmpty), "reasons": reasons(reasonsForSenders)],
            "stores": .array(stores.map(\.content)),
        ]
    }
}

extension StoreHealth {
    /// What is known, with the names of `statecast-send --ping --json`.
    fileprivate var content: Value {
        let known: [(name: Value, value: Value?)] = [
            ("store", .text(store.text)),
            ("lineage", position.map { .text("\($0.lineage)") }),
            ("epoch", position.map { Value($0.epoch.rawValue) }),
            ("revision", position.map { Value($0.revision.rawValue) }),
            ("sessions", sessions.map { Value($0) }),
            ("stateBytes", stateBytes.map { Value($0) }),
            ("heldBytes", heldBytes.map { Value($0) }),
            ("isFull", isFull.map { .bool($0) }),
        ]
        return .map(known.reduce(into: [:]) { $0[$1.name] = $1.value })
    }
}
