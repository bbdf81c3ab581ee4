internal import StateCoding
package import Statecast

/// The states that a command shows, and the condition on which it ends.
package struct FollowGoal: Sendable {
    /// The last state to show.
    package enum End: Sendable, Equatable {
        /// The command follows until it is asked to stop.
        case never
        /// The first live state.
        case firstState
        /// The first state with this revision or a later one.
        case revision(Revision)
    }

    /// The dotted path of the part to show; `nil`: all.
    package let select: String?
    package let end: End
    /// How long to wait for the last state or, without one, for the first.
    package let timeout: Duration?

    package init(select: String?, end: End, timeout: Duration?) {
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
        case .revision(let revision): snapshot.revision >= revision
        }
    }

    /// The selected part; null if the state has nothing at the path.
    func part(of state: Value) -> Value { select.map { state[path: $0] ?? .null } ?? state }

    /// The notice for a state without a value at the selected path; otherwise `nil`.
    func absence(in snapshot: StateSnapshot<Value>) -> String? {
        guard let select, snapshot.state[path: select] == nil else { return nil }
        return "revision \(snapshot.revision) has nothing at \(select): \(Self.hint(select, in: snapshot.state))"
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

    /// Names the component at which a path leaves the state, and the names that the state has there instead.
    private static func hint(_ path: String, in state: Value) -> String {
        var (value, found) = (state, "")
        for component in path.split(separator: ".").map(String.init) {
            guard let next = value[path: component] else {
                return hint(component, in: value, at: found.isEmpty ? "the state" : found)
            }
            value = next
            found += found.isEmpty ? component : "." + component
        }
        return "\(path) exists"
    }

    private static func hint(_ component: String, in value: Value, at place: String) -> String {
        switch PlainForm(value) {
        case .map(let map):
            let names = map.keys.map(\.keyName)
            if let near = component.nearest(among: names) {
                return "\(place) has no \(component); did you mean \(near)?"
            }
            guard !names.isEmpty else { return "\(place) is empty" }
            let more = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
            return "\(place) has no \(component), but \(names.prefix(namesMax).joined(separator: ", "))" + more
        case .array(let elements):
            return elements.isEmpty ? "\(place) is empty" : "\(place) has the elements 0 to \(elements.count - 1)"
        default: return "\(place) has no parts"
        }
    }

    /// The most names that a hint lists.
    private static let namesMax = 8
}
