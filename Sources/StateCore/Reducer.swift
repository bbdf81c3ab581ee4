/// The only thing that changes a state: a pure function of the state, an action and its context.
///
/// Pure means: no clock, no randomness, no I/O, no trap whatever the action says. What it needs from outside
/// is in the action or in the `ActionContext`. An action that it does not know leaves the state alone.
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
    private let body: @Sendable (inout State, any Action, ActionContext) -> Void

    /// A reducer that needs no more than the action.
    public init(_ body: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void) {
        self.body = { state, action, _ in body(&state, action) }
    }

    /// A reducer that also asks when the action came, and from whom.
    public init(
        _ body: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Void
    ) {
        self.body = body
    }

    /// A reducer from a function that returns the next state.
    ///
    /// Its state is copied where an `inout` one is changed in place: prefer that for large collections.
    public init(next: @escaping @Sendable (_ state: State, _ action: any Action) -> State) {
        self.body = { state, action, _ in state = next(state, action) }
    }

    /// Reduces one action into `state`.
    public func reduce(into state: inout State, _ action: any Action, context: ActionContext) {
        body(&state, action, context)
    }
}

extension Reducer {
    /// One reducer out of several: each action goes through all of them, in the order given, and each sees
    /// what those before it made of the state. None at all leaves every state alone.
    public static func combine(_ reducers: [Reducer]) -> Reducer {
        Reducer { state, action, context in
            for reducer in reducers {
                reducer.reduce(into: &state, action, context: context)
            }
        }
    }

    /// One reducer out of several; see `combine(_:)` with an array.
    public static func combine(_ reducers: Reducer...) -> Reducer {
        combine(reducers)
    }

    /// This reducer, at work on one part of a larger state; the part is changed in place.
    ///
    /// ```swift
    /// let reducer = Reducer.combine(settings.pullback(\App.settings), fleet.pullback(\App.fleet))
    /// ```
    public func pullback<Whole>(_ part: any WritableKeyPath<Whole, State> & Sendable) -> Reducer<Whole> {
        Reducer<Whole> { whole, action, context in
            reduce(into: &whole[keyPath: part], action, context: context)
        }
    }
}
