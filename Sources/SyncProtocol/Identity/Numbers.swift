/// How many changes a store has seen since its lineage began; it goes on across restarts of a journaled primary.
public struct Revision: Quantity, ExpressibleByIntegerLiteral {
    /// Changes since the lineage began.
    public let rawValue: UInt64
    /// Wraps a number of changes.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Wraps a number of changes that is written out: `receipt.revision == 12`.
    public init(integerLiteral number: UInt64) { self.init(rawValue: number) }
}

/// Which incarnation of the primary speaks, within a lineage. Always rises.
public struct Epoch: Quantity {
    /// Starts at 1.
    public let rawValue: UInt64
    /// Wraps an incarnation's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The place of an action in its session: the first action of a fresh session has number 1.
public struct ActionNumber: Quantity {
    /// Counts from 1.
    public let rawValue: UInt64
    /// Wraps an action's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// How many records (one for each batch) the primary has written since the lineage began. Unlike the revision it also
/// moves when a batch held only rejections.
public struct JournalSequence: Quantity {
    /// Records since the lineage began.
    public let rawValue: UInt64
    /// Wraps a number of records.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
