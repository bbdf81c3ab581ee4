package import Logging
package import Statecast

/// Whether there is a primary, as a replica or a sender sees it.
package enum Presence: Sendable {
    /// It answers.
    case present
    /// It does not, or not yet.
    case absent
    /// It answers, but where it says to push actions nobody does.
    case unreachable(actions: String)
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
        case .unreachable(let endpoint): .unreachable(actions: endpoint)
        case .refused: .refusing
        }
    }
}

/// Says on standard error when a primary is missing for longer than a moment, and when it is back.
package actor PresenceNotices {
    private static let patience = Duration.seconds(1)

    private let upstream: Upstream
    private let logger: Logger
    private var wasPresent = false
    private var isMissed = false
    private var alarm: Task<Void, Never>?

    /// Notices about one primary.
    package init(_ upstream: Upstream, logger: Logger) {
        self.upstream = upstream
        self.logger = logger
    }

    /// Follows a node until its statuses end.
    package func follow(_ presences: some AsyncSequence<Presence, Never> & Sendable) async {
        for await presence in presences { take(presence) }
        alarm?.cancel()
    }

    private func take(_ presence: Presence) {
        switch presence {
        case .absent: alarm = alarm ?? alarmSet(nil)
        case .unreachable(let endpoint):
            // Not the same as silence: whoever waits has to look elsewhere.
            calm()
            alarm = alarmSet(endpoint)
        case .refusing: calm()
        case .present:
            calm()
            if isMissed { logger.notice("the primary at \(upstream.endpoint) answers") }
            isMissed = false
            wasPresent = true
        }
    }

    private func calm() {
        alarm?.cancel()
        alarm = nil
    }

    private func alarmSet(_ actions: String?) -> Task<Void, Never> {
        Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            miss(actions)
        }
    }

    private func miss(_ actions: String?) {
        guard !isMissed else { return }
        isMissed = true
        if let actions {
            logger.notice("\(upstream.unreachable(actions: actions)), waiting for it")
        } else if wasPresent {
            logger.notice("the primary at \(upstream.endpoint) fell silent, waiting for it")
        } else {
            logger.notice(
                "waiting for the primary at \(upstream.endpoint), store \(upstream.store): is statecast-primary running there?"
            )
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
