internal import Synchronization

/// A change and how many were told before it: what tells a loss from a source that skips revisions of its own accord.
struct NumberedChange<State: Sendable>: Sendable {
    let number: Int
    let change: Change<State>
}

/// Numbers the changes of one observation, from 0.
final class ChangeCount: Sendable {
    // Relaxed: a source tells one change at a time.
    private let count = Atomic(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}
