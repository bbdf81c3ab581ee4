import StatecastProtocol

/// What the users of a primary with keys may send, now and before.
struct UserRights {
    /// The names of the actions that a user may send from a time on.
    private typealias Grant = (start: Instant, names: Set<String>)

    static let all: Set<String> = [WorkAction.name, GuardedAction.name]

    private var grants: [String: [Grant]] = [
        SimulatedSender.users[0]: all,
        SimulatedSender.users[1]: [WorkAction.name],
        HostilePeer.member: all,
        HostilePeer.intruder: [GuardedAction.name],
    ].mapValues { [(.origin, $0)] }

    func names(of user: String) -> Set<String> { grants[user]?.last?.names ?? [] }

    /// Whether a user's rights differ from those at the start.
    func areChanged(of user: String) -> Bool { names(of: user) != grants[user]?.first?.names }

    mutating func change(_ user: String, to names: Set<String>, at time: Instant) {
        grants[user, default: []].append((time, names))
    }

    /// Gives all users the rights that they had at the start.
    mutating func restore(at time: Instant) {
        for (user, usual) in grants.compactMapValues(\.first) where areChanged(of: user) {
            change(user, to: usual.names, at: time)
        }
    }

    /// Whether a user had the right to an action at any time since another.
    func hadRight(_ user: String, to name: String, since time: Instant) -> Bool {
        names(of: user, since: time).contains { $0.contains(name) }
    }

    /// Whether a user lacked the right to an action at any time since another.
    func lackedRight(_ user: String, to name: String, since time: Instant) -> Bool {
        names(of: user, since: time).contains { !$0.contains(name) }
    }

    /// Whether a user had no right at any time.
    func lackedAll(_ user: String) -> Bool { names(of: user, since: .origin).contains([]) }

    private func names(of user: String, since time: Instant) -> [Set<String>] {
        let grants = grants[user] ?? []
        return grants[(grants.lastIndex { $0.start <= time } ?? 0)...].map(\.names)
    }
}
