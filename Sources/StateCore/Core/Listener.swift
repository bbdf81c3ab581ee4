public import Synchronization

/// One registered callback, and whether it still wants to be called.
@usableFromInline
package final class Listener<Event>: Sendable {
    @usableFromInline let body: @Sendable (Event) -> Void
    @usableFromInline let active = Atomic(true)

    package init(_ body: @escaping @Sendable (Event) -> Void) { self.body = body }

    @inlinable package var isActive: Bool { active.load(ordering: .acquiring) }

    /// Says whether it was active until now.
    package func deactivate() -> Bool { active.exchange(false, ordering: .acquiringAndReleasing) }

    /// Asks at the last moment: one that ran just before may have cancelled this one.
    @inlinable
    package func deliver(_ event: Event) {
        if isActive { body(event) }
    }
}
