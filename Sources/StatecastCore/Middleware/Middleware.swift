/// Processes each action before the reducer: passes it on, changes it, rejects it, dispatches more, or answers with a
/// value.
///
/// Middlewares are nested, the first one outermost, and run when the core processes the action.
///
/// ```swift
/// let clamped = Middleware<Counter> { action, store, next in
///     guard let change = action as? StepChangeRequested else { return try next(action) }
///     return try next(StepChangeRequested(step: min(change.step, 100)))
/// }
/// let readOnly = Middleware<Counter> { action, store, next in
///     guard store.context.session == nil else { throw Rejection(.refused, "only the owner's process may change it") }
///     return try next(action)
/// }
/// ```
///
/// On a primary, the context contains the sender (``ActionContext/session``, ``ActionContext/user``), the sender
/// receives a thrown rejection in place of a receipt, and the journal records the action that reaches the reducer.
public struct Middleware<State>: Sendable {
    /// Passes an action to the inner middlewares and the reducer. To be called at most once.
    ///
    /// - Returns: the value that an inner middleware answers with; nil from the reducer.
    /// - Throws: the error of an inner middleware.
    public typealias Next = (_ action: any Action) throws -> (any Sendable)?

    fileprivate let body: @Sendable (any Action, MiddlewareStore<State>, Next) throws -> (any Sendable)?

    /// Creates a middleware.
    ///
    /// - Parameter body: passes the action on by calling `next`, and returns the value for the code that awaits the
    ///   action. If it neither calls `next` nor returns a value, the action is rejected as `swallowed`. A ``Rejection``
    ///   thrown before `next` is the result of the action; any other error becomes a rejection with code `refused`.
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

    /// A middleware that only decides whether an action may pass.
    ///
    /// ```swift
    /// let policy = Middleware<Fleet>.policy { action, store in
    ///     if action is HostRetired, store.context.session != nil {
    ///         throw Rejection(.refused, "only the owner's process retires hosts")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter check: throws a ``Rejection`` with any code to reject the action.
    public static func policy(
        _ check: @escaping @Sendable (_ action: any Action, _ store: MiddlewareStore<State>) throws -> Void
    ) -> Middleware {
        Middleware { action, store, next in
            try check(action, store)
            return try next(action)
        }
    }
}

/// The store that a middleware accesses while it processes an action. Not valid afterwards, except for ``dispatcher``.
public struct MiddlewareStore<State> {
    private let read: () -> State
    /// The time and the sender of the action.
    public let context: ActionContext
    /// Enqueues more actions. May be kept to dispatch later.
    public let dispatcher: any ActionDispatcher

    /// - Parameter read: returns the state at the time of the call.
    package init(context: ActionContext, dispatcher: any ActionDispatcher, read: @escaping () -> State) {
        self.context = context
        self.dispatcher = dispatcher
        self.read = read
    }

    /// The state: before `next` the input of the reducer, after `next` its output.
    ///
    /// A copy that is kept across `next` makes the reducer copy the collections that it changes.
    public var state: State { read() }

    /// Enqueues one more action; see ``dispatcher``.
    public func dispatch(_ action: any Action) { dispatcher.dispatch(action) }
}

// MARK: The chain

/// Nested middlewares, the first one outermost. They are composed once, not for each action.
package struct MiddlewareChain<State>: Sendable {
    private typealias Pass =
        @Sendable (
            _ action: any Action,
            _ store: MiddlewareStore<State>,
            _ warn: (RuntimeWarning) -> Void,
            _ reduce: (any Action) -> Void
        ) throws -> (any Sendable)?

    private let outermost: Pass
    package let isEmpty: Bool

    package init(_ middlewares: [Middleware<State>]) {
        isEmpty = middlewares.isEmpty
        var chain: Pass = { action, _, warn, reduce in
            if type(of: action).isForMiddleware { warn(.unhandledByMiddleware(action: type(of: action).name)) }
            reduce(action)
            return nil
        }
        for middleware in middlewares.reversed() {
            let inner = chain
            chain = { action, store, warn, reduce in
                var isPassedOn = false
                return try middleware.body(action, store) { action in
                    guard !isPassedOn else {
                        warn(.nextCalledTwice(action: type(of: action).name))
                        return nil
                    }
                    isPassedOn = true
                    return try inner(action, store, warn, reduce)
                }
            }
        }
        outermost = chain
    }

    /// Passes an action through the middlewares, and to `reduce` unless one rejects or answers it.
    ///
    /// - Returns: the value that a middleware answers with, or the reason for which the action was not reduced.
    package func pass(
        _ action: any Action,
        in store: MiddlewareStore<State>,
        warn: (RuntimeWarning) -> Void,
        to reduce: (any Action) -> Void
    ) -> Result<(any Sendable)?, Rejection> {
        var isReduced = false
        do {
            let value = try outermost(action, store, warn) { action in
                isReduced = true
                reduce(action)
            }
            guard isReduced || value != nil else { throw Rejection.swallowed(action) }
            return .success(value)
        } catch {
            guard !isReduced else {
                // The state contains the action, so it must not be reported as rejected.
                warn(.rejectedTooLate(action: type(of: action).name, error: "\(error)"))
                return .success(nil)
            }
            return .failure(error as? Rejection ?? Rejection(.refused, "\(type(of: action).name): \(error)"))
        }
    }
}

extension Rejection {
    package static func swallowed(_ action: any Action) -> Rejection {
        Rejection(.swallowed, "a middleware neither passed \(type(of: action).name) on nor answered it")
    }
}
