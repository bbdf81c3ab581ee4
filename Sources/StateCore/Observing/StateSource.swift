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

    /// Calls `body` for each change from now on, as ``observe(replay:_:)`` does, except that ``Change/old`` may be missing
    /// if `needsOld` is false.
    ///
    /// Without the old state the source need not keep it beside the new one, and changes its collections in place instead
    /// of copying them: for observers such as scopes, which keep what they need of it. By default
    /// it is ``observe(replay:_:)``.
    func observe(
        replay: Bool,
        needsOld: Bool,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription
}

extension StateSource {
    /// Observes with the old states.
    public func observe(
        replay: Bool,
        needsOld: Bool,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, body)
    }
}
