/// A part of a source's state, as a source of its own. Changes that leave the part equal are not delivered.
///
/// ```swift
/// let fuel = core.scope(\.truck.fuel)
/// let subscription = fuel.observe { change in print(change.new) }
/// ```
///
/// All observers of one scope and its copies share one mapping and one comparison for each change. A scope
/// without observers does neither. Observers of a scope and of its source are notified in the order in which they
/// registered.
///
/// Revisions are those of the source, without those at which the part stayed equal. A scope retains its source. Its
/// subscriptions do not, and do not need the scope either.
public struct Scope<Source: StateSource, Value: Sendable>: StateSource {
    /// The part.
    public typealias State = Value

    @usableFromInline let source: Source
    @usableFromInline let node: ScopeNode<Source.State, Value>

    @inlinable
    init(source: Source, node: ScopeNode<Source.State, Value>) {
        self.source = source
        self.node = node
    }

    /// Calls `body` for each change of the part until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current value.
    ///   - body: runs where the change is made. It may dispatch, observe and cancel.
    @inlinable
    public func observe(
        replay: Replay = .current,
        _ body: @escaping @Sendable (_ change: Change<Value>) -> Void
    ) -> Subscription {
        let part = node.register()
        // The replay provides the first old value, and the part keeps the last one.
        return source.observe(replay: .current, oldState: .omitted) { change in
            part.withChange(for: change, replay: replay, body)
        }
    }
}

extension Scope: ActionDispatcher where Source: ActionDispatcher {
    /// Dispatches to the source.
    @inlinable
    public func dispatch(_ action: any Action) { source.dispatch(action) }
}

extension Scope where Source: ActionDispatcher & AnyObject {
    /// A dispatcher that references the source weakly; see ``ActionDispatcher/dispatcher``.
    public var dispatcher: any ActionDispatcher { source.dispatcher }
}

extension Scope: CurrentStateSource where Source: CurrentStateSource {
    /// The current value of the part. Mapped at each call.
    @inlinable
    public var state: Value { node.map(source.state) }
}

// MARK: Creating scopes

extension StateSource {
    /// A part of the state, given by a key path or a pure function.
    @inlinable
    public func scope<Value: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ state: State) -> Value
    ) -> Scope<Self, Value> {
        Scope(source: self, node: ScopeNode(transform, areEqual: { $0 == $1 }, reference: .latest))
    }

    /// A part of the state with a custom equality.
    ///
    /// Because each value is compared with the last delivered one, small steps are delivered once they add up. A new
    /// observer receives the current value.
    ///
    /// ```swift
    /// core.scope { $0.position } removeDuplicates: { $0.distance(to: $1) < 0.5 }
    /// ```
    ///
    /// - Parameters:
    ///   - transform: a key path or a pure function.
    ///   - areEqual: whether a value need not be delivered; `{ _, _ in false }` delivers each.
    @inlinable
    public func scope<Value: Sendable>(
        _ transform: @escaping @Sendable (_ state: State) -> Value,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: Value, _ new: Value) -> Bool
    ) -> Scope<Self, Value> {
        Scope(source: self, node: ScopeNode(transform, areEqual: areEqual, reference: .delivered))
    }
}

extension Scope {
    /// A part of the part. It is not mapped when this scope's value stays equal.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner
    ) -> Scope<Source, Inner> {
        scope(transform, removeDuplicates: { $0 == $1 }, reference: .latest)
    }

    /// A part of the part with a custom equality, which compares each value with the last delivered one.
    @inlinable
    public func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: Inner, _ new: Inner) -> Bool
    ) -> Scope<Source, Inner> {
        scope(transform, removeDuplicates: areEqual, reference: .delivered)
    }

    @inlinable
    func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Inner, _ new: Inner) -> Bool,
        reference: ComparisonReference
    ) -> Scope<Source, Inner> {
        let inner = ScopeNode(of: node, transform, areEqual: areEqual, reference: reference)
        return Scope<Source, Inner>(source: source, node: inner)
    }
}
