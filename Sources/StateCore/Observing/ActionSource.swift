/// A source of the actions that reach a reducer, each with the state: a core, or a scope of one.
public protocol ActionSource<State>: StateSource {
    /// Calls `body` for each action that reaches the reducer from now on, just before or after; there is no replay.
    ///
    /// - Parameters:
    ///   - moment: when `body` is called, and which state it is shown.
    ///   - body: called where the change is made; it should be quick. It may dispatch, observe and cancel.
    func tap(_ moment: TapMoment, _ body: @escaping @Sendable (TappedAction<State>) -> Void) -> Subscription
}

extension Core: ActionSource {}

extension ActionSource {
    /// Calls `body` for each action that reaches the reducer from now on, on the given delivery.
    ///
    /// Actions that come faster than `body` takes them wait, all of them and in order. Actions still queued when the
    /// subscription is cancelled are dropped.
    public func tap(
        _ moment: TapMoment = .after,
        on delivery: Delivery,
        _ body: @escaping @Sendable (_ tapped: TappedAction<State>) -> Void
    ) -> Subscription {
        delivery.subscribe(body) { tap(moment, $0) }
    }

    /// Calls `body` for each action that reaches the reducer from now on, on the main actor, whose state it may use.
    public func tap(
        _ moment: TapMoment = .after,
        on actor: MainActor,
        _ body: @escaping @MainActor @Sendable (_ tapped: TappedAction<State>) -> Void
    ) -> Subscription {
        tap(moment, on: .mainActor) { tapped in
            MainActor.assumeIsolated { body(tapped) }
        }
    }

    /// Calls `body` for each action of one type that reaches the reducer from now on, with the state at the tap's moment.
    ///
    /// ```swift
    /// core.tap(ItemAdded.self) { action, cart in print(action.item, cart.items.count) }.store(in: disposer)
    /// ```
    ///
    /// A tap of a scope computes the part for actions of other types, too.
    public func tap<Tapped: Action>(
        _ type: Tapped.Type,
        _ moment: TapMoment = .after,
        on delivery: Delivery = .inline,
        _ body: @escaping @Sendable (_ action: Tapped, _ state: State) -> Void
    ) -> Subscription {
        // Filtered before delivery, so that other actions cost no hop.
        delivery.subscribe({ tapped in body(tapped.action, tapped.state) }) { deliver in
            tap(moment) { tapped in
                if let action = tapped.action as? Tapped { deliver((action: action, state: tapped.state)) }
            }
        }
    }
}

extension Scope: ActionSource where Source: ActionSource {
    /// Calls `body` for each action that reaches the source's reducer, also if it leaves the part equal, with the part in
    /// place of the state.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (_ tapped: TappedAction<Value>) -> Void
    ) -> Subscription {
        source.tap(moment) { [node] tapped in body(tapped.map(node.map)) }
    }
}

extension WritableScope: ActionSource {
    /// Calls `body` for each action that reaches the core's reducer, also if it leaves the part equal, with the part in
    /// place of the state.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (_ tapped: TappedAction<Value>) -> Void
    ) -> Subscription {
        scope.tap(moment, body)
    }
}

extension TappedAction {
    fileprivate func map<Part>(_ part: (State) -> Part) -> TappedAction<Part> {
        TappedAction<Part>(action: action, context: context, state: part(state), revision: revision)
    }
}
