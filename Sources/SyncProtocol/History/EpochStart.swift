public import StateCore

/// The beginning of an incarnation of the primary.
public struct EpochStart: Hashable, Sendable {
    /// Which incarnation.
    public let epoch: Epoch
    /// Where the state stood when it began.
    public let revision: Revision
    /// The declared version of its State.
    public let fingerprint: UInt64
    /// When it began.
    public let time: Timestamp

    /// Names a beginning.
    public init(epoch: Epoch, revision: Revision, fingerprint: UInt64, time: Timestamp) {
        self.epoch = epoch
        self.revision = revision
        self.fingerprint = fingerprint
        self.time = time
    }
}

/// Where the incarnations of a lineage began: tells which positions lie in what is still known.
package struct EpochTable: Hashable, Sendable {
    /// Rising.
    private let starts: [EpochStart]

    package init(_ starts: [EpochStart]) { self.starts = starts }

    /// The last revision that an incarnation published, as far as anything is known of it now: where the one behind it
    /// began. `nil` for the last incarnation, and for those that are not known.
    func end(of epoch: Epoch) -> Revision? {
        starts.first { $0.epoch > epoch }.map(\.revision)
    }
}
