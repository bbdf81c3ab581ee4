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

/// Dispatches to a core as long as somebody else keeps it.
struct WeakDispatcher<State: Sendable>: ActionDispatcher {
    private weak let core: Core<State>?

    init(_ core: Core<State>) { self.core = core }

    func dispatch(_ action: any Action) { core?.dispatch(action) }
}
