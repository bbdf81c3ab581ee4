public import Threading

/// The value with which a scope compares a new value.
@usableFromInline
enum ComparisonReference: Sendable {
    /// The latest value. Sufficient for `==`, where it equals the last delivered one, and fast, because the buffers of
    /// unchanged collections are identical.
    case latest
    /// The last delivered value, so that an equality with a tolerance cannot drift.
    case delivered
}

/// The shared state of all observers of one scope: each change of the source is mapped and compared once for all of
/// them.
///
/// It does not reference the source: observers retain the node and must not retain the source.
///
/// The first observer that receives a change computes the part's change, the others reuse it. The source calls one
/// observer at a time; the lock protects against observers that are removed meanwhile.
@usableFromInline
final class ScopeNode<Root: Sendable, Value: Sendable>: Sendable {
    /// The change of the part that one change of the source causes.
    @usableFromInline
    struct PartChange: Sendable {
        /// The part before; nil in the replay, and if the part stayed equal.
        @usableFromInline let old: Value?
        @usableFromInline let oldRevision: UInt64?
        /// The part after. If it stayed equal, the value with which the next one is to be compared.
        @usableFromInline let new: Value
        @usableFromInline let revision: UInt64
        /// Whether the change is to be delivered.
        @usableFromInline let isDelivered: Bool

        @inlinable
        init(old: Value?, oldRevision: UInt64?, new: Value, revision: UInt64, isDelivered: Bool) {
            self.old = old
            self.oldRevision = oldRevision
            self.new = new
            self.revision = revision
            self.isDelivered = isDelivered
        }
    }

    @usableFromInline
    struct Content {
        @usableFromInline var observerCount = 0
        @usableFromInline var last: PartChange?

        @inlinable
        init() {}
    }

    @usableFromInline let map: @Sendable (Root) -> Value
    /// The part after a change and, on request, before; nil if the part is known to have stayed equal.
    @usableFromInline let parts: @Sendable (Change<Root>, _ withOld: Bool) -> (old: Value?, new: Value)?
    @usableFromInline let areEqual: @Sendable (Value, Value) -> Bool
    @usableFromInline let reference: ComparisonReference
    /// Registers an observer with the node of the enclosing scope. The observation ends with the returned object.
    @usableFromInline let registerAbove: @Sendable () -> (any Sendable)?
    @usableFromInline let lock = Lock(onRecursion: "a scope runs user code while it holds its lock")
    /// Safe: accessed only while the lock is held. In memory of its own, because a property or `Locked` costs checks of
    /// exclusive access, 15 % of the time of a scope without changes.
    @usableFromInline nonisolated(unsafe) let content: UnsafeMutablePointer<Content>

    @inlinable
    init(
        map: @escaping @Sendable (Root) -> Value,
        parts: @escaping @Sendable (Change<Root>, _ withOld: Bool) -> (old: Value?, new: Value)?,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference,
        registerAbove: @escaping @Sendable () -> (any Sendable)?
    ) {
        self.map = map
        self.parts = parts
        self.areEqual = areEqual
        self.reference = reference
        self.registerAbove = registerAbove
        content = .allocate(capacity: 1)
        content.initialize(to: Content())
    }

    deinit {
        content.deinitialize(count: 1)
        content.deallocate()
    }

    /// A part of the source's state.
    @inlinable
    convenience init(
        _ transform: @escaping @Sendable (Root) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.init(
            map: transform,
            parts: { change, withOld in (withOld ? change.old.map(transform) : nil, transform(change.new)) },
            areEqual: areEqual,
            reference: reference,
            registerAbove: { nil }
        )
    }

    /// A part of a part.
    @inlinable
    convenience init<Above: Sendable>(
        of above: ScopeNode<Root, Above>,
        _ transform: @escaping @Sendable (Above) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.init(
            map: { transform(above.map($0)) },
            parts: { change, withOld in
                guard let outer = above.partChange(for: change), outer.isDelivered else { return nil }
                return (withOld ? outer.old.map(transform) : nil, transform(outer.new))
            },
            areEqual: areEqual,
            // A part of a delivered value is never newer than the last delivered one.
            reference: above.reference == .delivered ? .delivered : reference,
            registerAbove: { above.register() }
        )
    }

    // MARK: Changes

    /// The change of the part that `change` causes; nil if the part stayed equal and its value is unknown.
    @inlinable
    func partChange(for change: Change<Root>) -> PartChange? {
        lock.lock()
        let last = content.pointee.last
        lock.unlock()
        if let last, last.revision == change.revision {
            // A replay starts with the known part. The stored part change belongs to this change if that leads
            // forward. A change that leads back, into another history, may have revisions that occurred before.
            guard let oldRevision = change.oldRevision else {
                return last.isDelivered || reference == .latest
                    ? replay(last.new, revision: change.revision) : replay(change)
            }
            if last.oldRevision == oldRevision, oldRevision < change.revision { return last }
        }
        // Outside the lock, because transforms and comparisons are user code.
        let next = computePartChange(for: change, after: last)
        lock.lock()
        let former = content.pointee.last
        // Stored even if it is nil: the last one may belong to another history with the same revisions.
        if content.pointee.observerCount > 0 { content.pointee.last = next }
        lock.unlock()
        // Released outside the lock, because the release may run user code.
        withExtendedLifetime(former) {}
        return next
    }

    /// The current part, independent of earlier deliveries.
    @inlinable
    func replay(_ change: Change<Root>) -> PartChange {
        replay(parts(change, false)?.new ?? map(change.new), revision: change.revision)
    }

    @inlinable
    func replay(_ value: Value, revision: UInt64) -> PartChange {
        PartChange(old: nil, oldRevision: nil, new: value, revision: revision, isDelivered: true)
    }

    @inlinable
    func computePartChange(for change: Change<Root>, after last: PartChange?) -> PartChange? {
        let revision = change.revision
        guard let oldRevision = change.oldRevision else { return replay(change) }
        // Revisions identify states only while they increase: otherwise the last part may belong to another history.
        let known = last.flatMap { $0.revision == oldRevision && oldRevision < revision ? $0.new : nil }
        guard let parts = parts(change, known == nil) else {
            return known.map {
                PartChange(old: nil, oldRevision: oldRevision, new: $0, revision: revision, isDelivered: false)
            }
        }
        guard let old = known ?? parts.old else { return replay(parts.new, revision: revision) }
        let isChanged = !areEqual(old, parts.new)
        return PartChange(
            old: isChanged ? old : nil,
            oldRevision: oldRevision,
            new: isChanged || reference == .latest ? parts.new : old,
            revision: revision,
            isDelivered: isChanged
        )
    }

    // MARK: Observers

    @inlinable
    func register() -> Registration { Registration(self, above: registerAbove()) }

    /// The registration of one observer. When the last one is released, the node releases its part of the state.
    @usableFromInline
    final class Registration: Sendable {
        @usableFromInline let node: ScopeNode<Root, Value>
        @usableFromInline let above: (any Sendable)?

        @inlinable
        init(_ node: ScopeNode<Root, Value>, above: (any Sendable)?) {
            self.node = node
            self.above = above
            node.lock.lock()
            node.content.pointee.observerCount += 1
            node.lock.unlock()
        }

        /// The change to deliver, or nil.
        @inlinable
        func change(for change: Change<Root>) -> Change<Value>? {
            guard let part = node.partChange(for: change), part.isDelivered else { return nil }
            return Change(
                old: part.old,
                oldRevision: part.oldRevision,
                new: part.new,
                revision: part.revision,
                action: change.action
            )
        }

        deinit {
            node.lock.lock()
            node.content.pointee.observerCount -= 1
            let former = node.content.pointee.observerCount == 0 ? node.content.pointee.last.take() : nil
            node.lock.unlock()
            withExtendedLifetime(former) {}
        }
    }
}
