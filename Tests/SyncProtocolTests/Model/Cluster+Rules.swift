import StateCore
import SyncProtocol

extension Cluster {
    /// The violated invariants of a quiescent cluster.
    func violations(mayForgetSessions: Bool) throws -> [String] {
        let histories = try (pastPrimaries + [primary]).map { try ModelHistory($0) }
        return (pastReplicas + replicas).flatMap { violations(ofShown: $0, histories) }
            + replicas.enumerated().flatMap { index, replica in
                violations(of: replica).map { "replica \(index): \($0)" }
            }
            + senders.enumerated().flatMap { index, sender in
                violations(of: sender, histories, mayForgetSessions: mayForgetSessions).map { "sender \(index): \($0)" }
            }
            + orderViolations(histories) + (histories.last.map { ownViolations($0) } ?? [])
    }

    private func violations(ofShown replica: ModelReplica, _ histories: [ModelHistory]) -> [String] {
        var violations = replica.violations
        for (position, digest) in zip(replica.shown, replica.digests)
        where histories.first(where: { $0.lineage == position.lineage })?.digests[position.revision] != digest {
            violations.append("a replica showed a state that the primary never had, at \(position)")
        }
        return violations
    }

    private func violations(of replica: ModelReplica) -> [String] {
        var violations: [String] = []
        if replica.machine.position?.lineage != primary.engine.position.lineage {
            violations.append("follows another history")
        }
        if replica.digests.last != primary.engine.state.digest { violations.append("ends in another state") }
        if replica.link.wanted != [Address(Fixture.store(), .feed).bytes: 1] {
            violations.append(
                "keeps subscriptions: \(replica.link.wanted.keys.map { String(decoding: $0, as: UTF8.self) })"
            )
        }
        return violations
    }

    private func violations(
        of sender: ModelSender,
        _ histories: [ModelHistory],
        mayForgetSessions: Bool
    ) -> [String] {
        var violations = sender.violations
        let receipts = Address(Fixture.store(), .receipts(sender.machine.session)).bytes
        if sender.link.wanted != [receipts: 1] { violations.append("keeps subscriptions") }
        let mayBeUnknown = mayForgetSessions || !pastPrimaries.isEmpty
        for action in sender.all {
            let count = histories.reduce(0) { $0 + ($1.timesApplied[action] ?? 0) }
            if count > 1 { violations.append("\(action) was applied \(count) times") }
            switch sender.outcomes[action] {
            case .success(let position):
                if histories.first(where: { $0.lineage == position.lineage })?.applied[position.revision] != action {
                    violations.append("\(action) was not applied at \(position)")
                }
            case .failure(let rejection):
                switch rejection.code {
                case .outcomeUnknown where mayBeUnknown: break
                case .refused where refuses && action.isRefused && count == 0: break
                case .tooLarge where action.isTooLarge && count == 0: break
                default: violations.append("\(action), applied \(count) times, was answered \(rejection)")
                }
            case nil where sender.notSent.contains(action):
                if count > 0 { violations.append("\(action) was applied and reported as not sent") }
            case nil: violations.append("\(action) was forgotten")
            }
        }
        for action in Set(histories.flatMap(\.applied.values)) where action.sender == sender.all.first?.sender {
            if action.serial >= sender.serial { violations.append("\(action) was applied, and its sender lost it") }
        }
        return violations
    }

    /// All actions of the primary's own process are durable, or rejected for a reason.
    private func ownViolations(_ history: ModelHistory) -> [String] {
        own.compactMap { own in
            let action = own.action
            let revisions = history.applied.filter { $0.value == action }.keys
            let isRefused = refuses && action.isRefused
            // One that is too large is applied if a later one of its batch undoes the excess.
            let mayBeRejected = isRefused || action.isTooLarge
            guard revisions.count <= (isRefused ? 0 : 1) else {
                return "\(action) was applied \(revisions.count) times"
            }
            guard let id = own.id else {
                return revisions.isEmpty && !mayBeRejected ? "\(action) was not applied" : nil
            }
            switch primary.log.answers[id] {
            case nil: return "\(action) has no answer"
            case .applied(_, let position)?:
                if let run = own.run, let end = primary.log.cancelled[run], position.revision > end {
                    return "\(action) was applied at \(position.revision), its effect was cancelled at \(end)"
                }
                return revisions.first == position.revision ? nil : "\(action) was not applied at \(position)"
            case .rejected(let rejection)?:
                let isExpected =
                    switch rejection.code {
                    case .storageFull: own.run == nil
                    case .stopped: own.run.map { primary.log.cancelled[$0] != nil } ?? false
                    default: mayBeRejected
                    }
                return isExpected && revisions.isEmpty ? nil : "\(action) was answered \(rejection)"
            }
        }
    }

    /// Each sender's actions are applied in the order in which they were sent.
    private func orderViolations(_ histories: [ModelHistory]) -> [String] {
        var last: [Int: Int] = [:]
        var violations: [String] = []
        for history in histories {
            // Its own session begins with its lineage.
            last[ModelAction.itself] = nil
            for (revision, action) in history.applied.sorted(by: { $0.key < $1.key }) {
                if let before = last[action.sender], before >= action.serial {
                    violations.append("\(action) was applied after \(before), at \(revision)")
                }
                last[action.sender] = action.serial
            }
        }
        return violations
    }
}
