internal import SyncProtocol
internal import Synchronization
internal import Threading

/// The subscriptions, joins and refused frames of the users of a primary with keys, against their rates.
struct PeerRates {
    /// What happens to a subscription.
    enum Verdict: Hashable {
        case pass
        /// A join that is refused; the replica may join again after this time.
        case refuse(retryAfter: Duration)
        /// Not answered: the peer repeats its request later.
        case drop
        /// The user goes on although it gets no answers, so it is cut off.
        case cutOff
    }

    private struct Buckets {
        var subscriptions = TokenBucket()
        var joins = TokenBucket()
        var refusals = TokenBucket()
    }

    private var users: [String: Buckets] = [:]
    private let subscriptions: RateLimit
    private let joins: RateLimit
    private let refusals: RateLimit
    /// The debt of subscriptions beyond which a user is cut off.
    private static let cutOffDelay = Duration.seconds(2)
    /// A sender's frames that are in flight at its first refusal are refused, too: 60 MB, as many as a hundred senders
    /// have that begin at the same time.
    private static let refusalsBurst = Duration.milliseconds(1500)
    private static let refusedBytesPerToken = 4 << 10
    /// What a subscription counts then: after a flood all connections are closed, which a user within its rate could
    /// cause several times a second.
    private static let tokensInFlood = 20

    init(_ limits: Limits) {
        subscriptions = RateLimit(perSecond: limits.userSubscriptionsPerSecondMax, burst: limits.userBurstMax)
        joins = RateLimit(perSecond: limits.userJoinsPerSecondMax, burst: limits.userBurstMax)
        refusals = RateLimit(perSecond: limits.userRefusedFramesPerSecondMax, burst: Self.refusalsBurst)
    }

    /// Charges a subscription of a user, or the end of one.
    ///
    /// - Parameter inFlood: whether connections were stopped since they occupied the primary, and it reads what they
    ///   have sent.
    mutating func subscribed(_ user: String, isJoin: Bool, inFlood: Bool = false, at now: Instant) -> Verdict {
        var buckets = users[user] ?? Buckets()
        defer { users[user] = buckets }
        buckets.subscriptions.take(inFlood ? Self.tokensInFlood : 1, of: subscriptions, at: now)
        if let delay = buckets.subscriptions.delay(subscriptions, at: now) {
            guard delay > Self.cutOffDelay else { return .drop }
            // It begins again when it is admitted again.
            buckets.subscriptions = TokenBucket()
            return .cutOff
        }
        guard isJoin else { return .pass }
        if let delay = buckets.joins.delay(joins, at: now) { return .refuse(retryAfter: delay) }
        buckets.joins.take(1, of: joins, at: now)
        return .pass
    }

    /// Charges a frame that was refused or dropped to a user. To receive and decrypt it costs by its size.
    ///
    /// - Returns: whether the user is cut off, since it does not stop.
    mutating func refused(_ user: String, bytes: Int, at now: Instant) -> Bool {
        let count = 1 + bytes / Self.refusedBytesPerToken
        users[user, default: Buckets()].refusals.take(count, of: refusals, at: now)
        guard users[user]?.refusals.delay(refusals, at: now) != nil else { return false }
        users[user]?.refusals = TokenBucket()
        return true
    }
}

/// The connections of users to a publishing socket, against their rate.
///
/// When a connection ends, libzmq walks through all topics of the socket, in the thread of the node's loop. The end is
/// not reported with its user, so the beginning is charged: with the most that the subscriptions have occupied, since a
/// peer can subscribe again before it ends its connections.
///
/// The ZAP handler asks here, in a thread of its own.
final class ConnectionRates: Sendable {
    /// The most that the subscriptions of the present socket have occupied.
    private let subscribedBytes = Atomic<Int>(0)
    private let users = Locked<[String: TokenBucket]>([:])
    private let limit: RateLimit

    /// libzmq walks through so much in 0.7 milliseconds, measured with topics of the maximum length.
    private static let bytesPerToken = 256 << 10
    /// A peer that is refused tries again when its handshake has timed out, after five seconds.
    private static let burst = Duration.seconds(5)

    init(_ limits: Limits) { limit = RateLimit(perSecond: limits.userConnectionsPerSecondMax, burst: Self.burst) }

    /// The subscriptions of the socket occupy a number of bytes.
    func noteSubscribed(_ bytes: Int) { subscribedBytes.max(bytes, ordering: .relaxed) }

    /// All connections were closed.
    func reset() { subscribedBytes.store(0, ordering: .relaxed) }

    /// Admits one more connection of a user, and charges the user with it.
    ///
    /// - Returns: why the connection is refused; `nil` if it is admitted.
    func admit(_ user: String, at now: Instant) -> String? {
        users.withLock { users in
            var bucket = users[user] ?? TokenBucket()
            guard bucket.delay(limit, at: now) == nil else {
                return "its user connects too often (userConnectionsPerSecondMax)"
            }
            bucket.take(1 + subscribedBytes.load(ordering: .relaxed) / Self.bytesPerToken, of: limit, at: now)
            users[user] = bucket
            return nil
        }
    }
}

/// The users who are cut off: their connections are refused for some time.
struct CutOffUsers {
    private var users: [String: (until: Instant, duration: Duration)] = [:]
    /// When the subscriptions of each user at a socket last occupied too much.
    private var excesses: [Excess: Instant] = [:]

    private struct Excess: Hashable {
        let user: String
        let role: AccessControl.SocketRole
    }

    private static let excessesApart = Duration.seconds(600)

    private static let durationMin = Duration.seconds(60)
    private static let durationMax = Duration.seconds(3600)

    /// Cuts off a user for a minute, and each further time for twice as long, an hour at most.
    ///
    /// - Returns: the time for which it is cut off.
    mutating func add(_ user: String, at now: Instant) -> Duration {
        let duration = users[user].map { min($0.duration * 2, Self.durationMax) } ?? Self.durationMin
        users[user] = (now.advanced(by: duration), duration)
        return duration
    }

    func contains(_ user: String, at now: Instant) -> Bool { users[user].map { now < $0.until } ?? false }

    /// Notes that a user's subscriptions at a socket occupy too much.
    ///
    /// - Returns: whether this was so within the last ten minutes, too. The first time, they may include some that have
    ///   ended (see ``SubscribedTopics``): all are counted anew after the connections were closed.
    mutating func exceeds(_ user: String, at role: AccessControl.SocketRole, at now: Instant) -> Bool {
        let excess = Excess(user: user, role: role)
        defer { excesses[excess] = now }
        return excesses[excess].map { $0.duration(to: now) < Self.excessesApart } ?? false
    }
}
