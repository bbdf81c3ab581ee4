package import Statecast

/// Whether there is a primary, as a replica or a sender sees it.
package enum Presence: Hashable, Sendable {
    /// It answers.
    case present
    /// It does not, or not yet.
    case absent
    /// It answers, but where it says to push actions nobody does.
    case unreachable(actions: String)
    /// It answers that it takes no actions for now, and why.
    case holding(String)
    /// It answers with a refusal, which whoever does the work reports.
    case refusing
}

extension ReplicaStatus {
    /// The status as far as waiting is concerned.
    package var presence: Presence {
        switch self {
        case .live: .present
        case .joining, .stale: .absent
        case .refused, .incompatible: .refusing
        }
    }
}

extension SenderStatus {
    /// The status as far as waiting is concerned.
    package var presence: Presence {
        switch self {
        case .open: .present
        case .connecting: .absent
        case .waiting(let reason): .holding(reason.description)
        case .unreachable(let endpoint): .unreachable(actions: endpoint)
        case .refused: .refusing
        }
    }
}

extension Upstream {
    /// What to say of a primary whose endpoint for actions is of no use.
    func unreachable(actions: String) -> String {
        "the primary at \(endpoint) takes actions at \(actions), where nobody answers; check its --advertise-actions and "
            + "--actions"
    }
}
