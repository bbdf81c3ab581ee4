#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A point in time: milliseconds since 1970-01-01 00:00:00 UTC, without leap seconds.
///
/// Encoded as one integer. Arithmetic clamps to the earliest and the latest timestamp instead of trapping, because
/// timestamps may come from untrusted input.
public struct Timestamp: Hashable, Sendable {
    /// Milliseconds since the Unix epoch; negative before it.
    public let milliseconds: Int64

    /// The point in time that lies `milliseconds` after the Unix epoch.
    @inlinable
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// 1970-01-01 00:00:00 UTC.
    @inlinable public static var epoch: Timestamp { Timestamp(milliseconds: 0) }
    /// The earliest representable timestamp.
    @inlinable public static var earliest: Timestamp { Timestamp(milliseconds: .min) }
    /// The latest representable timestamp.
    @inlinable public static var latest: Timestamp { Timestamp(milliseconds: .max) }

    /// The timestamp `duration` later (earlier if negative), clamped; fractions of a millisecond are truncated.
    public func advanced(by duration: Duration) -> Timestamp {
        let sum = Int128(milliseconds) + duration.attoseconds / Self.attosecondsPerMillisecond
        return Timestamp(milliseconds: Int64(clamping: sum))
    }

    /// The exact time from this timestamp to `other`; negative if `other` is earlier.
    public func duration(to other: Timestamp) -> Duration {
        let difference = Int128(other.milliseconds) - Int128(milliseconds)
        return Duration(attoseconds: difference * Self.attosecondsPerMillisecond)
    }

    private static let attosecondsPerMillisecond: Int128 = 1_000_000_000_000_000
}

extension Timestamp: Comparable {
    /// Whether `left` is earlier than `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: Codable {
    /// Reads the milliseconds since the Unix epoch, one integer.
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes the milliseconds since the Unix epoch, one integer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Timestamp {
    /// The system's wall clock: the default clock of cores, connectors and ticks. Reducers read the time from their
    /// ``ActionContext`` instead.
    public static let systemClock: @Sendable () -> Timestamp = {
        // Read as words, which have 32 bits on some watches: the module that declares the fields of `timespec` differs
        // between systems.
        let wordBytes = MemoryLayout<Int>.size
        return withUnsafeTemporaryAllocation(byteCount: 2 * wordBytes, alignment: wordBytes) { time in
            guard let bytes = time.baseAddress else { return .epoch }
            clock_gettime(CLOCK_REALTIME, bytes.assumingMemoryBound(to: timespec.self))
            let (seconds, nanoseconds) = (time.load(as: Int.self), time.load(fromByteOffset: wordBytes, as: Int.self))
            return Timestamp(milliseconds: Int64(seconds) * 1_000 + Int64(nanoseconds) / 1_000_000)
        }
    }

    /// The time at regular intervals, for connectors whose props depend on it.
    ///
    /// The first tick is due after one period, and each tick a whole number of periods after the start, however late
    /// the ticks before it were. Ticks that a slow consumer missed are skipped. The sequence ends when the iterating
    /// task is cancelled.
    ///
    /// - Parameters:
    ///   - period: the interval; positive.
    ///   - clock: measures the interval.
    ///   - now: the clock that is read at each tick.
    public static func ticks<Pace: Clock>(
        every period: Duration,
        pacedBy clock: Pace = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock
    ) -> some AsyncSequence<Timestamp, Never> & Sendable where Pace.Duration == Duration {
        precondition(period > .zero, "the period of ticks must be positive, is \(period)")
        return TickSequence(period: period, clock: clock, now: now)
    }
}

private struct TickSequence<Pace: Clock>: AsyncSequence, Sendable where Pace.Duration == Duration {
    let period: Duration
    let clock: Pace
    let now: @Sendable () -> Timestamp

    func makeAsyncIterator() -> Iterator { Iterator(ticks: self, next: clock.now.advanced(by: period)) }

    /// The time from one tick to the next one that is not missed.
    func step(over lateness: Duration) -> Duration {
        // Computed without a loop: after a sleep of the machine, millions of ticks may be missed.
        let missed = Swift.max(lateness, .zero).attoseconds / period.attoseconds
        return Duration(attoseconds: (missed + 1) * period.attoseconds)
    }

    struct Iterator: AsyncIteratorProtocol {
        let ticks: TickSequence
        var next: Pace.Instant

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Timestamp? {
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
