extension StateSource {
    /// Calls `body` with the current state and for each change from now on, where the change is made.
    @_disfavoredOverload
    public func observe(_ body: @escaping @Sendable (_ change: Change<State>) -> Void) -> Subscription {
        observe(replay: true, body)
    }

    /// Calls `body` for each change from now on, at a place of one's choice.
    ///
    /// What is under way to that place when the subscription is cancelled is dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state.
    ///   - delivery: where `body` is called. Changes that come faster than it takes them wait, all of them.
    ///   - body: called for one change at a time, in order.
    public func observe(
        replay: Bool = true,
        on delivery: Delivery,
        _ body: @escaping @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        delivery.subscribe(body) { observe(replay: replay, $0) }
    }

    /// Calls `body` for each change from now on, on the main actor, whose state it may use.
    ///
    /// ```swift
    /// core.observe(on: MainActor.shared) { change in label.text = change.new.name }
    /// ```
    ///
    /// What is under way when the subscription is cancelled is dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state.
    ///   - actor: the main actor. Changes that come faster than it takes them wait, all of them.
    ///   - body: called for one change at a time, in order.
    public func observe(
        replay: Bool = true,
        on actor: MainActor,
        _ body: @escaping @MainActor @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, on: .mainActor) { change in
            MainActor.assumeIsolated { body(change) }
        }
    }

    /// Calls `body` for each change that makes a difference.
    ///
    /// Each state is compared with the one told last, where the change is made, so that small steps, none of which makes a
    /// difference, are told once they add up. ``Change/old`` is then the state told last. The replay always comes.
    ///
    /// ```swift
    /// core.observe(removeDuplicates: ==) { change in print(change.new) }
    /// ```
    ///
    /// - Parameter areEqual: what counts as no difference.
    public func observe(
        replay: Bool = true,
        on delivery: Delivery = .inline,
        removeDuplicates areEqual: @escaping @Sendable (_ told: State, _ new: State) -> Bool,
        _ body: @escaping @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        Distinct(source: self, areEqual: areEqual).observe(replay: replay, on: delivery, body)
    }
}
