internal import Threading

/// What the middlewares of one batch dispatch through: held until the batch is closed.
///
/// A batch may be taken back and passed again; what was dispatched on account of its first pass must not happen then.
/// Once the batch is closed or taken back, whoever kept the dispatcher goes straight through it.
final class HeldDispatcher: ActionDispatcher {
    /// Nil once nothing is held any more.
    private let held = Locked<[any Action]?>([])
    private let target: any ActionDispatcher

    init(to target: any ActionDispatcher) { self.target = target }

    func dispatch(_ action: any Action) {
        let isHeld = held.withLock { $0?.append(action) != nil }
        if !isHeld { target.dispatch(action) }
    }

    /// The batch is closed: hands on what was held, in order.
    func release() {
        for action in take() { target.dispatch(action) }
    }

    /// The batch is taken back: forgets what was held.
    func drop() { _ = take() }

    private func take() -> [any Action] {
        held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
    }
}
