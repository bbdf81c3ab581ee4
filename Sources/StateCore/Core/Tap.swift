/// When a tap is told of an action.
public enum TapMoment: Hashable, Sendable {
    /// Behind the middlewares, just before the reducer.
    case before
    /// Behind the observers, before the effects.
    case after
}

/// What a tap is told.
public struct TappedAction<State: Sendable>: Sendable {
    /// The action, as it reaches the reducer.
    public let action: any Action
    /// When it was taken in, and from whom.
    public let context: ActionContext
    /// The state at the tap's moment.
    public let state: State
    /// The revision of `state`.
    public let revision: UInt64
}
