internal import Synchronization

/// Somebody who wants to be told of changes, and whether that still holds.
final class Observer<State: Sendable>: Sendable {
    private let body: @Sendable (Change<State>) -> Void
    private let active = Atomic(true)

    init(_ body: @escaping @Sendable (Change<State>) -> Void) { self.body = body }

    var isActive: Bool { active.load(ordering: .acquiring) }

    /// Says whether it was active until now.
    func deactivate() -> Bool { active.exchange(false, ordering: .acquiringAndReleasing) }

    /// Asks at the last moment: one that was told just before may have cancelled this one.
    func tell(_ change: Change<State>) {
        if isActive { body(change) }
    }
}
