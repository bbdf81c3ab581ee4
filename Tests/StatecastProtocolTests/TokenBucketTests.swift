import StatecastProtocol
import Testing

@Suite struct `A token bucket` {
    @Test func `A token bucket gives as many tokens as its burst has at once, and then its rate`() {
        let limit = RateLimit(perSecond: 10, burst: .seconds(2))
        var bucket = TokenBucket()
        let start = Instant(offset: .seconds(100))
        bucket.take(20, of: limit, at: start)
        #expect(bucket.delay(limit, at: start) == nil)
        bucket.take(1, of: limit, at: start)
        #expect(bucket.delay(limit, at: start) == .milliseconds(100))
        #expect(bucket.delay(limit, at: start.advanced(by: .milliseconds(99))) == .milliseconds(1))
        #expect(bucket.delay(limit, at: start.advanced(by: .milliseconds(100))) == nil)
    }

    @Test func `A token bucket gathers no more than its burst while it is idle`() {
        let limit = RateLimit(perSecond: 10, burst: .seconds(2))
        var bucket = TokenBucket()
        bucket.take(5, of: limit, at: .origin)
        let later = Instant(offset: .seconds(1000))
        bucket.take(21, of: limit, at: later)
        #expect(bucket.delay(limit, at: later) == .milliseconds(100))
    }

    @Test func `A token bucket without a limit is never in debt`() {
        let limit = RateLimit(perSecond: 0, burst: .zero)
        var bucket = TokenBucket()
        bucket.take(.max, of: limit, at: .origin)
        #expect(bucket.delay(limit, at: .origin) == nil)
    }

    /// As a bucket that counts its tokens.
    @Test func `A token bucket agrees with a bucket that counts its tokens`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let (perSecond, burst) = (1 + generator.below(1000), generator.below(6))
            let limit = RateLimit(perSecond: perSecond, burst: .seconds(burst))
            var bucket = TokenBucket()
            var now = Instant.origin
            // In thousandths of a token.
            var tokens = perSecond * burst * 1000
            for _ in 0..<100 {
                let milliseconds = generator.below(500)
                now = now.advanced(by: .milliseconds(milliseconds))
                tokens = min(perSecond * burst * 1000, tokens + perSecond * milliseconds)
                let count = generator.below(300)
                bucket.take(count, of: limit, at: now)
                tokens -= count * 1000
                // An attosecond is lost at each division.
                let debt = bucket.delay(limit, at: now) ?? .zero
                #expect(abs(debt - .milliseconds(max(0, -tokens)) / perSecond) < .nanoseconds(1))
            }
        }
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
