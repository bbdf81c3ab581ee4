/// A point in time: milliseconds since 1970-01-01 00:00:00 UTC, without leap seconds.
///
/// Encoded as one integer. Arithmetic clamps to the earliest and the latest timestamp instead of trapping,
/// since a timestamp may come from anywhere.
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
    /// The earliest timestamp there is.
    @inlinable public static var earliest: Timestamp { Timestamp(milliseconds: .min) }
    /// The latest timestamp there is.
    @inlinable public static var latest: Timestamp { Timestamp(milliseconds: .max) }

    /// The timestamp `duration` later (earlier if negative), clamped; parts of a millisecond are cut off.
    public func advanced(by duration: Duration) -> Timestamp {
        let sum = Int128(milliseconds) + duration.attoseconds / Self.attosecondsPerMillisecond
        return Timestamp(milliseconds: Int64(clamping: sum))
    }

    /// How long it is from here to `other`; negative if `other` is earlier. Always exact.
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
