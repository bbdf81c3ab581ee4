/// How often a journal gets a snapshot, and how much history it keeps.
public struct JournalPolicy: Hashable, Sendable {
    /// After so many bytes of records a snapshot is stored; later, if the state itself is larger, so that snapshots never
    /// take more room than records. It bounds what a start has to read.
    public var snapshotBytes = 32 << 20
    /// After so many records a snapshot is stored, whatever their size.
    public var snapshotRecords = 100_000
    /// So many bytes of records are kept at least: for time travel, and for replicas that come back late.
    public var historyBytes = 1 << 30

    /// The standard policy.
    public init() {}
}
