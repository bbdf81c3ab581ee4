/// A part of a source's state, as a source of its own. Changes that leave the part equal are not delivered.
///
/// ```swift
/// let fuel = core.scope(\.truck.fuel)
/// let subscription = fuel.observe { change in print(change.new) }
/// ```
///
/// Each observer maps and compares each change for itself, and a scope without observers does neither. Observers of a
/// scope and of its source are notified in the order in which they registered.
///
/// Revisions are those of the source, without those at which the part stayed equal. A scope retains its source. Its
/// subscriptions do not, and do not need the scope either.
public struct Scope<Source: StateSource, Value: Sendable>: StateSource {
    /// The part.
    public typealias State = Value

    @usableFromInline let source: Source
    @usableFromInline let map: @Sendable (Source.State) -> Value
    /// Observes the part.
    @usableFromInline let follow: @Sendable (Replay, @escaping @Sendable (Change<Value>) -> Void) -> Subscription

    /// - Parameters:
    ///   - source: the source of the whole state.
    ///   - map: computes the part of the source's state.
    ///   - outer: the source itself, or the scope that contains this part.
    ///   - part: the part after a change of `outer`.
    @inlinable
    init<Outer: StateSource>(
        source: Source,
        map: @escaping @Sendable (Source.State) -> Value,
        in outer: Outer,
        part: @escaping @Sendable (Change<Outer.State>) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.source = source
        self.map = map
        follow = { replay, body in
            let last = LastPart(part: part, areEqual: areEqual, reference: reference)
            // The replay provides the first old value.
            return outer.observe(replay: .current, oldState: .omitted) { last.receive($0, replay: replay, body) }
        }
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
        follow(replay, body)
    }
}

/// The value with which a scope compares a new value.
@usableFromInline
enum ComparisonReference: Sendable {
    /// The latest value. Sufficient for `==`, where it equals the last delivered one, and fast, because the buffers of
    /// unchanged collections are identical.
    case latest
    /// The last delivered value, so that an equality with a tolerance cannot drift.
    case delivered
}

/// The value with which an observer of a scope compares the next one.
@usableFromInline
final class LastPart<Outer: Sendable, Value: Sendable>: Sendable {
    @usableFromInline let part: @Sendable (Change<Outer>) -> Value
    @usableFromInline let areEqual: @Sendable (Value, Value) -> Bool
    @usableFromInline let reference: ComparisonReference
    /// Nil before the first change. Safe: only the source accesses it, which delivers one change at a time. In memory
    /// of its own, because a property or `Locked` costs checks of exclusive access, 15 % of the time of a scope
    /// without changes.
    @usableFromInline nonisolated(unsafe) let last: UnsafeMutablePointer<Value?>

    @inlinable
    init(
        part: @escaping @Sendable (Change<Outer>) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.part = part
        self.areEqual = areEqual
        self.reference = reference
        last = .allocate(capacity: 1)
        last.initialize(to: nil)
    }

    deinit {
        last.deinitialize(count: 1)
        last.deallocate()
    }

    /// Calls `body` with the change of the part that `change` causes, unless the part stayed equal.
    ///
    /// - Parameter replay: whether `body` also receives replays. A closure that checks this would retain `body` at each
    ///   change.
    @inlinable
    func receive(_ change: Change<Outer>, replay: Replay, _ body: (Change<Value>) -> Void) {
        let new = part(change)
        // Values are moved, because the optimizer would copy them.
        guard let oldRevision = change.oldRevision, let old = last.pointee.take() else {
            last.pointee = new
            if replay == .current { body(Change(replay: new, revision: change.revision)) }
            return
        }
        // Initialized, not assigned: the nil that `take` leaves needs no release.
        guard !areEqual(old, new) else {
            last.initialize(to: reference == .latest ? consume new : consume old)
            return
        }
        last.initialize(to: new)
        body(
            Change(
                old: consume old,
                oldRevision: oldRevision,
                new: consume new,
                revision: change.revision,
                reduced: change.reduced
            )
        )
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
    public var state: Value { map(source.state) }
}

// MARK: Creating scopes

extension StateSource {
    /// A part of the state, given by a key path or a pure function.
    @inlinable
    public func scope<Value: Equatable & Sendable>(
        _ transform: @escaping @Sendable (_ state: State) -> Value
    ) -> Scope<Self, Value> {
        Scope(
            source: self,
            map: transform,
            in: self,
            part: { transform($0.new) },
            areEqual: { $0 == $1 },
            reference: .latest
        )
    }

    /// A part of the state with a custom equality.
    ///
    /// Because each value is compared with the last one that the observer received, small steps are delivered once they
    /// add up. A new observer receives the current value.
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
        Scope(
            source: self,
            map: transform,
            in: self,
            part: { transform($0.new) },
            areEqual: areEqual,
            reference: .delivered
        )
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
        Scope<Source, Inner>(
            source: source,
            map: { [map] in transform(map($0)) },
            in: self,
            part: { transform($0.new) },
            areEqual: areEqual,
            reference: reference
        )
    }
}
