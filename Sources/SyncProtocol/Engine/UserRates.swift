/// The rates of the users of a store: what each has sent, against its limits.
///
/// What a user sends is charged when a turn processes it, and may exceed the limit: further frames are refused until
/// the debt is paid. So a sender that sends refused frames again does not increase its debt.
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

    /// The time until a user may send frames again; `nil` if it may now.
    func delay(ofFramesOf user: String, at now: Instant) -> Duration? {
        guard let buckets = users[user] else { return nil }
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
