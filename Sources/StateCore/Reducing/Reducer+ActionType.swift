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
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled) -> Void
    ) {
        self.init { state, action in
            if let action = action as? Handled { body(&state, action) }
        }
    }

    /// A reducer for one type of action that also says what is to be done.
    @_disfavoredOverload
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled) -> Effect
    ) {
        self.init { state, action -> Effect in
            (action as? Handled).map { body(&state, $0) } ?? .none
        }
    }

    /// A reducer for one type of action that also asks when the action came, and from whom.
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled, _ context: ActionContext) -> Void
    ) {
        self.init { state, action, context in
            if let action = action as? Handled { body(&state, action, context) }
        }
    }

    /// A reducer for one type of action that asks when the action came, and from whom, and says what is to be done.
    @_disfavoredOverload
    public init<Handled: Action>(
        of type: Handled.Type,
        _ body: @escaping @Sendable (_ state: inout State, _ action: Handled, _ context: ActionContext) -> Effect
    ) {
        self.init { state, action, context -> Effect in
            (action as? Handled).map { body(&state, $0, context) } ?? .none
        }
    }
}
