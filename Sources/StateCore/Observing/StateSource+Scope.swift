extension StateSource {
    /// A part of the state, named by a key path or computed by a pure function.
    @inlinable
    public func scope<Value: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ state: State) -> Value
    ) -> Scope<Self, Value> {
        Scope(source: self, node: ScopeNode(transform, areEqual: { $0 == $1 }, comparesWithTold: false))
    }

    /// A part of the state with an equality of its own.
    ///
    /// Each value is compared with the one told last, so that small steps, none of which is worth telling, are told once
    /// they add up. Who comes in between is shown the value as it is.
    ///
    /// ```swift
    /// core.scope { $0.position } removeDuplicates: { $0.distance(to: $1) < 0.5 }
    /// ```
    ///
    /// - Parameters:
    ///   - transform: a key path or a pure function.
    ///   - areEqual: whether going from the value told last to the next is not worth telling; `{ _, _ in false }` tells
    ///     each.
    @inlinable
    public func scope<Value: Sendable>(
        _ transform: @escaping @Sendable (_ state: State) -> Value,
        removeDuplicates areEqual: @escaping @Sendable (_ told: Value, _ new: Value) -> Bool
    ) -> Scope<Self, Value> {
        Scope(source: self, node: ScopeNode(transform, areEqual: areEqual, comparesWithTold: true))
    }
}

extension Scope {
    /// A part of the part. Where this scope's value stays equal, nothing is mapped for it.
    @inlinable
    public func scope<Inner: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner
    ) -> Scope<Source, Inner> {
        scope(transform, removeDuplicates: { $0 == $1 }, comparingWithTold: false)
    }

    /// A part of the part with an equality of its own, by which each value is compared with the one told last.
    @inlinable
    public func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ told: Inner, _ new: Inner) -> Bool
    ) -> Scope<Source, Inner> {
        scope(transform, removeDuplicates: areEqual, comparingWithTold: true)
    }

    @inlinable
    func scope<Inner: Sendable>(
        _ transform: @escaping @Sendable (_ value: Value) -> Inner,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Inner, _ new: Inner) -> Bool,
        comparingWithTold comparesWithTold: Bool
    ) -> Scope<Source, Inner> {
        let inner = ScopeNode(of: node, transform, areEqual: areEqual, comparesWithTold: comparesWithTold)
        return Scope<Source, Inner>(source: source, node: inner)
    }
}
