internal import StateCoding
package import Statecast

/// Which states a command shows, and which is the last one.
package struct FollowingGoal: Sendable {
    /// The dotted path of the part that is shown; `nil`: all.
    package let select: String?
    /// The first live state is the last one.
    package let once: Bool
    /// The state that has this revision is the last one.
    package let until: Revision?
    /// How long to wait for the last state or, where none is, for the first.
    package let timeout: Duration?

    /// What to follow, and how far.
    package init(select: String?, once: Bool, until: Revision?, timeout: Duration?) {
        self.select = select
        self.once = once
        self.until = until
        self.timeout = timeout
    }

    /// Whether any state is the last one.
    var hasEnd: Bool { once || until != nil }

    /// Whether a state is the last one.
    func isReached(by snapshot: StateSnapshot<Value>) -> Bool {
        once || until.map { snapshot.revision >= $0 } ?? false
    }

    /// The selected part; null where there is none.
    func part(of state: Value) -> Value { select.map { state[path: $0] ?? .null } ?? state }

    /// The notice for a state without a value at the selected path; otherwise `nil`.
    func absence(in snapshot: StateSnapshot<Value>) -> String? {
        guard let select, snapshot.state[path: select] == nil else { return nil }
        return "revision \(snapshot.revision) has nothing at \(select): \(PathHint(select, in: snapshot.state))"
    }

    /// The time limit expired before the last state.
    func timedOut(after timeout: Duration, _ upstream: Upstream, _ snapshot: StateSnapshot<Value>?) -> CommandFailure {
        unreached("timed out after \(timeout)", upstream, snapshot)
    }

    /// The process was asked to stop before the last state.
    func interrupted(_ upstream: Upstream, _ snapshot: StateSnapshot<Value>?) -> CommandFailure {
        unreached("interrupted", upstream, snapshot)
    }

    private func unreached(
        _ cause: String,
        _ upstream: Upstream,
        _ snapshot: StateSnapshot<Value>?
    ) -> CommandFailure {
        if let snapshot, let until {
            return .failed("\(cause): revision \(snapshot.revision) was reached, not \(until)")
        }
        return .failed(
            "\(cause): no live state of store \(upstream.store) from \(upstream.endpoint); check that "
                + "statecast-primary runs there and that --from is the endpoint at which it publishes"
        )
    }
}
