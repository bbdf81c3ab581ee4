/// The only thing that changes a state: a pure function of the state, an action and its context.
///
/// Pure means: no clock, no randomness, no I/O, no trap whatever the action says. What it needs from outside is in the
/// action or in the `ActionContext`; what it wants done outside it returns as an ``Effect``. It cannot throw: what
/// cannot be done leaves the state alone, or is kept from the reducer by a ``Middleware``. An action that it does not
/// know leaves the state alone.
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
    /// Whether it may look at the context. If not, nobody need ask the clock.
    @usableFromInline let readsContext: Bool

    /// A reducer that needs no more than the action.
    @inlinable
    public init(_ body: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void) {
        readsContext = false
        self.body = { state, action, _ in
            body(&state, action)
            return .none
        }
    }

    /// A reducer that also says what is to be done.
    ///
    /// If the closure is a single expression, write its type: `{ state, action -> Effect in work(action) }`. Swift takes it
    /// for one that returns nothing otherwise, and warns of an unused result.
    @inlinable
    @_disfavoredOverload
    public init(_ body: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Effect) {
        readsContext = false
        self.body = { state, action, _ in body(&state, action) }
    }

    /// A reducer that also asks when the action came, and from whom.
    @inlinable
    public init(
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Void
    ) {
        readsContext = true
        self.body = { state, action, context in
            body(&state, action, context)
            return .none
        }
    }

    /// A reducer that asks when the action came, and from whom, and says what is to be done.
    @inlinable
    @_disfavoredOverload
    public init(
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) {
        readsContext = true
        self.body = body
    }

    /// A reducer from a function that returns the next state.
    ///
    /// Its state is copied where an `inout` one is changed in place: prefer that for large collections.
    @inlinable
    public init(next: @escaping @Sendable (_ state: State, _ action: any Action) -> State) {
        readsContext = false
        self.body = { state, action, _ in
            state = next(state, action)
            return .none
        }
    }

    /// A reducer around others: it looks at the context if they do.
    init(
        readsContext: Bool,
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) {
        self.readsContext = readsContext
        self.body = body
    }

    /// Reduces one action into `state`.
    ///
    /// - Returns: what is to be done about it. A reducer that calls another one returns it, or merges it with its own.
    @inlinable
    public func reduce(into state: inout State, _ action: any Action, context: ActionContext) -> Effect {
        body(&state, action, context)
    }
}
