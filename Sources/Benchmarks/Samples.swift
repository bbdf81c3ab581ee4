import Synchronization

/// Latencies in nanoseconds, added on one thread and taken on another.
final class Samples: Sendable {
    private let values = Mutex<[UInt64]>([])

    func add(_ value: UInt64) { values.withLock { $0.append(value) } }

    /// All values since the last call.
    func take() -> [UInt64] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }
}
