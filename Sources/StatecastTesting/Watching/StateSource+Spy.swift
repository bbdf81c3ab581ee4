public import StateCore

extension StateSource {
    /// Lets a spy record each state, first the current one, until the subscription is cancelled or dropped.
    public func observe(replay: Bool = true, _ spy: Spy<State>) -> Subscription {
        observe(replay: replay) { spy.record($0.new) }
    }

    /// Lets a spy record each change, first the replay, until the subscription is cancelled or dropped.
    public func observe(replay: Bool = true, _ spy: Spy<Change<State>>) -> Subscription {
        observe(replay: replay) { spy.record($0) }
    }
}
