/// A rate that may be exceeded for a short time.
package struct RateLimit: Hashable, Sendable {
    /// The tokens that a bucket gets in a second; 0: no limit.
    let perSecond: Int
    /// The time in which an empty bucket becomes full.
    package let burst: Duration

    package init(perSecond: Int, burst: Duration) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// A token bucket, which is full at first.
///
/// Stores only the time at which it will be full again.
package struct TokenBucket: Hashable, Sendable {
    private var full = Instant.origin

    /// Every smaller integer is a `Double`.
    private static let maxTokens = Double(1 << 53)

    package init() {}

    /// Takes tokens, also more than the bucket has: it is then overdrawn.
    package mutating func take(_ count: Int, of limit: RateLimit, at now: Instant) {
        guard limit.perSecond > 0 else { return }
        full = max(full, now).advanced(by: .seconds(1) * count / limit.perSecond)
    }

    /// When the bucket is no longer overdrawn, if no more is taken.
    package func availability(_ limit: RateLimit) -> Instant { full.advanced(by: .zero - limit.burst) }

    /// The tokens that it has; negative if it is overdrawn.
    package func tokens(_ limit: RateLimit, at now: Instant) -> Int {
        guard limit.perSecond > 0 else { return .max }
        let tokens = Double(limit.perSecond) * (min(limit.burst, availability(limit).duration(to: now)) / .seconds(1))
        return Int(max(-Self.maxTokens, min(tokens, Self.maxTokens)))
    }

    /// How long the bucket is overdrawn; `nil` if it is not.
    package func delay(_ limit: RateLimit, at now: Instant) -> Duration? {
        let delay = now.duration(to: availability(limit))
        return delay > .zero ? delay : nil
    }
}
