import Statecast
import StatecastProtocol

/// The access list of a primary with keys: what its users may send, now and before.
///
/// Unchecked, but safe: see ``World``.
final class UserRights: AccessSource, @unchecked Sendable {
    /// The names of the actions that a user may send from a time on.
    private typealias Grant = (start: Instant, names: Set<String>)

    static let all: Set<String> = [WorkAction.name, GuardedAction.name]

    private static let usual: [(user: String, names: Set<String>)] = [
        (SenderProcess.users[0], all), (SenderProcess.users[1], [WorkAction.name]), (HostilePeer.member, all),
        (HostilePeer.intruder, [GuardedAction.name]),
    ]

    /// What is in the file.
    private var written = Dictionary(uniqueKeysWithValues: usual.map { ($0.user, $0.names) })
    /// What primaries have read.
    private var grants: [String: [Grant]] = usual.reduce(into: [:]) { $0[$1.user] = [(.origin, $1.names)] }
    private let now: () -> Instant

    /// - Parameter now: the true time.
    init(now: @escaping () -> Instant) { self.now = now }

    /// The public key of a user.
    static func key(of user: String) -> String {
        String(repeating: "\(1 + (usual.firstIndex { $0.user == user } ?? usual.count))", count: 40)
    }

    // MARK: The file

    func change(_ user: String, to names: Set<String>) { written[user] = names }

    /// Gives all users the rights that they had at the start.
    func restore() { for (user, names) in Self.usual { written[user] = names } }

    var list: AccessList {
        let lines = Self.usual.map { user, _ in
            let names = (grants[user]?.last?.names ?? []).sorted().map { "*/\($0)" }.joined(separator: ",")
            return "\(Self.key(of: user)) \(user) follow=*\(names.isEmpty ? "" : " send=\(names)")\n"
        }
        do { return try AccessList(parsing: lines.joined()) } catch { preconditionFailure("\(error)") }
    }

    func refresh(always: Bool) -> AccessFile.Refresh {
        var isChanged = false
        for (user, names) in written where grants[user]?.last?.names != names {
            grants[user, default: []].append((now(), names))
            isChanged = true
        }
        return isChanged || always ? .replaced(list) : .unchanged
    }

    // MARK: What is and was in effect

    /// Whether a primary has read what is in the file.
    var areRead: Bool { written.allSatisfy { grants[$0.key]?.last?.names == $0.value } }

    /// Whether a user's rights differ from those at the start.
    func areChanged(ofKey key: String) -> Bool {
        Self.usual.contains { Self.key(of: $0.user) == key && grants[$0.user]?.last?.names != $0.names }
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
