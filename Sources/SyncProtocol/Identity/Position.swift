/// Where a replica stands: which history, which incarnation of the primary told it so, and how far.
public struct Position: Hashable, Sendable, CustomStringConvertible {
    /// The history.
    public let lineage: Lineage
    /// The incarnation of the primary that published the revision.
    public let epoch: Epoch
    /// The last revision that is contained.
    public let revision: Revision

    /// Names a place in a history.
    public init(lineage: Lineage, epoch: Epoch, revision: Revision) {
        self.lineage = lineage
        self.epoch = epoch
        self.revision = revision
    }

    /// `lineage.epoch.revision`, as it stands in a join topic.
    public var description: String { "\(lineage).\(epoch).\(revision)" }

    package func moved(to revision: Revision) -> Position {
        Position(lineage: lineage, epoch: epoch, revision: revision)
    }
}
