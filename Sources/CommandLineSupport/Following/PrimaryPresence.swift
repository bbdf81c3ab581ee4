package import Logging
package import Statecast

/// Whether a replica or a sender reaches its primary.
package enum Presence: Hashable, Sendable {
    /// The primary answers.
    case present
    /// The primary does not answer, or not yet.
    case absent
    /// The primary answers, but nothing answers at its endpoint for actions.
    case unreachable(actions: String)
    /// The primary answers, and refuses actions for now, for this reason.
    case paused(String)
    /// The primary refuses the node; the command reports the reason.
    case refusing
}

extension ReplicaStatus {
    package var presence: Presence {
        switch self {
        case .live: .present
        case .joining, .stale: .absent
        case .refused, .incompatible: .refusing
        }
    }
}

extension SenderStatus {
    package var presence: Presence {
        switch self {
        case .open: .present
        case .connecting: .absent
        case .waiting(let reason): .paused(reason.description)
        case .unreachable(let endpoint): .unreachable(actions: endpoint)
        case .refused: .refusing
        }
    }
}

extension Upstream {
    /// The message for an endpoint for actions at which nothing answers.
    func unreachable(actions: String) -> String {
        "the primary at \(endpoint) accepts actions at \(actions), where no process answers; check its "
            + "--advertise-actions and --actions"
    }
}

/// Logs when a primary is absent or refuses actions for longer than a second, and when that ends.
package actor PresenceNotices {
    private static let delay = Duration.seconds(1)

    private let upstream: Upstream
    private let logger: Logger
    private var wasPresent = false
    /// The condition that was logged, until it ends.
    private var logged: Presence?
    private var alarm: (presence: Presence, task: Task<Void, Never>)?

    package init(_ upstream: Upstream, logger: Logger) {
        self.upstream = upstream
        self.logger = logger
    }

    /// Observes a node until its statuses end.
    package func follow(_ presences: some AsyncSequence<Presence, Never> & Sendable) async {
        for await presence in presences { update(presence) }
        cancelAlarm()
    }

    private func update(_ presence: Presence) {
        // Another condition has another remedy, and starts its own delay.
        if alarm?.presence != presence { cancelAlarm() }
        switch presence {
        case .absent, .unreachable, .paused:
            guard alarm == nil, logged != presence else { return }
            let task = Task {
                guard (try? await Task.sleep(for: Self.delay)) != nil else { return }
                log(presence)
            }
            alarm = (presence, task)
        case .refusing: break
        case .present:
            if let logged { logger.notice("\(logged.endMessage(upstream))") }
            logged = nil
            wasPresent = true
        }
    }

    private func cancelAlarm() {
        alarm?.task.cancel()
        alarm = nil
    }

    private func log(_ presence: Presence) {
        logged = presence
        logger.notice("\(presence.beginMessage(upstream, wasPresent: wasPresent))")
    }
}

extension Presence {
    fileprivate func beginMessage(_ upstream: Upstream, wasPresent: Bool) -> String {
        switch self {
        case .unreachable(let actions): "\(upstream.unreachable(actions: actions)), waiting for it"
        case .paused(let reason): "the primary at \(upstream.endpoint) accepts no actions for now: \(reason)"
        case .absent where wasPresent: "the primary at \(upstream.endpoint) fell silent, waiting for it"
        default:
            "waiting for the primary at \(upstream.endpoint), store \(upstream.store): check that statecast-primary "
                + "runs there\(upstream.keyAdvice)"
        }
    }

    fileprivate func endMessage(_ upstream: Upstream) -> String {
        if case .paused = self { return "the primary at \(upstream.endpoint) accepts actions again" }
        return "the primary at \(upstream.endpoint) answers"
    }
}
