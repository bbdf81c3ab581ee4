/// A moment on a node's own steady clock, as the time since some origin that only that node knows.
///
/// Machines get moments as arguments and never read a clock, so that a test or a simulation can be its own time.
public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock's origin.
    public let offset: Duration

    /// The moment `offset` after the clock's origin.
    public init(offset: Duration) { self.offset = offset }

    /// The clock's origin.
    public static let origin = Instant(offset: .zero)

    /// The moment `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from here to `other`; negative if `other` lies before.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Orders earlier before later.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
}
