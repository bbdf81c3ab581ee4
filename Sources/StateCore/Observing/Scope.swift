/// A part of what a source shows, as a source of its own: a change that leaves the part equal is not told.
///
/// ```swift
/// let fuel = core.scope(\.truck.fuel)
/// let subscription = fuel.observe { change in print(change.new) }
/// ```
///
/// However many observe one scope (its copies count as one), each change is mapped and compared once, and not at all
/// while nobody observes. Observers of a scope and of its source are told in the order in which they registered.
///
/// Revisions are those of the source; those at which the part stayed equal are left out. A scope keeps its source alive;
/// its subscriptions do not, and do not need the scope either.
public struct Scope<Source: StateSource, Value: Sendable>: StateSource {
    /// What it shows.
    public typealias State = Value

    @usableFromInline let source: Source
    @usableFromInline let node: ScopeNode<Source.State, Value>

    @inlinable
    init(source: Source, node: ScopeNode<Source.State, Value>) {
        self.source = source
        self.node = node
    }

    /// Calls `body` for each change of the part from now on, until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current value.
    ///   - body: called where the change is made. It may dispatch, observe and cancel.
    @inlinable
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (_ change: Change<Value>) -> Void
    ) -> Subscription {
        let attendance = node.attend()
        // The replay provides the first old value. Old states are not needed: the scope keeps the last value.
        return source.observe(replay: true, needsOld: false) { change in
            guard let change = attendance.change(for: change), replay || change.oldRevision != nil else { return }
            body(change)
        }
    }
}

extension Scope: ActionDispatcher where Source: ActionDispatcher {
    /// Hands an action to the source.
    @inlinable
    public func dispatch(_ action: any Action) { source.dispatch(action) }
}

extension Scope where Source: ActionDispatcher & AnyObject {
    /// Takes actions in as the scope does, without keeping the source alive; see ``ActionDispatcher/dispatcher``.
    public var dispatcher: any ActionDispatcher { source.dispatcher }
}

extension Scope: StateKeeper where Source: StateKeeper {
    /// The part as it is now. Mapped at each call.
    @inlinable
    public var state: Value { node.map(source.state) }
}
