/// Names one piece of work of one effect, so that a service outside can tell a repetition from something new.
///
/// A crash may come between the work and the news of it: the initial effect may then do the work again, under a key of
/// its own. What must not be done twice takes its key from the state instead.
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The history that the revision counts in; nil for a core, whose history nobody records.
    public let lineage: String?
    /// The revision made by the action that the effect belongs to.
    public let revision: UInt64
    /// Which piece of work of the action's effect it is, counted from 0 in the order written.
    public let index: Int
    /// Which start the work belongs to, as part of the initial effect; nil if it belongs to an action.
    public let start: UInt64?

    /// Names the piece of work.
    public init(lineage: String? = nil, revision: UInt64, index: Int, start: UInt64? = nil) {
        self.lineage = lineage
        self.revision = revision
        self.index = index
        self.start = start
    }

    /// `lineage/revision/index`, followed by `/start-n` for work of the `n`th start's initial effect.
    public var description: String {
        let name = "\(lineage.map { "\($0)/" } ?? "")\(revision)/\(index)"
        return start.map { "\(name)/start-\($0)" } ?? name
    }
}
