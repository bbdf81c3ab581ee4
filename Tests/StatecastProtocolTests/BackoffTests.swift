import Testing

@testable import StatecastProtocol

@Suite struct `A backoff` {
    /// The delays of failures in a row.
    private func delays(from minDelay: Duration, to maxDelay: Duration, count: Int, seed: UInt64) -> [Duration] {
        var limits = Limits()
        (limits.minRetryDelay, limits.maxRetryDelay) = (minDelay, maxDelay)
        var (backoff, generator) = (Backoff(limits), SeededGenerator(seed: seed))
        return (0..<count).map { _ in backoff.next(using: &generator) }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A backoff doubles its delays up to the longest, and waits between half of each and all of it`(seed: UInt64) {
        let delays = delays(from: .milliseconds(100), to: .seconds(1), count: 100, seed: seed)
        for (delay, full) in zip(delays, [100, 200, 400, 800] + Array(repeating: 1000, count: 96)) {
            #expect(delay >= .milliseconds(full) / 2 && delay <= .milliseconds(full))
        }
        #expect(Set(delays).count > 90, "they are random")
    }

    @Test func `A backoff grows from less than a microsecond`() {
        let delays = delays(from: .nanoseconds(1), to: .seconds(1), count: 30, seed: 1)
        #expect(delays.suffix(10).allSatisfy { $0 >= .milliseconds(500) })
    }

    @Test func `A backoff accepts any limits`() {
        #expect(delays(from: .zero, to: .zero, count: 3, seed: 1) == [.zero, .zero, .zero])
        #expect(delays(from: .seconds(-1), to: .seconds(-1), count: 3, seed: 1) == [.zero, .zero, .zero])
        let longest = delays(from: .seconds(Int64.max), to: .seconds(Int64.max), count: 30, seed: 1)
        #expect(longest.allSatisfy { $0 >= .seconds(6 * 86_400) })
    }
}
