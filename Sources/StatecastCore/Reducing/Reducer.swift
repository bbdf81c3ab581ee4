/// The only code that changes a state: a pure function of the state, an action and its context.
///
/// Pure means: no clock, no randomness, no I/O, and no trap for any action. All input is in the action or in the
/// ``ActionContext``; work outside is returned as an ``Effect``. A reducer cannot throw: it ignores an action that it
/// cannot apply, or a ``Middleware`` rejects such actions. It also ignores unknown actions.
///
/// ```swift
/// let reducer = Reducer<Counter> { counter, action in
///     switch action {
///     case is CounterIncreaseRequested: counter.counter += counter.step
///     case let action as StepChangeRequested: counter.step = action.step
///     default: break
///     }
/// }
/// ```
public struct Reducer<State>: Sendable {
    @usableFromInline let body: @Sendable (inout State, any Action, ActionContext) -> Effect
    /// Whether it may read the context. If not, the core does not read the clock.
    @usableFromInline package let readsContext: Bool

    /// A reducer that needs only the state and the action: a closure or a function.
    @inlinable
    public init(_ body: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void) {
        readsContext = false
        self.body = { state, action, _ in
            body(&state, action)
            return .none
        }
    }

    /// A reducer that also returns an effect.
    ///
    /// If the closure is a single expression, write its type: `{ state, action -> Effect in work(action) }`. Otherwise
    /// Swift infers a closure that returns nothing, and warns of an unused result.
    @inlinable
    @_disfavoredOverload
    public init(_ body: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Effect) {
        readsContext = false
        self.body = { state, action, _ in body(&state, action) }
    }

    /// A reducer that also reads the context of each action, such as its time.
    ///
    /// ```swift
    /// let reducer = Reducer<Fleet>.withContext { fleet, action, context in
    ///     guard let action = action as? HostSampled else { return .none }
    ///     fleet.hosts[action.host]?.lastSeen = context.time
    ///     return .none
    /// }
    /// ```
    ///
    /// Not an initializer: of overloads whose closures have different numbers of parameters, the compiler would report
    /// a misspelt member of the context as a wrong number of parameters.
    @inlinable
    public static func withContext(
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) -> Reducer {
        Reducer(readsContext: true, body)
    }

    /// Not available; see ``withContext(_:)``.
    @available(*, unavailable, message: "a reducer with a context is Reducer.withContext { state, action, context in }")
    public init(
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) {
        self.init(readsContext: true, body)
    }

    /// A reducer from a function that returns the next state.
    ///
    /// It copies the collections that it changes. Prefer a reducer with an `inout` state for large collections.
    ///
    /// ```swift
    /// func next(_ counter: Counter, _ action: any Action) -> Counter { ... }
    /// let reducer = Reducer.returningState(next)
    /// ```
    @inlinable
    public static func returningState(
        _ next: @escaping @Sendable (_ state: State, _ action: any Action) -> State
    ) -> Reducer {
        Reducer { state, action in state = next(state, action) }
    }

    /// A reducer that may be composed of others; it reads the context if they do.
    @usableFromInline
    package init(
        readsContext: Bool,
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) {
        self.readsContext = readsContext
        self.body = body
    }

    /// Reduces one action into `state`.
    ///
    /// - Returns: the effect. A reducer that calls another one returns this effect, or merges it with its own.
    @inlinable
    public func reduce(into state: inout State, _ action: any Action, context: ActionContext) -> Effect {
        body(&state, action, context)
    }
}

// MARK: One type of action

extension Reducer {
    /// A reducer for one type of action; it ignores all others.
    ///
    /// With an enum as the type, the compiler checks that each case is handled:
    ///
    /// ```swift
    /// enum CartAction: Action {
    ///     case added(item: Item)
    ///     case cleared
    /// }
    /// let reducer = Reducer<Cart>(of: CartAction.self) { cart, action in
    ///     switch action {
    ///     case .added(let item): cart.items.append(item)
    ///     case .cleared: cart.items = []
    ///     }
    /// }
    /// ```
    @inlinable
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled) -> Void
    ) {
        self.init { state, action in
            if let action = cast(action, to: Handled.self) { body(&state, action) }
        }
    }

    /// A reducer for one type of action that also returns an effect.
    @inlinable
    @_disfavoredOverload
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled) -> Effect
    ) {
        self.init { state, action -> Effect in
            cast(action, to: Handled.self).map { body(&state, $0) } ?? .none
        }
    }

    /// A reducer for one type of action that also reads the context; see ``withContext(_:)``.
    @inlinable
    public static func withContext<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled, _ context: ActionContext) -> Effect
    ) -> Reducer {
        withContext { state, action, context in
            cast(action, to: Handled.self).map { body(&state, $0, context) } ?? .none
        }
    }
}
