/// What an observer is told: the state changed, or (in the replay) this is where it comes in.
public struct Change<State: Sendable>: Sendable {
    /// The state before; nil in the replay, and for an observer that does not need it where no other does.
    public let old: State?
    /// The state after, or the current one in the replay. It may equal `old`.
    public let new: State
    /// The action that was reduced; nil in the replay, when the state was replaced, and where actions are not seen,
    /// as on a replica.
    public let action: (any Action)?
    /// The revision of `old`; nil in the replay.
    public let oldRevision: UInt64?
    /// The revision of `new`: how many changes the state has seen since its history began.
    public let revision: UInt64

    /// Describes a step from `old` to `new`.
    @inlinable
    public init(old: State, oldRevision: UInt64, new: State, revision: UInt64, action: (any Action)?) {
        self.old = old
        self.new = new
        self.action = action
        self.oldRevision = oldRevision
        self.revision = revision
    }

    /// Describes where an observer comes in.
    public init(replay state: State, revision: UInt64) {
        old = nil
        new = state
        action = nil
        oldRevision = nil
        self.revision = revision
    }

    /// Describes a step whose old state may not have been kept.
    @inlinable
    init(old: State?, oldRevision: UInt64?, new: State, revision: UInt64, action: (any Action)?) {
        self.old = old
        self.new = new
        self.action = action
        self.oldRevision = oldRevision
        self.revision = revision
    }
}
