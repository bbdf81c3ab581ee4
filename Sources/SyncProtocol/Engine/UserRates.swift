/// The rates of the users of a store: what each has sent, against its limits.
///
/// What a user sends is charged when a turn processes it, and may exceed the limit: its further frames wait until the
/// debt is paid.
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
        actions = RateLimit(perSecond: limits.userActionsPerSecondMax, burst: limits.userBurstMax)
        bytes = RateLimit(perSecond: limits.userBytesPerSecondMax, burst: limits.userBurstMax)
        sessions = RateLimit(perSecond: limits.userSessionsPerSecondMax, burst: limits.userBurstMax)
    }

    /// Whether users have a limit of actions or bytes.
    var isLimited: Bool { actions.perSecond > 0 || bytes.perSecond > 0 }

    /// From when on frames of a user are processed.
    func solvency(of user: String) -> Instant {
        users[user].map { max($0.actions.solvency(actions), $0.bytes.solvency(bytes)) } ?? .origin
    }

    /// Whether frames of a user are processed now; those without a user always are.
    func isSolvent(_ user: String?, at now: Instant) -> Bool { user.map { solvency(of: $0) <= now } ?? true }

    /// What a user may have processed at once: what its rates permit, and at least `min`.
    func share(of user: String, min: TurnBudget, at now: Instant) -> TurnBudget {
        let buckets = users[user] ?? Buckets()
        return TurnBudget(
            actions: max(min.actions, buckets.actions.tokens(actions, at: now)),
            bytes: max(min.bytes, buckets.bytes.tokens(bytes, at: now))
        )
    }

    /// The time until what waits of a user would be paid, if it was processed now; `nil` if it is within the rates.
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
