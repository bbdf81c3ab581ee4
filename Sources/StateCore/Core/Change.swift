/// What an observer is told: one action was reduced, or (in the replay) this is where it comes in.
public struct Change<State: Sendable>: Sendable {
    /// The state before the action; nil in the replay.
    public let old: State?
    /// The state after the action, or the current one in the replay. It may equal `old`.
    public let new: State
    /// The action that was reduced; nil in the replay.
    public let action: (any Action)?
    /// How many actions the core had reduced when `new` was reached.
    public let revision: UInt64

    /// Describes a step from `old` to `new`, or, with neither `old` nor `action`, a replay.
    public init(old: State?, new: State, action: (any Action)?, revision: UInt64) {
        self.old = old
        self.new = new
        self.action = action
        self.revision = revision
    }
}
