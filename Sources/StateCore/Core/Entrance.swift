internal import Locking

/// The way into a core for what it owns itself, such as its effects, without keeping it alive.
final class Entrance<State: Sendable>: Sendable {
    private struct Weak {
        weak var core: Core<State>?
    }

    private let weak = Locked(Weak())

    func open(_ core: Core<State>) { weak.withLock { $0.core = core } }

    /// Nil once nobody else holds the core any more.
    var core: Core<State>? { weak.withLock { $0.core } }
}
