import Threading

/// The last value that was set, from any thread.
final class Latest<Value: Sendable>: Sendable {
    private let latest = Locked<Value?>(nil)

    func set(_ value: Value) { latest.withLock { $0 = value } }

    var value: Value? { latest.withLock { $0 } }
}
