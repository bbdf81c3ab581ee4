/// The rates of the users of a store: what each has sent, against its limits.
///
/// What a user sends is charged when a turn processes it, and may exceed the limit: its further frames wait until
/// it is within the limit again.
struct UserRates: Hashable, Sendable {
    private struct Buckets: Hashable {
        var actions = TokenBucket()
        var bytes = TokenBucket()
        var sessions = TokenBucket()
    }

    private var users: [String: Buckets] = [:]
    private let actions: RateLimit
    private let bytes: RateLimit
    private let sessions: RateLimit

    init(_ limits: Limits) {
        actions = RateLimit(perSecond: limits.maxUserActionsPerSecond, burst: limits.maxUserBurst)
        bytes = RateLimit(perSecond: limits.maxUserBytesPerSecond, burst: limits.maxUserBurst)
        sessions = RateLimit(perSecond: limits.maxUserSessionsPerSecond, burst: limits.maxUserBurst)
    }

    /// Whether users have a limit of actions or bytes.
    var isLimited: Bool { actions.perSecond > 0 || bytes.perSecond > 0 }

    /// When frames of a user are processed again.
    func resumption(of user: String) -> Instant {
        users[user].map { max($0.actions.availability(actions), $0.bytes.availability(bytes)) } ?? .origin
    }

    /// Whether frames of a user are processed now; those without a user always are.
    func isWithinLimits(_ user: String?, at now: Instant) -> Bool { user.map { resumption(of: $0) <= now } ?? true }

    /// What a user may have processed at once: what its rates permit, and at least `min`.
    func share(of user: String, min: TurnBudget, at now: Instant) -> TurnBudget {
        let buckets = users[user] ?? Buckets()
        return TurnBudget(
            actions: max(min.actions, buckets.actions.tokens(actions, at: now)),
            bytes: max(min.bytes, buckets.bytes.tokens(bytes, at: now))
        )
    }

    /// How long the user would be over its limit if all queued frames were processed now; `nil` if it would be within.
    func delay(of user: String, adding waiting: (actions: Int, bytes: Int), at now: Instant) -> Duration? {
        var buckets = users[user] ?? Buckets()
        buckets.actions.take(waiting.actions, of: actions, at: now)
        buckets.bytes.take(waiting.bytes, of: bytes, at: now)
        return [buckets.actions.delay(actions, at: now), buckets.bytes.delay(bytes, at: now)].compactMap(\.self).max()
    }

    /// The time until a user may begin sessions again; `nil` if it may now.
    func delay(ofSessionsOf user: String, at now: Instant) -> Duration? {
        users[user]?.sessions.delay(sessions, at: now)
    }

    /// A part of a frame was processed.
    mutating func charge(_ user: String, actions: Int, bytes: Int, at now: Instant) {
        users[user, default: Buckets()].actions.take(actions, of: self.actions, at: now)
        users[user, default: Buckets()].bytes.take(bytes, of: self.bytes, at: now)
    }

    /// A session was opened.
    mutating func chargeSession(to user: String, at now: Instant) {
        users[user, default: Buckets()].sessions.take(1, of: sessions, at: now)
    }
}
