/// When a tap receives an action.
public enum TapMoment: Hashable, Sendable {
    /// After the middlewares, just before the reducer.
    case before
    /// After the observers, before the effects.
    case after
}

/// An action and the state, as a tap receives them.
public struct TappedAction<State: Sendable>: Sendable {
    /// The action that the reducer receives.
    public let action: any Action
    /// The time and the sender of the action.
    public let context: ActionContext
    /// The state at the tap's moment.
    public let state: State
    /// The revision of `state`.
    public let revision: UInt64
}

/// A source of the actions that reach a reducer: a core, or a scope of one.
public protocol ActionSource<State>: StateSource {
    /// Calls `body` for each action that reaches the reducer, just before or after; there is no replay.
    ///
    /// - Parameters:
    ///   - moment: when `body` runs, and which state it receives.
    ///   - body: runs where the change is made, and should be short. It may dispatch, observe and cancel.
    func tap(_ moment: TapMoment, _ body: @escaping @Sendable (TappedAction<State>) -> Void) -> Subscription
}

extension Core: ActionSource {}

extension ActionSource {
    /// Calls `body` for each action that reaches the reducer, in a given execution context.
    ///
    /// ```swift
    /// core.tap { tapped in print(tapped.action, tapped.state) }.store(in: disposer)
    /// ```
    ///
    /// In another context than ``Delivery/inline``, all actions are queued until `body` has received them, in order.
    /// Actions that are still queued when the subscription is cancelled are dropped.
    public func tap(
        _ moment: TapMoment = .after,
        on delivery: Delivery = .inline,
        _ body: @escaping @Sendable (_ tapped: TappedAction<State>) -> Void
    ) -> Subscription {
        delivery.subscribe(body) { tap(moment, $0) }
    }

    /// Calls `body` for each action of one type that reaches the reducer, with the state at the tap's moment.
    ///
    /// ```swift
    /// core.tap(ItemAdded.self) { action, cart in print(action.item, cart.items.count) }.store(in: disposer)
    /// ```
    ///
    /// A tap of a scope also computes the part for actions of other types.
    public func tap<Tapped: Action>(
        _ type: Tapped.Type,
        _ moment: TapMoment = .after,
        on delivery: Delivery = .inline,
        _ body: @escaping @Sendable (_ action: Tapped, _ state: State) -> Void
    ) -> Subscription {
        // Filtered before the delivery, so that other actions cost no hop.
        delivery.subscribe({ tapped in body(tapped.action, tapped.state) }) { deliver in
            tap(moment) { tapped in
                if let action = tapped.action as? Tapped { deliver((action: action, state: tapped.state)) }
            }
        }
    }
}

extension Scope: ActionSource where Source: ActionSource {
    /// Calls `body` with the part for each action that reaches the source's reducer, even if the part stays equal.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (_ tapped: TappedAction<Value>) -> Void
    ) -> Subscription {
        source.tap(moment) { [map] tapped in
            let part = map(tapped.state)
            body(
                TappedAction(action: tapped.action, context: tapped.context, state: part, revision: tapped.revision)
            )
        }
    }
}

extension WritableScope: ActionSource {
    /// Calls `body` with the part for each action that reaches the core's reducer, even if the part stays equal.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (_ tapped: TappedAction<Value>) -> Void
    ) -> Subscription {
        scope.tap(moment, body)
    }
}
