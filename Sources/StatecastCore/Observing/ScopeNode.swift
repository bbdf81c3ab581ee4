public import StatecastThreading
public import Synchronization

/// The value with which a scope compares a new value.
@usableFromInline
enum ComparisonReference: Sendable {
    /// The latest value. Sufficient for `==`, where it equals the last delivered one, and fast, because the buffers of
    /// unchanged collections are identical.
    case latest
    /// The last delivered value, so that an equality with a tolerance cannot drift.
    case delivered
}

/// What the copies of one scope share: how the part is computed, and the part that their observers share.
///
/// It does not reference the source: observers retain the part and must not retain the source.
@usableFromInline
final class ScopeNode<Root: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Observed {
        @usableFromInline weak var part: ScopedPart<Root, Value>?

        @inlinable
        init() {}
    }

    @usableFromInline let map: @Sendable (Root) -> Value
    @usableFromInline let reference: ComparisonReference
    @usableFromInline let makePart: @Sendable () -> ScopedPart<Root, Value>
    @usableFromInline let observed = Locked(Observed())

    @inlinable
    init(
        map: @escaping @Sendable (Root) -> Value,
        reference: ComparisonReference,
        makePart: @escaping @Sendable () -> ScopedPart<Root, Value>
    ) {
        self.map = map
        self.reference = reference
        self.makePart = makePart
    }

    /// A part of the source's state.
    ///
    /// - Parameter transformNew: a faster form of `transform` for the new state of a change.
    @inlinable
    convenience init(
        _ transform: @escaping @Sendable (Root) -> Value,
        new transformNew: (@Sendable (Change<Root>) -> Value)? = nil,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.init(map: transform, reference: reference) {
            ScopedPart(
                map: transform,
                part: transformNew ?? { transform($0.new) },
                parts: { change, withOld in (withOld ? change.old.map(transform) : nil, transform(change.new)) },
                areEqual: areEqual,
                reference: reference
            )
        }
    }

    /// A part of a part.
    @inlinable
    convenience init<Above: Sendable>(
        of above: ScopeNode<Root, Above>,
        _ transform: @escaping @Sendable (Above) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        let map: @Sendable (Root) -> Value = { transform(above.map($0)) }
        // A part of a delivered value is never newer than the last delivered one.
        let reference = above.reference == .delivered ? .delivered : reference
        self.init(map: map, reference: reference) {
            let above = above.register()
            return ScopedPart(
                map: map,
                part: { change in
                    var part: Value?
                    above.withChange(for: change) { part = transform($0.new) }
                    return part
                },
                parts: { change, withOld in
                    var parts: ScopedPart<Root, Value>.Parts?
                    above.withChange(for: change) { outer in
                        parts = (withOld ? outer.old.map(transform) : nil, transform(outer.new))
                    }
                    return parts
                },
                areEqual: areEqual,
                reference: reference
            )
        }
    }

    /// Returns the part that the current observers share, for one more of them. It ends with the last one.
    @inlinable
    func register() -> ScopedPart<Root, Value> {
        observed.withLock { observed in
            if let part = observed.part {
                part.isShared.store(true, ordering: .relaxed)
                return part
            }
            let part = makePart()
            observed.part = part
            return part
        }
    }
}

/// The part of a scope with observers: each change of the source is mapped and compared once for all of them.
///
/// The first observer that receives a change computes the part's change, the others reuse it. The observers retain the
/// part, which therefore needs no lock to release its values after the last of them is removed.
@usableFromInline
final class ScopedPart<Root: Sendable, Value: Sendable>: Sendable {
    /// A part after a change of the source and, if it is requested and known, before.
    @usableFromInline typealias Parts = (old: Value?, new: Value)

    /// The last change of the source, and the change of the part that it caused.
    ///
    /// The parts are moved in and out of memory of their own: to copy a part of a dozen fields takes as long as to
    /// compare it.
    @usableFromInline
    struct Content {
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

        /// Stores a change after the former parts are taken.
        @inlinable
        mutating func store(_ new: Value, old: Value?, revision: UInt64, oldRevision: UInt64?, isDelivered: Bool) {
            self.new.initialize(to: new)
            self.revision = revision
            self.oldRevision = oldRevision
            self.isDelivered = isDelivered
            guard let old else { return }
            self.old.initialize(to: old)
            hasOld = true
        }
    }

    @usableFromInline let map: @Sendable (Root) -> Value
    /// The part after a change; nil if it is known to have stayed equal.
    @usableFromInline let part: @Sendable (Change<Root>) -> Value?
    /// The part after a change and, on request, before; nil if the part is known to have stayed equal.
    @usableFromInline let parts: @Sendable (Change<Root>, _ withOld: Bool) -> Parts?
    @usableFromInline let areEqual: @Sendable (Value, Value) -> Bool
    @usableFromInline let reference: ComparisonReference
    /// Whether several observers may receive a change.
    @usableFromInline let isShared = Atomic(false)
    /// Whether a call accesses the content. A source calls one observer at a time, so that none waits for it.
    @usableFromInline let isInUse = Atomic(false)
    /// Safe: accessed only by the call that set `isInUse`, and at the end. In memory of its own, because a property or
    /// `Locked` costs checks of exclusive access, 15 % of the time of a scope without changes.
    @usableFromInline nonisolated(unsafe) let content: UnsafeMutablePointer<Content>

    @inlinable
    init(
        map: @escaping @Sendable (Root) -> Value,
        part: @escaping @Sendable (Change<Root>) -> Value?,
        parts: @escaping @Sendable (Change<Root>, _ withOld: Bool) -> Parts?,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        reference: ComparisonReference
    ) {
        self.map = map
        self.part = part
        self.parts = parts
        self.areEqual = areEqual
        self.reference = reference
        content = .allocate(capacity: 1)
        content.initialize(to: Content())
    }

    deinit {
        _ = content.pointee.takeNew()
        _ = content.pointee.takeOld()
        content.pointee.new.deallocate()
        content.pointee.old.deallocate()
        content.deallocate()
    }

    /// Calls `body` with the change of the part that `change` causes, unless the part stayed equal.
    ///
    /// - Parameters:
    ///   - replay: whether `body` also receives replays. A closure that checks this would retain `body` at each change.
    ///   - body: called while the content is not in use, because it is user code that may observe.
    @inlinable
    func withChange(for change: Change<Root>, replay: Replay = .current, _ body: (Change<Value>) -> Void) {
        guard !isInUse.exchange(true, ordering: .acquiring) else {
            return withUnsharedChange(for: change, replay: replay, body)
        }
        // Revisions identify states only while they increase. A change that leads back, into another history, may have
        // revisions that occurred before.
        guard let oldRevision = change.oldRevision, content.pointee.revision == oldRevision,
            oldRevision < change.revision
        else {
            let other = otherChange(for: change)
            isInUse.store(false, ordering: .releasing)
            if let other, replay == .current || other.oldRevision != nil { body(other) }
            return
        }
        if content.pointee.hasOld { _ = content.pointee.takeOld() }
        // Values are moved, because the optimizer would copy them.
        let old = content.pointee.new.move()
        content.pointee.revision = change.revision
        content.pointee.oldRevision = oldRevision
        content.pointee.isDelivered = false
        guard let new = part(change) else {
            content.pointee.new.initialize(to: consume old)
            return isInUse.store(false, ordering: .releasing)
        }
        guard !areEqual(old, new) else {
            content.pointee.new.initialize(to: reference == .latest ? new : old)
            return isInUse.store(false, ordering: .releasing)
        }
        content.pointee.isDelivered = true
        content.pointee.new.initialize(to: new)
        if isShared.load(ordering: .relaxed) {
            content.pointee.old.initialize(to: old)
            content.pointee.hasOld = true
        }
        isInUse.store(false, ordering: .releasing)
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

    /// The change of the part for a change that an earlier observer has received, or that does not follow the last one;
    /// nil if the part stayed equal.
    @usableFromInline
    func otherChange(for change: Change<Root>) -> Change<Value>? {
        guard let oldRevision = change.oldRevision else { return replay(for: change) }
        let isForward = oldRevision < change.revision
        if isForward, content.pointee.revision == change.revision, content.pointee.oldRevision == oldRevision {
            return storedChange(action: change.reduced)
        }
        let isKnown = isForward && content.pointee.revision == oldRevision
        let last = content.pointee.takeNew()
        _ = content.pointee.takeOld()
        let revision = change.revision
        guard let parts = parts(change, !isKnown) else {
            if isKnown, let last {
                content.pointee.store(last, old: nil, revision: revision, oldRevision: oldRevision, isDelivered: false)
            }
            return nil
        }
        let new = parts.new
        guard let old = isKnown ? last : parts.old else {
            content.pointee.store(new, old: nil, revision: revision, oldRevision: nil, isDelivered: true)
            return Change(replay: new, revision: revision)
        }
        guard !areEqual(old, new) else {
            let next = reference == .latest ? new : old
            content.pointee.store(next, old: nil, revision: revision, oldRevision: oldRevision, isDelivered: false)
            return nil
        }
        let stored = isShared.load(ordering: .relaxed) ? old : nil
        content.pointee.store(new, old: stored, revision: revision, oldRevision: oldRevision, isDelivered: true)
        return Change(old: old, oldRevision: oldRevision, new: new, revision: revision, reduced: change.reduced)
    }

    /// The change of the part that was computed for an earlier observer; nil if the part stayed equal.
    private func storedChange(action: any Action) -> Change<Value>? {
        guard content.pointee.isDelivered, let revision = content.pointee.revision else { return nil }
        return Change(
            old: content.pointee.hasOld ? content.pointee.old.pointee : nil,
            oldRevision: content.pointee.oldRevision,
            new: content.pointee.new.pointee,
            revision: revision,
            reduced: action
        )
    }

    /// The current part, independent of earlier deliveries.
    private func replay(for change: Change<Root>) -> Change<Value> {
        let revision = change.revision
        let isStored = content.pointee.revision == revision
        if isStored, content.pointee.isDelivered || reference == .latest {
            return Change(replay: content.pointee.new.pointee, revision: revision)
        }
        let part = parts(change, false)?.new ?? map(change.new)
        if !isStored {
            _ = content.pointee.takeNew()
            _ = content.pointee.takeOld()
            content.pointee.store(part, old: nil, revision: revision, oldRevision: nil, isDelivered: true)
        }
        return Change(replay: part, revision: revision)
    }

    /// Like ``withChange(for:_:)`` without the stored change, which is in use: a transform or an equality delivers
    /// another change, or the source calls several observers at a time.
    @usableFromInline
    func withUnsharedChange(for change: Change<Root>, replay: Replay, _ body: (Change<Value>) -> Void) {
        ScopedPart(map: map, part: part, parts: parts, areEqual: areEqual, reference: reference)
            .withChange(for: change, replay: replay, body)
    }
}
