/// The number of applied actions since the store's lineage began, including those that leave the state equal. A
/// migration of the state, which another build performs, counts as one, too. It continues across restarts of a
/// journaled primary.
public struct Revision: Quantity, ExpressibleByIntegerLiteral {
    /// Applied actions and migrations since the lineage began.
    public let rawValue: UInt64
    /// Creates a revision from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Allows literals: `receipt.revision == 12`.
    public init(integerLiteral number: UInt64) { self.init(rawValue: number) }
}

/// The number of the primary's incarnation within a lineage; strictly increasing.
public struct Epoch: Quantity {
    /// Starts at 1.
    public let rawValue: UInt64
    /// Creates an epoch from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The number of an action in its session; a session begins with 1.
public struct ActionNumber: Quantity {
    /// Counts from 1.
    public let rawValue: UInt64
    /// Creates an action number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The number of journal records (one per batch) since the lineage began. Unlike the revision, it also advances for a
/// batch of rejections.
public struct JournalSequence: Quantity {
    /// Records since the lineage began.
    public let rawValue: UInt64
    /// Creates a sequence from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The position of a replica: lineage, epoch and revision.
public struct Position: Hashable, Sendable, CustomStringConvertible {
    /// The history.
    public let lineage: Lineage
    /// The incarnation of the primary that published the revision.
    public let epoch: Epoch
    /// The last revision that the replica has.
    public let revision: Revision

    /// Creates a position.
    public init(lineage: Lineage, epoch: Epoch, revision: Revision) {
        self.lineage = lineage
        self.epoch = epoch
        self.revision = revision
    }

    /// `lineage.epoch.revision`, the form in a join topic.
    public var description: String { "\(lineage).\(epoch).\(revision)" }

    package func moved(to revision: Revision) -> Position {
        Position(lineage: lineage, epoch: epoch, revision: revision)
    }
}

/// A `UInt64` counter. Each kind is a distinct type, so that a revision cannot be confused with an epoch. On the wire,
/// it is an unsigned integer.
public protocol Quantity: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible
where RawValue == UInt64 {
    /// Creates a quantity from its number.
    init(rawValue: UInt64)
}

extension Quantity {
    /// Creates a quantity from its number.
    public init(_ number: UInt64) { self.init(rawValue: number) }

    /// The bare number, in decimal.
    public var description: String { String(rawValue) }

    /// Orders by the number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// This quantity plus `count`. Saturates instead of trapping: a peer may have sent any number.
    package func advanced(by count: Int) -> Self {
        let (sum, overflow) = rawValue.addingReportingOverflow(UInt64(max(0, count)))
        return Self(rawValue: overflow ? .max : sum)
    }

    package var next: Self { advanced(by: 1) }

    /// The preceding quantity; zero stays zero.
    package var previous: Self { Self(rawValue: rawValue == 0 ? 0 : rawValue - 1) }

    /// The distance from `other` up to this quantity; zero if this one is not greater.
    package func distance(beyond other: Self) -> Int {
        rawValue > other.rawValue ? Int(clamping: rawValue - other.rawValue) : 0
    }
}
