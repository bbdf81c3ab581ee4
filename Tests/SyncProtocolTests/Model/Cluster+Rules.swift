import StateCore
import SyncProtocol

extension Cluster {
    /// The violated invariants of a quiescent cluster.
    func violations(mayForgetSessions: Bool) -> [String] {
        (pastReplicas + replicas).flatMap { violations(ofShown: $0) }
            + replicas.enumerated().flatMap { index, replica in
                violations(of: replica).map { "replica \(index): \($0)" }
            }
            + senders.enumerated().flatMap { index, sender in
                violations(of: sender, mayForgetSessions: mayForgetSessions).map { "sender \(index): \($0)" }
            }
            + orderViolations + ownViolations
    }

    private var primaries: [ModelPrimary] { pastPrimaries + [primary] }

    private func primary(of lineage: Lineage) -> ModelPrimary? { primaries.first { $0.machine.lineage == lineage } }

    private func violations(ofShown replica: ModelReplica) -> [String] {
        var violations = replica.violations
        for (position, digest) in zip(replica.shown, replica.digests)
        where primary(of: position.lineage)?.digests[position.revision] != digest {
            violations.append("a replica showed a state that the primary never had, at \(position)")
        }
        return violations
    }

    private func violations(of replica: ModelReplica) -> [String] {
        var violations: [String] = []
        if replica.machine.position?.lineage != primary.machine.lineage { violations.append("follows another history") }
        if replica.digests.last != primary.digest { violations.append("ends in another state") }
        if replica.link.wanted != [Address(Fixture.store(), .feed).bytes: 1] {
            violations.append(
                "keeps subscriptions: \(replica.link.wanted.keys.map { String(decoding: $0, as: UTF8.self) })"
            )
        }
        return violations
    }

    private func violations(of sender: ModelSender, mayForgetSessions: Bool) -> [String] {
        var violations = sender.violations
        let receipts = Address(Fixture.store(), .receipts(sender.machine.session)).bytes
        if sender.link.wanted != [receipts: 1] { violations.append("keeps subscriptions") }
        let mayBeUnknown = mayForgetSessions || !pastPrimaries.isEmpty
        for action in sender.all {
            let count = primaries.reduce(0) { $0 + ($1.timesApplied[action] ?? 0) }
            if count > 1 { violations.append("\(action) was applied \(count) times") }
            switch sender.outcomes[action] {
            case .applied(let position):
                if primary(of: position.lineage)?.applied[position.revision] != action {
                    violations.append("\(action) was not applied at \(position)")
                }
            case .rejected(let rejection):
                switch rejection.code {
                case .outcomeUnknown where mayBeUnknown: break
                case .refused where action.isRefused && count == 0: break
                default: violations.append("\(action), applied \(count) times, was answered \(rejection)")
                }
            case nil where sender.notSent.contains(action):
                if count > 0 { violations.append("\(action) was applied and reported as not sent") }
            case nil: violations.append("\(action) was forgotten")
            }
        }
        for action in Set(primaries.flatMap(\.applied.values)) where action.sender == sender.all.first?.sender {
            if action.serial >= sender.serial { violations.append("\(action) was applied, and its sender lost it") }
        }
        return violations
    }

    /// All actions of the primary's own process are durable.
    private var ownViolations: [String] {
        let (room, roomMax) = (primary.machine.ownRoom, primary.machine.limits.windowActionsMax)
        return room == roomMax ? [] : ["the primary's own session has room for \(room), not \(roomMax)"]
    }

    /// Each sender's actions are applied in the order in which they were sent.
    private var orderViolations: [String] {
        var last: [Int: Int] = [:]
        var violations: [String] = []
        for primary in primaries {
            // Its own session begins with its lineage.
            last[ModelPrimary.itself] = nil
            for (revision, action) in primary.applied.sorted(by: { $0.key < $1.key }) {
                if let before = last[action.sender], before >= action.serial {
                    violations.append("\(action) was applied after \(before), at \(revision)")
                }
                last[action.sender] = action.serial
            }
        }
        return violations
    }
}

extension ModelPrimary {
    /// The number of times that each action was applied.
    fileprivate var timesApplied: [ModelAction: Int] {
        applied.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
