import Synchronization

/// One registered callback, and whether it still wants to be called.
final class Observer<State: Sendable>: Sendable {
    let replay: Bool
    private let body: @Sendable (Change<State>) -> Void
    private let active = Atomic(true)

    init(replay: Bool, _ body: @escaping @Sendable (Change<State>) -> Void) {
        self.replay = replay
        self.body = body
    }

    var isActive: Bool { active.load(ordering: .acquiring) }

    func deactivate() {
        active.store(false, ordering: .releasing)
    }

    /// Asks at the last moment: an observer that ran just before may have cancelled this one.
    func deliver(_ change: Change<State>) {
        if isActive { body(change) }
    }
}
