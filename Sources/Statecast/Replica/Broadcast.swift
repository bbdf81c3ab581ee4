internal import StateCoding
internal import Threading

/// A value with any number of followers: each receives the latest value first, then newer ones. Slow followers skip
/// intermediate values.
final class Broadcast<Value: Sendable>: Sendable {
    private struct Storage {
        var latest: Value?
        var followers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var count: UInt64 = 0
        var isFinished = false
    }

    private let storage = Locked(Storage())

    init(_ latest: Value? = nil) { storage.withLock { $0.latest = latest } }

    var latest: Value? { storage.withLock { $0.latest } }

    /// Sends the value to all followers, with the lock held, so that all receive the values in the same order.
    func send(_ value: Value) {
        // Replaced and dropped values are released outside of the lock: their deinit may read the latest value.
        _ = storage.withLock { storage -> (Value?, [AsyncStream<Value>.Continuation.YieldResult]) in
            guard !storage.isFinished else { return (nil, []) }
            let replaced = storage.latest
            storage.latest = value
            // Not by `onTermination`: a cancellation calls it under the lock of its task, which `yield` takes under this one.
            let results = storage.followers.map { key, follower in
                let result = follower.yield(value)
                if case .terminated = result { storage.followers[key] = nil }
                return result
            }
            return (replaced, results)
        }
    }

    /// Ends all sequences, and those that are created later.
    func finish() {
        let followers = storage.withLock { storage in
            storage.isFinished = true
            defer { storage.followers = [:] }
            return storage.followers.values.map { $0 }
        }
        for follower in followers { follower.finish() }
    }

    /// Creates a sequence that buffers up to `buffered` values for a slow follower; the oldest ones are dropped.
    func values(buffered: Int = 1) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self,
            bufferingPolicy: .bufferingNewest(buffered)
        )
        let isFinished = storage.withLock { storage in
            if let latest = storage.latest { continuation.yield(latest) }
            guard !storage.isFinished else { return true }
            storage.count += 1
            storage.followers[storage.count] = continuation
            return false
        }
        if isFinished { continuation.finish() }
        return stream
    }
}
