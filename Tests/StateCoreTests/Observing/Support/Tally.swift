import Synchronization

/// Counts calls, from any thread.
final class Tally: Sendable {
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    /// Counts one, and passes `value` on.
    func counting<Value>(_ value: Value) -> Value {
        calls.add(1, ordering: .sequentiallyConsistent)
        return value
    }
}
