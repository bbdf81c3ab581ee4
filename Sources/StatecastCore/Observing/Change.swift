/// One change of a state, or the replay of the current state at the start of an observation.
public struct Change<State: Sendable>: Sendable {
    /// The state before; nil in the replay, and possibly if the observation omits it.
    public let old: State?
    /// The state after, or the current one in the replay. It may equal `old`.
    public let new: State
    /// The reduced action, or a `NoAction`. Not an optional, whose copies and releases take longer than those of both
    /// states of a small core.
    @usableFromInline let reduced: any Action
    /// The revision of `old`; nil in the replay.
    public let oldRevision: UInt64?
    /// The revision of `new`: the number of applied actions since the history began. A replaced or migrated state
    /// counts as one, too.
    public let revision: UInt64

    /// The reduced action; nil in the replay, after a replaced state, and where actions are not available, as on a
    /// replica.
    @inlinable public var action: (any Action)? { isAbsent(reduced) ? nil : reduced }

    /// Creates a change from `old` to `new`.
    @inlinable
    public init(old: State, oldRevision: UInt64, new: State, revision: UInt64, action: (any Action)?) {
        self.init(
            old: old,
            oldRevision: oldRevision,
            new: new,
            revision: revision,
            reduced: action ?? NoAction()
        )
    }

    /// Creates a replay.
    public init(replay state: State, revision: UInt64) {
        self.init(old: nil, oldRevision: nil, new: state, revision: revision, reduced: NoAction())
    }

    /// Creates a change whose old state may be omitted.
    @inlinable
    init(old: State?, oldRevision: UInt64?, new: State, revision: UInt64, reduced: any Action) {
        self.old = old
        self.new = new
        self.reduced = reduced
        self.oldRevision = oldRevision
        self.revision = revision
    }
}

/// Stands for the missing action of a change.
@usableFromInline
struct NoAction: Action {
    @inlinable
    init() {}
}

@inlinable
func isAbsent<Given: Action>(_ action: Given) -> Bool { Given.self == NoAction.self }
