/// What all observers of one scope share: each change of the source is mapped and compared once for all of them.
///
/// It does not know its source: observers hold on to it, and must not keep the source alive.
///
/// The first observer that a change reaches works its turn out, the others find it here. All of them are observers of the
/// source, which calls one at a time; the lock is for what others do meanwhile, such as leaving.
@usableFromInline
final class ScopeNode<Root: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Memo {
        @usableFromInline var observers = 0
        @usableFromInline var turn: ScopeTurn<Value>?

        @inlinable
        init() {}
    }

    /// The part itself.
    @usableFromInline let map: @Sendable (Root) -> Value
    /// The part after a change, and, if asked for, before; nil if it is clear without looking that it stayed what it was.
    @usableFromInline let parts: @Sendable (Change<Root>, _ withOld: Bool) -> (old: Value?, new: Value)?
    @usableFromInline let areEqual: @Sendable (Value, Value) -> Bool
    /// Whether a part that stayed equal is compared with the one told last, so that an equality with a tolerance cannot
    /// drift. Not so for `==`, where the newest part does as well, and where identical buffers compare at once.
    @usableFromInline let comparesWithTold: Bool
    @usableFromInline let attendAbove: @Sendable () -> (any Sendable)?
    @usableFromInline let lock = InlineLock(onRecursion: "a scope works its turn out inside the lock of its memo")
    /// Safe: touched with the lock held only, until the end.
    @usableFromInline nonisolated(unsafe) let memo: UnsafeMutablePointer<Memo>

    @inlinable
    init(
        map: @escaping @Sendable (Root) -> Value,
        parts: @escaping @Sendable (Change<Root>, _ withOld: Bool) -> (old: Value?, new: Value)?,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        comparesWithTold: Bool,
        attendAbove: @escaping @Sendable () -> (any Sendable)?
    ) {
        self.map = map
        self.parts = parts
        self.areEqual = areEqual
        self.comparesWithTold = comparesWithTold
        self.attendAbove = attendAbove
        memo = .allocate(capacity: 1)
        memo.initialize(to: Memo())
    }

    deinit {
        memo.deinitialize(count: 1)
        memo.deallocate()
    }

    /// A part of the source itself.
    @inlinable
    convenience init(
        _ transform: @escaping @Sendable (Root) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        comparesWithTold: Bool
    ) {
        self.init(
            map: transform,
            parts: { change, withOld in (withOld ? change.old.map(transform) : nil, transform(change.new)) },
            areEqual: areEqual,
            comparesWithTold: comparesWithTold,
            attendAbove: { nil }
        )
    }

    /// A part of a part.
    @inlinable
    convenience init<Above: Sendable>(
        of above: ScopeNode<Root, Above>,
        _ transform: @escaping @Sendable (Above) -> Value,
        areEqual: @escaping @Sendable (Value, Value) -> Bool,
        comparesWithTold: Bool
    ) {
        self.init(
            map: { transform(above.map($0)) },
            parts: { change, withOld in
                guard let turn = above.turn(of: change), turn.isChanged else { return nil }
                return (withOld ? turn.old.map(transform) : nil, transform(turn.new))
            },
            areEqual: areEqual,
            // What is known here is then a part of what was told above.
            comparesWithTold: comparesWithTold || above.comparesWithTold,
            attendAbove: { above.attend() }
        )
    }

    /// What `change` means here; nil if the part stayed what it was, whatever that is.
    @inlinable
    func turn(of change: Change<Root>) -> ScopeTurn<Value>? {
        lock.lock()
        let known = memo.pointee.turn
        lock.unlock()
        if let known, known.revision == change.revision {
            // A replay shows the part that is known; a change that leads forward is the one it was worked out for.
            // One that leads back, into another history, may have numbers that came before.
            guard let oldRevision = change.oldRevision else {
                return known.isChanged || !comparesWithTold ? start(known.new, at: change.revision) : start(change)
            }
            if known.oldRevision == oldRevision, oldRevision < change.revision { return known }
        }
        // Without the lock: transforms and comparisons are other people's code.
        let turn = workedOut(change, from: known)
        lock.lock()
        let former = memo.pointee.turn
        // Also if it is unknown: what was known is of another history, whose numbers may come again.
        if memo.pointee.observers > 0 { memo.pointee.turn = turn }
        lock.unlock()
        // Let go of behind the lock: other people's code, too.
        withExtendedLifetime(former) {}
        return turn
    }

    /// The part as it is, whatever was told of it.
    @inlinable
    func start(_ change: Change<Root>) -> ScopeTurn<Value> {
        start(parts(change, false)?.new ?? map(change.new), at: change.revision)
    }

    @inlinable
    func start(_ value: Value, at revision: UInt64) -> ScopeTurn<Value> {
        ScopeTurn(old: nil, oldRevision: nil, new: value, revision: revision, isChanged: true)
    }

    @inlinable
    func workedOut(_ change: Change<Root>, from known: ScopeTurn<Value>?) -> ScopeTurn<Value>? {
        let revision = change.revision
        guard let oldRevision = change.oldRevision else { return start(change) }
        // Revisions name a state only as long as they rise: otherwise the known part may be of another history.
        let last = known.flatMap { $0.revision == oldRevision && oldRevision < revision ? $0.new : nil }
        guard let parts = parts(change, last == nil) else {
            return last.map {
                ScopeTurn(old: nil, oldRevision: oldRevision, new: $0, revision: revision, isChanged: false)
            }
        }
        guard let old = last ?? parts.old else { return start(parts.new, at: revision) }
        let isChanged = !areEqual(old, parts.new)
        return ScopeTurn(
            old: isChanged ? old : nil,
            oldRevision: oldRevision,
            new: isChanged || !comparesWithTold ? parts.new : old,
            revision: revision,
            isChanged: isChanged
        )
    }

    // MARK: Observers

    @inlinable
    func attend() -> ScopeAttendance<Root, Value> { ScopeAttendance(self, above: attendAbove()) }
}

/// One observer's share in a node. Once the last one is gone, the node keeps no part of any state.
@usableFromInline
final class ScopeAttendance<Root: Sendable, Value: Sendable>: Sendable {
    @usableFromInline let node: ScopeNode<Root, Value>
    @usableFromInline let above: (any Sendable)?

    @inlinable
    init(_ node: ScopeNode<Root, Value>, above: (any Sendable)?) {
        self.node = node
        self.above = above
        node.lock.lock()
        node.memo.pointee.observers += 1
        node.lock.unlock()
    }

    /// What the observer is to be told of `change`, if anything.
    @inlinable
    func change(for change: Change<Root>) -> Change<Value>? {
        guard let turn = node.turn(of: change), turn.isChanged else { return nil }
        return Change(
            old: turn.old,
            oldRevision: turn.oldRevision,
            new: turn.new,
            revision: turn.revision,
            action: change.action
        )
    }

    deinit {
        node.lock.lock()
        node.memo.pointee.observers -= 1
        var former: ScopeTurn<Value>?
        if node.memo.pointee.observers == 0 { former = node.memo.pointee.turn.take() }
        node.lock.unlock()
        withExtendedLifetime(former) {}
    }
}
