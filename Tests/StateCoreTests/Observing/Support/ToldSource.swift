import StateCore
import Synchronization

/// A source that tells what the test has it tell, and nothing by itself.
final class ToldSource<State: Sendable>: StateSource {
    private typealias Observer = (id: Int, body: @Sendable (Change<State>) -> Void)

    private let observers = Mutex<[Observer]>([])
    private let ids = Atomic(0)

    func observe(replay: Bool, _ body: @escaping @Sendable (Change<State>) -> Void) -> Subscription {
        let id = ids.add(1, ordering: .relaxed).newValue
        observers.withLock { $0.append((id, body)) }
        return Subscription { [weak self] in
            guard let self else { return }
            let former = observers.withLock { observers in
                defer { observers.removeAll { $0.id == id } }
                return observers
            }
            withExtendedLifetime(former) {}
        }
    }

    func tell(_ change: Change<State>) {
        for observer in observers.withLock({ $0 }) { observer.body(change) }
    }
}
