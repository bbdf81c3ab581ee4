import Synchronization

/// Latencies in nanoseconds, added on one thread and taken on another.
final class Samples: Sendable {
    private let values = Mutex<[UInt64]>([])

    func add(_ value: UInt64) { values.withLock { $0.append(value) } }

    /// The number of values since the last call of ``take()``.
    var count: Int { values.withLock { $0.count } }

    /// All values since the last call.
    func take() -> [UInt64] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }
}
