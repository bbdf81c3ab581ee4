/// A moment on a node's steady clock, as the time since an origin of that node.
///
/// State machines get moments as arguments and never read a clock, so that tests and simulations control time.
public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock's origin.
    public let offset: Duration

    /// The moment `offset` after the clock's origin.
    public init(offset: Duration) { self.offset = offset }

    /// The clock's origin.
    public static let origin = Instant(offset: .zero)

    /// The moment `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from this moment to `other`; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Orders by time.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
}

/// Exponential backoff with jitter, so that nodes that fail together do not retry together.
struct Backoff: Hashable, Sendable {
    // Integers, because a sender computes a delay for each frame, and arithmetic with `Duration` has 128 bits.
    private let minMicroseconds: Int64
    private let maxMicroseconds: Int64
    private var attempts = 0

    init(_ limits: Limits) {
        minMicroseconds = limits.minRetryDelay.microseconds
        maxMicroseconds = limits.maxRetryDelay.microseconds
    }

    /// The next delay, in whole microseconds: between half of the current maximum and all of it.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let half = min(maxMicroseconds, minMicroseconds << min(attempts, 20)) / 2
        attempts += 1
        // Like `Int64.random(in:)`, which is generic and slow, but without its second draws for equal probabilities.
        return .microseconds(half + Int64(generator.next().multipliedFullWidth(by: UInt64(half) + 1).high))
    }

    /// Restarts with the shortest delay.
    mutating func reset() { attempts = 0 }
}

extension Duration {
    /// A random duration from zero to `limit`, in whole microseconds.
    static func random(upTo limit: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        .microseconds(Int64.random(in: 0...limit.microseconds, using: &generator))
    }

    /// Microseconds, rounded up and clamped to 0 and 2^40, which is over twelve days: twenty doublings fit 64 bits.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = min(max(.zero, self), .microseconds(1 << 40)).components
        return seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000
    }
}

extension Duration {
    /// Whole milliseconds, the unit of durations on the wire; saturates.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000_000
    }
}
