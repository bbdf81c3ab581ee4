package import Logging
import Metrics
package import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ
import Synchronization

/// Decides who may use the sockets of a primary, by its access list and the stores that it serves.
///
/// The ZAP handler sets the User-Id of each connection, and libzmq that of its messages: the key with which it was
/// accepted and, of a subscriber, the number of the connection. The list is consulted for each message, so a user's key
/// that was removed ends there at once, even if the user has other keys.
///
/// Safe on any thread.
package final class AccessControl: Sendable {
    private let source: any AccessSource
    /// The names of the actions of each store.
    private let stores: [StoreName: [String]]
    /// The stores of each socket for states.
    private let feeds: [Set<StoreName>]
    private let rights: Locked<Rights>
    private let environment: any StoreEnvironment
    /// The users whose connections are refused, each until this time.
    private let banned = Locked<[String: Instant]>([:])
    private let logger: Logger
    private let refused: RefusedPeers
    /// The number of connections that were accepted from each user.
    private let accepted = Locked<[String: Int]>([:])
    /// Why the file cannot be used at present; `nil` if it is used.
    private let failure = Locked<String?>(nil)
    private static let invalidLists = SharedGauge(metric: .primaryAccessListsInvalid)

    /// A socket of the primary.
    package enum SocketRole: Hashable, Sendable {
        /// Publishes the states of these stores.
        case publish(Set<StoreName>)
        /// Publishes the outcomes of actions.
        case receipts
        /// Receives actions.
        case actions

        /// The setting of its endpoint.
        var name: String {
            switch self {
            case .publish: "publish"
            case .receipts: "receipts"
            case .actions: "actions"
            }
        }
    }

    /// Distinguishes the domains of the sockets in this process.
    private static let domains = Atomic<Int>(0)

    /// - Parameters:
    ///   - source: of the access list.
    ///   - stores: that the node serves, with the names of their actions.
    ///   - feeds: the stores of each socket for states.
    package init(
        _ source: any AccessSource,
        stores: [StoreName: [String]],
        feeds: [Set<StoreName>],
        environment: any StoreEnvironment,
        logger: Logger
    ) {
        (self.source, self.stores, self.feeds) = (source, stores, feeds)
        (self.environment, self.logger) = (environment, logger)
        rights = Locked(Rights(source.list, at: stores))
        refused = RefusedPeers(logger)
        Self.invalidLists.add(0)
    }

    deinit { note(nil) }

    // MARK: Handshakes

    /// The security of a socket: authenticates its peers as long as the value exists.
    ///
    /// - Throws: as `AuthenticationHandler.add`.
    func security(of role: SocketRole, _ keys: NodeKeys) throws(ZeroMQError) -> CurveSecurity {
        let number = Self.domains.add(1, ordering: .relaxed).newValue
        let domain = try AuthenticationHandler.add("statecast-\(number)-\(role.name)") { [self] key in
            let key = NodePublicKey(key)
            let rights = rights.withLock(\.self)
            if let reason = rights.refusal(of: key, at: role) ?? rights.list.user(of: key).flatMap(banReason) {
                refused.record(key, role, because: reason)
                return nil
            }
            if let user = rights.list.user(of: key) { accepted.withLock { $0[user, default: 0] += 1 } }
            // The connections of subscribers are told apart.
            return role == .actions ? key.description : Subscriber(key).name
        }
        return .server(keys.curve, domain)
    }

    /// The users with the most accepted connections since the start, for a log line.
    var connectionCounts: Logger.Metadata {
        let counts = accepted.withLock(\.self).sorted { ($0.value, $0.key) > ($1.value, $1.key) }
        return ["connections": "\(counts.prefix(3).map { "\($0.key) \($0.value)" }.joined(separator: ", "))"]
    }

    private func banReason(_ user: String) -> String? {
        guard let end = banned.withLock({ $0[user] }), environment.now < end else { return nil }
        return "its user had the most subscriptions when there were too many (maxSubscriptions)"
    }

    private let bans = NodeMetric.primaryUsersBanned.counter()

    /// For how long the connections of a user are refused.
    private static let banDuration = Duration.seconds(60)

    /// Refuses the connections of a user for a minute: of the one with most subscriptions, with all of its keys. Those
    /// that exist are closed with their socket.
    ///
    /// - Parameter counts: the number of subscriptions of each key.
    func banUser(withMostOf counts: [String: Int]) {
        let users = counts.reduce(into: [:]) { $0[user(ofPeer: $1.key), default: 0] += $1.value }
        guard let (user, count) = users.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
        banned.withLock { $0[user] = environment.now.advanced(by: Self.banDuration) }
        bans.increment()
        logger.warning(
            "refusing a user's connections for \(Self.banDuration): it has the most subscriptions (maxSubscriptions)",
            metadata: ["user": "\(user)", "subscriptions": "\(count)"]
        )
    }

    // MARK: Messages

    /// The user of a peer, which is a key; the peer itself if the list does not have its key any more.
    func user(ofPeer peer: String) -> String { rights.withLock { $0.users[peer] } ?? peer }

    /// A peer as a sender to a store.
    ///
    /// - Parameter peer: the key.
    /// - Throws: ``Rejection`` with code `not-permitted` if it may send no action to the store.
    func sender(_ peer: String?, to store: StoreName) throws(Rejection) -> FrameSender {
        let rights = rights.withLock { $0 }
        if let peer, let sender = rights.senders[store]?[peer] { return sender }
        guard peer.flatMap(NodePublicKey.init).flatMap(rights.list.user(of:)) != nil else {
            throw Rejection(
                .notPermitted,
                "the access list of the primary does not contain this sender's key any more"
            )
        }
        throw Rejection(
            .notPermitted,
            "the access list of the primary permits the key of this sender no action of \(store)"
        )
    }

    // MARK: Changes of the list

    /// Reads the list again if its file has changed. One caller at a time; it blocks.
    ///
    /// - Parameter always: also if the file seems not to have changed.
    /// - Returns: the sockets whose connections have to be closed: a peer may follow less, or send to fewer stores, or
    ///   to none.
    func refresh(always: Bool) -> [SocketRole] {
        switch source.refresh(always: always) {
        case .unchanged: return []
        case .failed(let error):
            if note(error.message) || always { logger.error("\(error); the list that was read before stays in effect") }
            return []
        case .replaced(let list):
            note(nil)
            refused.forgetLogged()
            let after = Rights(list, at: stores)
            let before = rights.withLock { rights in
                defer { rights = after }
                return rights
            }
            logger.notice("the access list was read again")
            let narrowed = (feeds.map(SocketRole.publish) + [.actions]).filter { role in
                before.list.keys.contains {
                    before.refusal(of: $0, at: role) == nil && after.refusal(of: $0, at: role) != nil
                }
            }
            let senders = before.senders.contains { store, peers in
                !peers.keys.allSatisfy { after.senders[store]?[$0] != nil }
            }
            return narrowed + (senders ? [.receipts] : [])
        }
    }

    /// Notes why the file cannot be used; `nil`: it is used.
    ///
    /// - Returns: whether this differs from what was noted before.
    @discardableResult
    private func note(_ reason: String?) -> Bool {
        failure.withLock { failure in
            defer { failure = reason }
            if (failure == nil) != (reason == nil) { Self.invalidLists.add(reason == nil ? -1 : 1) }
            return failure != reason
        }
    }
}

/// An access list, and what it permits at the stores of a node.
private struct Rights: Sendable {
    let list: AccessList
    /// The permitted senders, by store and by the peer's key.
    let senders: [StoreName: [String: FrameSender]]
    /// The users by their keys.
    let users: [String: String]

    /// - Parameter stores: the names of the actions of each store.
    init(_ list: AccessList, at stores: [StoreName: [String]]) {
        self.list = list
        self.users = list.keys.reduce(into: [:]) { $0[$1.description] = list.user(of: $1) }
        let users = Dictionary(grouping: list.keys) { list.user(of: $0) }
        senders = stores.reduce(into: [:]) { senders, store in
            for case (let user?, let keys) in users {
                guard let sender = Self.sender(user, to: store.key, by: list, actions: store.value) else { continue }
                for key in keys { senders[store.key, default: [:]][key.description] = sender }
            }
        }
    }

    private static func sender(
        _ user: String,
        to store: StoreName,
        by list: AccessList,
        actions: [String]
    ) -> FrameSender? {
        let permitted = actions.filter { list.maySend($0, to: store.text, user: user) }
        guard !permitted.isEmpty else { return nil }
        let isAll = permitted.count == actions.count
        return FrameSender(user: user, sendingTo: store, actions: isAll ? nil : Set(permitted))
    }

    /// Why the connection of a key is refused; `nil` if it is not.
    func refusal(of key: NodePublicKey, at role: AccessControl.SocketRole) -> String? {
        guard let user = list.user(of: key) else { return "the access list does not have its key" }
        switch role {
        case .publish(let stores):
            guard !stores.isEmpty else { return "no store is published at this endpoint" }
            // A socket publishes to all connected peers.
            let missing = stores.map(\.text).filter { !list.mayFollow($0, user: user) }.sorted()
            guard !missing.isEmpty else { return nil }
            return "the access list does not permit \(user) to follow \(missing.joined(separator: ", "))"
        case .receipts, .actions:
            guard !senders.values.contains(where: { $0[key.description] != nil }) else { return nil }
            return "the access list does not permit \(user) to send an action"
        }
    }
}

/// Counts the connections that are refused. Logs the first one of each key at each socket for each reason; the first
/// one again after the access list has changed.
private final class RefusedPeers: Sendable {
    private struct Peer: Hashable {
        let key: NodePublicKey
        let role: AccessControl.SocketRole
        let reason: String
    }

    private let logger: Logger
    private let logged = Locked<Set<Peer>>([])
    /// Everyone can make keys: the connections of further ones are only counted.
    private static let maxLogged = 1000

    init(_ logger: Logger) { self.logger = logger }

    func forgetLogged() { logged.withLock { $0 = [] } }

    func record(_ key: NodePublicKey, _ role: AccessControl.SocketRole, because reason: String) {
        NodeMetric.primaryPeersRefused.counter([("socket", role.name)]).increment()
        let isNew = logged.withLock { logged in
            logged.count < Self.maxLogged && logged.insert(Peer(key: key, role: role, reason: reason)).inserted
        }
        guard isNew else { return }
        // Elsewhere: all handshakes of the process wait for the caller.
        Threads.startInBackground { [logger] in
            logger.notice("a connection was refused: \(reason)", metadata: ["key": "\(key)", "socket": "\(role.name)"])
        }
    }
}
