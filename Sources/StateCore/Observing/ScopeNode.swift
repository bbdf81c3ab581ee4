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
    /// A part after a change of the source and, if it is requested and known, before.
    @usableFromInline typealias Parts = (old: Value?, new: Value)

    /// The last change of the source, and the change of the part that it caused.
    ///
    /// The parts are moved in and out of memory of their own: to copy a part of a dozen fields takes as long as to
    /// compare it.
    @usableFromInline
    struct Content {
        @usableFromInline var observerCount = 0
        /// The revision of the change; nil if there is none.
        @usableFromInline var revision: UInt64?
        /// Nil in a replay.
        @usableFromInline var oldRevision: UInt64?
        /// Whether the change is to be delivered.
        @usableFromInline var isDelivered = false
        /// The part after, if there is a revision. If it stayed equal, the value with which the next one is compared.
        @usableFromInline let new = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        /// The part before, if `hasOld`.
        @usableFromInline let old = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        @usableFromInline var hasOld = false

        @inlinable
        init() {}

        @inlinable
        mutating func takeNew() -> Value? {
            guard revision != nil else { return nil }
            revision = nil
            return new.move()
        }

        @inlinable
        mutating func takeOld() -> Value? {
            guard hasOld else { return nil }
            hasOld = false
            return old.move()
        }
    }

    @usableFromInline let map: @Sendable (Root) -> Value
    /// The part after a change; nil if it is known to have stayed equal.
    @usableFromInline let part: @Sendable (Change<Root>) -> Value?
    /// The part after a change and, on request, before; nil if the part is known to have stayed equal.
    @usableFromInline let parts: @Sendable (Change<Root>, _ withOld: Bool) -> Parts?
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
        part: @escaping @Sendable (Change<Root>) -> Value?,
        parts: @escaping @Sendable (Change<Root>, _ withOld: Bool) -> Parts?,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference,
        registerAbove: @escaping @Sendable () -> (any Sendable)?
    ) {
        self.map = map
        self.part = part
        self.parts = parts
        self.areEqual = areEqual
        self.reference = reference
        self.registerAbove = registerAbove
        content = .allocate(capacity: 1)
        content.initialize(to: Content())
    }

    deinit {
        // Without observers, no part is stored.
        content.pointee.new.deallocate()
        content.pointee.old.deallocate()
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
            part: { transform($0.new) },
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
            part: { change in
                var part: Value?
                above.withChange(for: change) { part = transform($0.new) }
                return part
            },
            parts: { change, withOld in
                var parts: Parts?
                above.withChange(for: change) { outer in
                    parts = (withOld ? outer.old.map(transform) : nil, transform(outer.new))
                }
                return parts
            },
            areEqual: areEqual,
            // A part of a delivered value is never newer than the last delivered one.
            reference: above.reference == .delivered ? .delivered : reference,
            registerAbove: { above.register() }
        )
    }

    // MARK: Changes

    /// Calls `body` with the change of the part that `change` causes, unless the part stayed equal.
    ///
    /// Transforms, comparisons and the release of parts run outside the lock, because they are user code.
    @inlinable
    func withChange(for change: Change<Root>, _ body: (Change<Value>) -> Void) {
        guard let oldRevision = change.oldRevision else { return withReplay(for: change, body) }
        lock.lock()
        // Revisions identify states only while they increase. A change that leads back, into another history, may have
        // revisions that occurred before.
        guard content.pointee.revision == oldRevision, oldRevision < change.revision, !content.pointee.hasOld else {
            return withOtherChange(for: change, from: oldRevision, body)
        }
        let old = content.pointee.new.move()
        content.pointee.revision = nil
        lock.unlock()
        guard let new = part(change) else {
            return store(old, old: nil, revision: change.revision, oldRevision: oldRevision, isDelivered: false)
        }
        guard !areEqual(old, new) else {
            let next = reference == .latest ? new : old
            return store(next, old: nil, revision: change.revision, oldRevision: oldRevision, isDelivered: false)
        }
        store(new, old: old, revision: change.revision, oldRevision: oldRevision, isDelivered: true)
        body(
            Change(
                // Moved, because the optimizer would copy them.
                old: consume old,
                oldRevision: oldRevision,
                new: consume new,
                revision: change.revision,
                reduced: change.reduced
            )
        )
    }

    /// Like ``withChange(for:_:)`` for a change that an earlier observer has received, or that does not follow the last
    /// one. Releases the lock.
    @usableFromInline
    func withOtherChange(for change: Change<Root>, from oldRevision: UInt64, _ body: (Change<Value>) -> Void) {
        let isForward = oldRevision < change.revision
        if isForward, content.pointee.revision == change.revision, content.pointee.oldRevision == oldRevision {
            return withStoredChange(action: change.reduced, body)
        }
        let isKnown = isForward && content.pointee.revision == oldRevision
        let last = content.pointee.takeNew()
        let beforeLast = content.pointee.takeOld()
        lock.unlock()
        withExtendedLifetime(beforeLast) {}
        guard let parts = parts(change, !isKnown) else {
            if isKnown, let last {
                store(last, old: nil, revision: change.revision, oldRevision: oldRevision, isDelivered: false)
            }
            return
        }
        guard let old = isKnown ? last : parts.old else {
            store(parts.new, old: nil, revision: change.revision, oldRevision: nil, isDelivered: true)
            return body(Change(replay: parts.new, revision: change.revision))
        }
        let isDelivered = !areEqual(old, parts.new)
        let next = isDelivered || reference == .latest ? parts.new : old
        let oldOfDelivered = isDelivered ? old : nil
        store(next, old: oldOfDelivered, revision: change.revision, oldRevision: oldRevision, isDelivered: isDelivered)
        guard isDelivered else { return }
        let revision = change.revision
        let (new, action) = (parts.new, change.reduced)
        body(Change(old: old, oldRevision: oldRevision, new: new, revision: revision, reduced: action))
    }

    /// Calls `body` with the change of the part that was computed for an earlier observer. Releases the lock.
    @usableFromInline
    func withStoredChange(action: any Action, _ body: (Change<Value>) -> Void) {
        guard content.pointee.isDelivered, let revision = content.pointee.revision else { return lock.unlock() }
        let change = Change(
            old: content.pointee.hasOld ? content.pointee.old.pointee : nil,
            oldRevision: content.pointee.oldRevision,
            new: content.pointee.new.pointee,
            revision: revision,
            reduced: action
        )
        lock.unlock()
        body(change)
    }

    /// Calls `body` with the current part, independent of earlier deliveries.
    @usableFromInline
    func withReplay(for change: Change<Root>, _ body: (Change<Value>) -> Void) {
        lock.lock()
        let isStored = content.pointee.revision == change.revision
        let isCurrent = isStored && (content.pointee.isDelivered || reference == .latest)
        let stored = isCurrent ? content.pointee.new.pointee : nil
        lock.unlock()
        let part = stored ?? parts(change, false)?.new ?? map(change.new)
        if !isStored { store(part, old: nil, revision: change.revision, oldRevision: nil, isDelivered: true) }
        body(Change(replay: part, revision: change.revision))
    }

    /// Stores the part after a change, and before it if several observers are to receive the change.
    @inlinable
    func store(_ new: Value, old: Value?, revision: UInt64, oldRevision: UInt64?, isDelivered: Bool) {
        lock.lock()
        if content.pointee.revision != nil || content.pointee.hasOld { removeStored() }
        if content.pointee.observerCount > 0 {
            content.pointee.new.initialize(to: new)
            content.pointee.revision = revision
            content.pointee.oldRevision = oldRevision
            content.pointee.isDelivered = isDelivered
            if content.pointee.observerCount > 1, let old {
                content.pointee.old.initialize(to: old)
                content.pointee.hasOld = true
            }
        }
        lock.unlock()
    }

    /// Releases the stored parts. The caller holds the lock.
    @usableFromInline
    func removeStored() {
        let last = content.pointee.takeNew()
        let beforeLast = content.pointee.takeOld()
        lock.unlock()
        withExtendedLifetime((last, beforeLast)) {}
        lock.lock()
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

        deinit {
            node.lock.lock()
            node.content.pointee.observerCount -= 1
            let isLast = node.content.pointee.observerCount == 0
            let last = isLast ? node.content.pointee.takeNew() : nil
            let beforeLast = isLast ? node.content.pointee.takeOld() : nil
            node.lock.unlock()
            withExtendedLifetime((last, beforeLast)) {}
        }
    }
}
