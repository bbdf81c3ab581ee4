/// Names one piece of work of one effect, so that a service outside can tell a repetition from something new.
///
/// A crash may come between the work and the news of it: the work is then done again (see `resume`), under a key of
/// its own. What must not be done twice takes its key from the state instead.
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The history that the revision counts in; nil for a core, whose history nobody records.
    public let lineage: String?
    /// The revision made by the action that the effect belongs to.
    public let revision: UInt64
    /// Which piece of work of the action's effect it is, counted from 0 in the order written.
    public let index: Int
    /// Which start resumed the work; nil if it belongs to an action.
    public let resumption: UInt64?

    /// Names the piece of work.
    public init(lineage: String? = nil, revision: UInt64, index: Int, resumption: UInt64? = nil) {
        self.lineage = lineage
        self.revision = revision
        self.index = index
        self.resumption = resumption
    }

    /// `lineage/revision/index`, with `/resumed-n` behind it for work that the `n`th start resumed.
    public var description: String {
        let name = "\(lineage.map { "\($0)/" } ?? "")\(revision)/\(index)"
        return resumption.map { "\(name)/resumed-\($0)" } ?? name
    }
}
