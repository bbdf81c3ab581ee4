package import Logging
internal import Statecast

/// Says on standard error when a primary is missing or takes nothing for longer than a moment, and when that is over.
package actor PresenceNotices {
    private static let patience = Duration.seconds(1)

    private let upstream: Upstream
    private let logger: Logger
    private var wasPresent = false
    /// What was said, if it is not over.
    private var said: Presence?
    private var alarm: (presence: Presence, task: Task<Void, Never>)?

    /// Notices about one primary.
    package init(_ upstream: Upstream, logger: Logger) {
        self.upstream = upstream
        self.logger = logger
    }

    /// Follows a node until its statuses end.
    package func follow(_ presences: some AsyncSequence<Presence, Never> & Sendable) async {
        for await presence in presences { take(presence) }
        calm()
    }

    private func take(_ presence: Presence) {
        // Not all the same: whoever waits has to look elsewhere.
        if alarm?.presence != presence { calm() }
        switch presence {
        case .absent, .unreachable, .holding:
            guard alarm == nil, said != presence else { return }
            let task = Task {
                guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
                say(presence)
            }
            alarm = (presence, task)
        case .refusing: break
        case .present:
            if let said { logger.notice("\(said.end(upstream))") }
            said = nil
            wasPresent = true
        }
    }

    private func calm() {
        alarm?.task.cancel()
        alarm = nil
    }

    private func say(_ presence: Presence) {
        said = presence
        logger.notice("\(presence.beginning(upstream, wasPresent: wasPresent))")
    }
}

extension Presence {
    /// What to say when it lasts.
    func beginning(_ upstream: Upstream, wasPresent: Bool) -> String {
        switch self {
        case .unreachable(let actions): "\(upstream.unreachable(actions: actions)), waiting for it"
        case .holding(let reason): "the primary at \(upstream.endpoint) takes no actions for now: \(reason)"
        case .absent where wasPresent: "the primary at \(upstream.endpoint) fell silent, waiting for it"
        default:
            "waiting for the primary at \(upstream.endpoint), store \(upstream.store): is statecast-primary running there?"
        }
    }

    /// What to say when it is over.
    func end(_ upstream: Upstream) -> String {
        if case .holding = self { return "the primary at \(upstream.endpoint) takes actions again" }
        return "the primary at \(upstream.endpoint) answers"
    }
}
