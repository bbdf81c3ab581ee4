import Dispatch
import StateCore

/// The classic way, as reference: a serial queue, one `async` per action, a closure call per observer.
///
/// It is given the better of what that way can do: its state is changed in place, and it keeps no old one.
final class ClassicStore<State: Sendable>: Sendable {
    typealias Reduce = @Sendable (inout State, any Action) -> Void
    typealias Observer = @Sendable (State) -> Void

    private let queue = DispatchQueue(label: "classic store")
    private let reduce: Reduce
    // Both are touched on the queue alone.
    nonisolated(unsafe) private var state: State
    nonisolated(unsafe) private var observers: [Observer] = []

    init(_ state: State, reduce: @escaping Reduce) {
        self.state = state
        self.reduce = reduce
    }

    func dispatch(_ action: any Action) {
        queue.async { [self] in
            reduce(&state, action)
            for observer in observers {
                observer(state)
            }
        }
    }

    func observe(_ observer: @escaping Observer) {
        queue.async { [self] in observers.append(observer) }
    }

    /// Waits until all that was asked for so far has been done.
    func settle() {
        queue.sync {}
    }
}
