/// Stands between those who dispatch and the reducer: sees each action and the state, and may let the action pass, change
/// it, keep it, refuse it, dispatch more, or answer with a value.
///
/// Middlewares run one inside the other, the first one outermost, when the action's turn has come.
///
/// ```swift
/// let clamped = Middleware<Counter> { action, store, next in
///     guard let change = action as? StepChangeRequested else { return try next(action) }
///     return try next(StepChangeRequested(step: min(change.step, 100)))
/// }
/// let readOnly = Middleware<Counter> { action, store, next in
///     guard store.context.user == "operator" else { throw Rejection(.refused, "only the operator may change it") }
///     return try next(action)
/// }
/// ```
///
/// On a primary the middleware sees who sent the action (``ActionContext/session``, ``ActionContext/user``), and what it
/// throws reaches the sender in place of a receipt; what reaches the reducer is what is recorded.
public struct Middleware<State>: Sendable {
    /// The rest of the way: the middlewares further in, and the reducer. To be called at most once.
    ///
    /// - Returns: the value that a middleware further in answers with; nil from the reducer.
    /// - Throws: the ``Rejection`` of a middleware further in.
    public typealias Next = (_ action: any Action) throws -> (any Sendable)?

    let body: @Sendable (any Action, MiddlewareStore<State>, Next) throws -> (any Sendable)?

    /// A middleware that does what `body` does.
    ///
    /// - Parameter body: passes the action on by calling `next`, and returns the value for whoever awaits the action. If it
    ///   neither calls `next` nor returns a value, the action is rejected as `swallowed`. A ``Rejection`` that it throws
    ///   before calling `next` is the action's; any other error becomes a rejection with code `refused`.
    public init(
        _ body:
            @escaping @Sendable (
                _ action: any Action,
                _ store: MiddlewareStore<State>,
                _ next: Next
            ) throws -> (any Sendable)?
    ) {
        self.body = body
    }
}

extension Middleware {
    /// A middleware that only decides whether an action may pass.
    ///
    /// ```swift
    /// let policy = Middleware<Fleet>.policy { action, store in
    ///     if action is HostRetired, store.context.user != "operator" {
    ///         throw Rejection(.refused, "only the operator retires hosts")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter check: throws a ``Rejection`` to refuse; any code may be given.
    public static func policy(
        _ check: @escaping @Sendable (_ action: any Action, _ store: MiddlewareStore<State>) throws -> Void
    ) -> Middleware {
        Middleware { action, store, next in
            try check(action, store)
            return try next(action)
        }
    }
}

/// What a middleware may look at and do while it has an action before it. Not to be kept.
public struct MiddlewareStore<State> {
    private let read: () -> State
    /// When the action was taken in, and from whom.
    public let context: ActionContext
    /// Takes more actions; they get their turn behind those that already wait. May be kept, to dispatch later.
    public let dispatcher: any ActionDispatcher

    /// Describes the store around a middleware.
    ///
    /// - Parameter read: the state as it is at the moment of the call.
    package init(context: ActionContext, dispatcher: any ActionDispatcher, read: @escaping () -> State) {
        self.context = context
        self.dispatcher = dispatcher
        self.read = read
    }

    /// The state: before `next` the one that the action will meet, after it the one that it led to.
    ///
    /// Kept in a variable beyond `next` it makes the reducer copy the collections that it changes.
    public var state: State { read() }

    /// Takes one more action; see ``dispatcher``.
    public func dispatch(_ action: any Action) { dispatcher.dispatch(action) }
}
