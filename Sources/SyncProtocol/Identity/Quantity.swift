/// A count or an identity that is a whole number on the wire and a type of its own in code, so that a revision is
/// never taken for an epoch.
public protocol Quantity: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible
where RawValue == UInt64 {
    /// Wraps a number that is already known to mean this quantity.
    init(rawValue: UInt64)
}

extension Quantity {
    /// Wraps a number that is already known to mean this quantity.
    public init(_ number: UInt64) { self.init(rawValue: number) }

    /// The bare number, in decimal.
    public var description: String { String(rawValue) }

    /// Orders by the number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The quantity `count` further on. Saturates at the largest number instead of trapping: a peer may have named
    /// any number.
    package func advanced(by count: Int) -> Self {
        let (sum, overflow) = rawValue.addingReportingOverflow(UInt64(max(0, count)))
        return Self(rawValue: overflow ? .max : sum)
    }

    /// The next one.
    package var next: Self { advanced(by: 1) }

    /// The one before; zero stays zero.
    package var previous: Self { Self(rawValue: rawValue == 0 ? 0 : rawValue - 1) }

    /// How many steps lie from `other` up to this one; zero if this one is not beyond it.
    package func distance(beyond other: Self) -> Int {
        rawValue > other.rawValue ? Int(clamping: rawValue - other.rawValue) : 0
    }
}
