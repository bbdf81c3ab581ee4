/// Shows a state and how it changes: a core, a scope, a primary, a replica.
///
/// Sequences, scopes and connected components rest on nothing but this. Who conforms calls `body` for one change at a time, in order, each change beginning where the one before ended; after `cancel()` of the
/// subscription has returned, no call begins any more. Who conforms lets go of `body` when the subscription is cancelled,
/// and when the source itself ends, even if somebody still holds the subscription: that is how a sequence learns that
/// nothing will come any more.
public protocol StateSource<State>: Sendable {
    /// What it shows.
    associatedtype State: Sendable

    /// Calls `body` for each change from now on, until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state, if there is one.
    ///   - body: called where the change is made; it should be quick. It may dispatch, observe and cancel.
    func observe(replay: Bool, _ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription

    /// Calls `body` with the current state, if there is one, and for each change from now on, as ``observe(replay:_:)``
    /// does with a replay, except that ``Change/old`` may be missing.
    ///
    /// For those who keep what they need of the state before, such as scopes: the source need not keep all of it for them,
    /// and does not have to copy what changes. Without an implementation of its own it is that of `observe`.
    func follow(_ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription
}

extension StateSource {
    /// Observes with a replay.
    public func follow(_ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription {
        observe(replay: true, body)
    }
}
