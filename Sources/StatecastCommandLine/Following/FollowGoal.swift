package import Statecast
import StatecastCoding

/// The states that a command shows, and the condition on which it ends.
package struct FollowGoal: Sendable {
    /// The last state to show.
    package enum End: Sendable, Equatable {
        /// The command follows until it is asked to stop.
        case never
        /// The first live state.
        case firstState
        /// The first live state that has something at this path.
        case firstPart(StatePath)
        /// The first state with this revision or a later one.
        case revision(Revision)
    }

    /// The path of the part to show; `nil`: all.
    package let select: StatePath?
    package let end: End
    /// How long to wait for the last state or, without one, for the first.
    package let timeout: Duration?

    package init(select: StatePath?, end: End, timeout: Duration?) {
        self.select = select
        self.end = end
        self.timeout = timeout
    }

    var hasEnd: Bool { end != .never }

    /// Whether a state is the last one.
    func isReached(by snapshot: StateSnapshot<Value>) -> Bool {
        switch end {
        case .never: false
        case .firstState: true
        case .firstPart(let path): path.part(of: snapshot.state) != nil
        case .revision(let revision): snapshot.revision >= revision
        }
    }

    /// The selected part; null if the state has nothing at the path.
    func part(of state: Value) -> Value { select.map { $0.part(of: state) ?? .null } ?? state }

    /// The notice for a state without a value at the selected path; otherwise `nil`.
    func absence(in snapshot: StateSnapshot<Value>) -> String? {
        guard let select, select.part(of: snapshot.state) == nil else { return nil }
        return "revision \(snapshot.revision) has nothing at \(select): \(select.hint(in: snapshot.state))"
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
        if let snapshot, case .revision(let until) = end {
            return .failed("\(cause): revision \(snapshot.revision) was reached, not \(until)")
        }
        return .failed(
            "\(cause): no live state of store \(upstream.store) from \(upstream.endpoint); check that "
                + "statecast-primary runs there and that --from is the endpoint at which it publishes"
        )
    }
}
