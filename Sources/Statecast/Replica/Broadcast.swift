internal import Synchronization

/// A value that many may follow: each gets the latest one first, then newer ones. Who is slow misses the ones between.
final class Broadcast<Value: Sendable>: Sendable {
    private struct Storage {
        var latest: Value?
        var followers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var count: UInt64 = 0
        var isFinished = false
    }

    private let storage = Mutex(Storage())

    init(_ latest: Value? = nil) { storage.withLock { $0.latest = latest } }

    var latest: Value? { storage.withLock { $0.latest } }

    /// Hands the value to all followers. Under the lock, so that they all see one order.
    func send(_ value: Value) {
        // What makes room comes out and is released outside the lock: it may come back for the latest value.
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

    /// Ends all sequences, also those that are asked for later.
    func finish() {
        let followers = storage.withLock { storage in
            storage.isFinished = true
            defer { storage.followers = [:] }
            return storage.followers.values.map { $0 }
        }
        for follower in followers { follower.finish() }
    }

    /// A new sequence. `buffered` is how many values wait for a slow follower; the oldest are dropped.
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
