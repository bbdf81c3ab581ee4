/// Publishes a state and its changes: a core, a scope, a primary, a replica.
///
/// Sequences, scopes and components use only this protocol. A conforming type must
/// - call `body` for one change at a time, in order, where each change begins with the state that ended the previous
///   one;
/// - start no call after `cancel()` of the subscription has returned;
/// - release `body` when the subscription is cancelled and when the source itself ends, even if the subscription is
///   still held: sequences end when `body` is released.
public protocol StateSource<State>: Sendable {
    /// The published state.
    associatedtype State: Sendable

    /// Calls `body` for each change until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` receives the current state first.
    ///   - body: runs where the change is made, and should be short. It may dispatch, observe and cancel.
    func observe(replay: Replay, _ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription

    /// Calls `body` for each change, like ``observe(replay:_:)``, with or without ``Change/old``.
    ///
    /// Without an observer that needs the old state, the source can change its collections in place instead of copying
    /// them. The default implementation always includes the old state.
    func observe(
        replay: Replay,
        oldState: OldState,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription
}

/// What a new observer receives first.
public enum Replay: Sendable {
    /// The current state; if there is none yet, the first one.
    case current
    /// Only changes.
    case none
}

/// Whether the changes of an observation include the old state.
public enum OldState: Sendable {
    /// ``Change/old`` is nil only in the replay.
    case included
    /// ``Change/old`` may be nil in any change.
    case omitted
}

/// A source whose current state can be read at any time: a core, or a scope of one.
public protocol CurrentStateSource<State>: StateSource {
    /// The current state.
    var state: State { get }
}

extension StateSource {
    /// Observes with the old states.
    public func observe(
        replay: Replay,
        oldState: OldState,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, body)
    }

    /// Calls `body` with the current state and for each change, where the change is made.
    @_disfavoredOverload
    public func observe(_ body: @escaping @Sendable (_ change: Change<State>) -> Void) -> Subscription {
        observe(replay: .current, body)
    }

    /// Calls `body` for each change, in a given execution context.
    ///
    /// Changes that are still queued when the subscription is cancelled are dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current state.
    ///   - delivery: where `body` runs. All changes are queued until `body` has received them, without a bound.
    ///   - body: runs for one change at a time, in order.
    public func observe(
        replay: Replay = .current,
        on delivery: Delivery,
        _ body: @escaping @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        delivery.subscribe(body) { observe(replay: replay, $0) }
    }

    /// Calls `body` for each change on the main actor, whose state it may access.
    ///
    /// ```swift
    /// core.observe(on: MainActor.shared) { change in label.text = change.new.name }
    /// ```
    ///
    /// Changes that are still queued when the subscription is cancelled are dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current state.
    ///   - actor: the main actor. All changes are queued until `body` has received them, without a bound.
    ///   - body: runs for one change at a time, in order.
    public func observe(
        replay: Replay = .current,
        on actor: MainActor,
        _ body: @escaping @MainActor @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, on: .mainActor) { change in
            MainActor.assumeIsolated { body(change) }
        }
    }

    /// Calls `body` for the replay and for each change to a state that differs from the last delivered one.
    ///
    /// Because the comparison is with the last delivered state, small steps are delivered once they add up.
    /// ``Change/old`` is the last delivered state.
    ///
    /// ```swift
    /// core.observe(removeDuplicates: ==) { change in print(change.new) }
    /// ```
    ///
    /// - Parameter areEqual: whether a state need not be delivered. Runs where the change is made.
    public func observe(
        replay: Replay = .current,
        on delivery: Delivery = .inline,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: State, _ new: State) -> Bool,
        _ body: @escaping @Sendable (_ change: Change<State>) -> Void
    ) -> Subscription {
        scope({ $0 }, removeDuplicates: areEqual).observe(replay: replay, on: delivery, body)
    }
}
