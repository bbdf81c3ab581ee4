public import Synchronization

/// One registered callback, and whether it is still active.
@usableFromInline
package final class Listener<Event>: Sendable {
    @usableFromInline let body: @Sendable (Event) -> Void
    @usableFromInline let active = Atomic(true)

    package init(_ body: @escaping @Sendable (Event) -> Void) { self.body = body }

    @inlinable package var isActive: Bool { active.load(ordering: .acquiring) }

    /// Deactivates the listener. Returns whether it was active.
    package func deactivate() -> Bool { active.exchange(false, ordering: .acquiringAndReleasing) }

    /// Calls the callback if the listener is active at this moment: a callback that ran just before may have cancelled
    /// it.
    @inlinable
    package func deliver(_ event: Event) {
        if isActive { body(event) }
    }
}

/// Listeners in order of registration, in unmanaged memory: iteration does no reference counting.
///
/// Only the drainer accesses it, and never changes it during iteration. The owner must call `removeAll` at the end.
@usableFromInline
struct ListenerList<Event> {
    @usableFromInline var slots: UnsafeMutablePointer<Unmanaged<Listener<Event>>>
    @usableFromInline var count = 0
    private var capacity = 1

    init() { slots = .allocate(capacity: capacity) }

    @inlinable var isEmpty: Bool { count == 0 }

    mutating func append(_ listener: Listener<Event>) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Unmanaged<Listener<Event>>>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: slots, count: count)
            slots.deallocate()
            slots = larger
            capacity *= 2
        }
        (slots + count).initialize(to: .passRetained(listener))
        count += 1
    }

    /// Removes a listener. Returns whether it was in the list.
    mutating func remove(_ listener: Listener<Event>) -> Bool {
        let sought = Unmanaged.passUnretained(listener).toOpaque()
        guard let index = (0..<count).first(where: { slots[$0].toOpaque() == sought }) else { return false }
        let removed = slots[index]
        (slots + index).update(from: slots + index + 1, count: count - index - 1)
        count -= 1
        // Last, because a release may run user code.
        removed.release()
        return true
    }

    /// Removes all listeners and ends the list.
    mutating func removeAll() {
        let (former, formerCount) = (slots, count)
        count = 0
        for index in 0..<formerCount { former[index].release() }
        former.deallocate()
    }

    @inlinable
    func deliver(_ event: Event) {
        for index in 0..<count { slots[index]._withUnsafeGuaranteedRef { $0.deliver(event) } }
    }
}
