/// A part of a core's state that can also be written, without an action.
///
/// All that a ``Scope`` does, and ``replace(_:)`` and ``update(_:)``. They go through the core's line like everything
/// else: in order, and on top of whatever came before. Observers see a change without an action, so what a reducer or a
/// log should know of is better dispatched.
///
/// ```swift
/// let step = core.scope(\.step)
/// step.update { $0 += 1 }
/// ```
public struct WritableScope<Root: Sendable, Value: Sendable>: StateKeeper, ActionDispatcher {
    /// What it shows.
    public typealias State = Value

    @usableFromInline let scope: Scope<Core<Root>, Value>
    /// Lets the part be changed where it lies.
    @usableFromInline let write: @Sendable (_ root: inout Root, _ change: (inout Value) -> Void) -> Void

    @inlinable
    init(
        scope: Scope<Core<Root>, Value>,
        write: @escaping @Sendable (_ root: inout Root, _ change: (inout Value) -> Void) -> Void
    ) {
        self.scope = scope
        self.write = write
    }

    /// Calls `body` for each change of the part from now on, until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current value.
    ///   - body: called where the change is made. It may dispatch, write, observe and cancel.
    @inlinable
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (_ change: Change<Value>) -> Void
    ) -> Subscription {
        scope.observe(replay: replay, body)
    }

    /// Hands an action to the core.
    @inlinable
    public func dispatch(_ action: any Action) { scope.dispatch(action) }

    /// Takes actions in as the scope does, without keeping the core alive; see ``ActionDispatcher/dispatcher``.
    public var dispatcher: any ActionDispatcher { scope.dispatcher }

    /// The part as it is now.
    @inlinable
    public var state: Value { scope.state }

    /// Puts another value in place of the part, in its turn.
    @inlinable
    public func replace(_ value: Value) { update { $0 = value } }

    /// Changes the part in its turn, going by what it then is: nothing that others wrote meanwhile is lost.
    ///
    /// - Parameter change: has the state to itself, like a reducer, and like a reducer must not ask the core for it.
    @inlinable
    public func update(_ change: @escaping @Sendable (_ value: inout Value) -> Void) {
        scope.source.update { [write] root in write(&root, change) }
    }
}

extension Core {
    /// A part of the state that can be written.
    @inlinable
    public func scope<Value: Equatable & Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable
    ) -> WritableScope<State, Value> {
        scope(path, removeDuplicates: { $0 == $1 }, comparingWithTold: false)
    }

    /// A part of the state that can be written, with an equality of its own.
    ///
    /// - Parameter areEqual: whether going from the value told last to the next is not worth telling.
    @inlinable
    public func scope<Value: Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ told: Value, _ new: Value) -> Bool
    ) -> WritableScope<State, Value> {
        scope(path, removeDuplicates: areEqual, comparingWithTold: true)
    }

    @inlinable
    func scope<Value: Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool,
        comparingWithTold comparesWithTold: Bool
    ) -> WritableScope<State, Value> {
        let node = ScopeNode(
            { (state: State) in state[keyPath: path] },
            areEqual: areEqual,
            comparesWithTold: comparesWithTold
        )
        return WritableScope(scope: Scope(source: self, node: node)) { state, change in
            change(&state[keyPath: path])
        }
    }
}

extension WritableScope {
    /// A part of the part that can be written.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable
    ) -> WritableScope<Root, Inner> {
        scope(inner, removeDuplicates: { $0 == $1 }, comparingWithTold: false)
    }

    /// A part of the part that can be written, with an equality of its own.
    ///
    /// - Parameter areEqual: whether going from the value told last to the next is not worth telling.
    @inlinable
    public func scope<Inner: Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ told: Inner, _ new: Inner) -> Bool
    ) -> WritableScope<Root, Inner> {
        scope(inner, removeDuplicates: areEqual, comparingWithTold: true)
    }

    @inlinable
    func scope<Inner: Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Inner, _ new: Inner) -> Bool,
        comparingWithTold: Bool
    ) -> WritableScope<Root, Inner> {
        let part = scope.scope({ $0[keyPath: inner] }, removeDuplicates: areEqual, comparingWithTold: comparingWithTold)
        return WritableScope<Root, Inner>(scope: part) { [write] root, change in
            write(&root) { value in change(&value[keyPath: inner]) }
        }
    }

    /// A part of the part that can only be read.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner
    ) -> Scope<Core<Root>, Inner> {
        scope.scope(transform)
    }

    /// A part of the part that can only be read, with an equality of its own.
    @inlinable
    public func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ told: Inner, _ new: Inner) -> Bool
    ) -> Scope<Core<Root>, Inner> {
        scope.scope(transform, removeDuplicates: areEqual)
    }
}
