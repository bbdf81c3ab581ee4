/// A ``Scope`` of a core's state that can also be written without an action.
///
/// ``replace(_:)`` and ``update(_:)`` go through the core's queue, in order with all actions. Observers see a change
/// without an action: dispatch changes that a reducer or a log must see.
///
/// ```swift
/// let step = core.scope(\.step)
/// step.update { $0 += 1 }
/// ```
public struct WritableScope<Root: Sendable, Value: Sendable>: CurrentStateSource, ActionDispatcher {
    /// The part.
    public typealias State = Value

    @usableFromInline let scope: Scope<Core<Root>, Value>
    /// Changes the part in place.
    @usableFromInline let write: @Sendable (_ root: inout Root, _ change: (inout Value) -> Void) -> Void

    @inlinable
    init(
        scope: Scope<Core<Root>, Value>,
        write: @escaping @Sendable (_ root: inout Root, _ change: (inout Value) -> Void) -> Void
    ) {
        self.scope = scope
        self.write = write
    }

    /// Calls `body` for each change of the part until the subscription is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current value.
    ///   - body: runs where the change is made. It may dispatch, write, observe and cancel.
    @inlinable
    public func observe(
        replay: Replay = .current,
        _ body: @escaping @Sendable (_ change: Change<Value>) -> Void
    ) -> Subscription {
        scope.observe(replay: replay, body)
    }

    /// Dispatches to the core.
    @inlinable
    public func dispatch(_ action: any Action) { scope.dispatch(action) }

    /// A dispatcher that references the core weakly; see ``ActionDispatcher/dispatcher``.
    public var dispatcher: any ActionDispatcher { scope.dispatcher }

    /// The current value of the part.
    @inlinable
    public var state: Value { scope.state }

    /// Replaces the part, in queue order.
    @inlinable
    public func replace(_ value: Value) { update { $0 = value } }

    /// Changes the part, in queue order, based on its value at that time: no concurrent change is lost.
    ///
    /// - Parameter change: like a reducer, it must not read the core's ``Core/state``.
    @inlinable
    public func update(_ change: @escaping @Sendable (_ value: inout Value) -> Void) {
        scope.source.update { [write] root in write(&root, change) }
    }
}

extension Core {
    /// A writable part of the state.
    @inlinable
    public func scope<Value: Equatable & Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable
    ) -> WritableScope<State, Value> {
        scope(path, removeDuplicates: { $0 == $1 }, reference: .latest)
    }

    /// A writable part of the state with a custom equality.
    ///
    /// - Parameter areEqual: whether a value need not be delivered after the last delivered one.
    @inlinable
    public func scope<Value: Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: Value, _ new: Value) -> Bool
    ) -> WritableScope<State, Value> {
        scope(path, removeDuplicates: areEqual, reference: .delivered)
    }

    @inlinable
    func scope<Value: Sendable>(
        _ path: any WritableKeyPath<State, Value> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool,
        reference: ComparisonReference
    ) -> WritableScope<State, Value> {
        let part = Scope(
            source: self,
            map: reading(path),
            in: self,
            part: readingNew(path),
            areEqual: areEqual,
            reference: reference
        )
        return WritableScope(scope: part) { state, change in
            change(&state[keyPath: path])
        }
    }
}

extension WritableScope {
    /// A writable part of the part.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable
    ) -> WritableScope<Root, Inner> {
        scope(inner, removeDuplicates: { $0 == $1 }, reference: .latest)
    }

    /// A writable part of the part with a custom equality.
    ///
    /// - Parameter areEqual: whether a value need not be delivered after the last delivered one.
    @inlinable
    public func scope<Inner: Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: Inner, _ new: Inner) -> Bool
    ) -> WritableScope<Root, Inner> {
        scope(inner, removeDuplicates: areEqual, reference: .delivered)
    }

    @inlinable
    func scope<Inner: Sendable>(
        _ inner: any WritableKeyPath<Value, Inner> & Sendable,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Inner, _ new: Inner) -> Bool,
        reference: ComparisonReference
    ) -> WritableScope<Root, Inner> {
        let part = scope.scope(reading(inner), removeDuplicates: areEqual, reference: reference)
        return WritableScope<Root, Inner>(scope: part) { [write] root, change in
            write(&root) { value in change(&value[keyPath: inner]) }
        }
    }

    /// A read-only part of the part.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner
    ) -> Scope<Core<Root>, Inner> {
        scope.scope(transform)
    }

    /// A read-only part of the part with a custom equality.
    @inlinable
    public func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ delivered: Inner, _ new: Inner) -> Bool
    ) -> Scope<Core<Root>, Inner> {
        scope.scope(transform, removeDuplicates: areEqual)
    }
}

/// Reads through a key path. A stored property is read at its offset, which is faster.
@inlinable
func reading<Root, Value>(_ path: any KeyPath<Root, Value> & Sendable) -> @Sendable (Root) -> Value {
    guard let offset = MemoryLayout<Root>.offset(of: path) else { return { $0[keyPath: path] } }
    return { read($0, at: offset) }
}

/// Reads the new state of a change through a key path. A stored property is read in the change: ``reading(_:)`` copies
/// the state first.
@inlinable
func readingNew<Root, Value>(_ path: any KeyPath<Root, Value> & Sendable) -> @Sendable (Change<Root>) -> Value {
    guard let offset = MemoryLayout<Change<Root>>.offset(of: (\Change<Root>.new).appending(path: path)) else {
        return { $0.new[keyPath: path] }
    }
    return { read($0, at: offset) }
}

/// Reads the stored property at `offset`, which is one that `MemoryLayout` returned for it.
@inlinable
func read<Root, Value>(_ root: Root, at offset: Int) -> Value {
    withUnsafePointer(to: root) { root in
        (UnsafeRawPointer(root) + offset).assumingMemoryBound(to: Value.self).pointee
    }
}
