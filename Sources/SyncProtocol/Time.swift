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
    let delayMin: Duration
    let delayMax: Duration
    private var attempts = 0

    init(_ limits: Limits) {
        delayMin = limits.retryDelayMin
        delayMax = limits.retryDelayMax
    }

    /// The next delay: between half of the current maximum and all of it.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let full = min(delayMax, delayMin * (1 << min(attempts, 20)))
        attempts += 1
        return full / 2 + Duration.random(upTo: full / 2, using: &generator)
    }

    /// Restarts with the shortest delay.
    mutating func reset() { attempts = 0 }
}

extension Duration {
    /// A random duration from zero to `limit`, in whole microseconds.
    static func random(upTo limit: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        let (seconds, attoseconds) = limit.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return .microseconds(Int64.random(in: 0...max(0, microseconds), using: &generator))
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
