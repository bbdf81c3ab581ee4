/// Points in time at an even pace, for connectors that show how time passes.
///
/// The first comes after one period. Each is due a whole number of periods after the start, however late those before it
/// came; those that a slow consumer missed are left out. It ends when the task that iterates is cancelled.
public struct Ticks<Pace: Clock>: AsyncSequence, Sendable where Pace.Duration == Duration {
    /// The time at a tick.
    public typealias Element = Timestamp
    /// It does not fail.
    public typealias Failure = Never

    let period: Duration
    let clock: Pace
    let now: @Sendable () -> Timestamp

    /// Starts the first period.
    public func makeAsyncIterator() -> Iterator { Iterator(ticks: self, next: clock.now.advanced(by: period)) }

    /// From one tick to the next that was not missed, by a consumer who is so late.
    private func step(over lateness: Duration) -> Duration {
        // Counted, not gone through: a machine that slept may have missed millions.
        let missed = Swift.max(lateness, .zero).attoseconds / period.attoseconds
        return Duration(attoseconds: (missed + 1) * period.attoseconds)
    }

    /// Waits for ticks.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let ticks: Ticks
        fileprivate var next: Pace.Instant

        /// The time at the next tick; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Timestamp? {
            do {
                try await ticks.clock.sleep(until: next, tolerance: nil)
            } catch {
                return nil
            }
            next = next.advanced(by: ticks.step(over: next.duration(to: ticks.clock.now)))
            return ticks.now()
        }
    }
}

extension Timestamp {
    /// The time at an even pace.
    ///
    /// - Parameters:
    ///   - period: how long from one tick to the next; positive.
    ///   - clock: what sets the pace.
    ///   - now: the clock that is read at each tick.
    public static func ticks<Pace: Clock>(
        every period: Duration,
        pacedBy clock: Pace = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock
    ) -> Ticks<Pace> where Pace.Duration == Duration {
        precondition(period > .zero, "the period of ticks must be positive, is \(period)")
        return Ticks(period: period, clock: clock, now: now)
    }
}
