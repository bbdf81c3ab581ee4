import StatecastThreading

/// A value with any number of followers: each receives the latest value first, then newer ones. Slow followers skip the
/// oldest values.
package final class Broadcast<Value: Sendable>: Sendable {
    fileprivate struct Storage: Sendable {
        /// The newest values, the newest one last.
        var recent: [Value] = []
        /// The number of all values.
        var count = 0
        var isFinished = false
    }

    private let storage = Monitor(Storage())
    /// The number of values that a follower may lag.
    private let capacity: Int

    package init(_ latest: Value? = nil, capacity: Int = 1) {
        self.capacity = capacity
        if let latest { send(latest) }
    }

    var latest: Value? { storage.value.recent.last }

    /// Sends a value to all followers, unless the broadcast is finished.
    func send(_ value: Value) {
        // A dropped value is released without the lock: its deinit may read the latest value.
        _ = storage.change { storage -> Value? in
            guard !storage.isFinished else { return nil }
            storage.recent.append(value)
            storage.count += 1
            return storage.recent.count > capacity ? storage.recent.removeFirst() : nil
        }
    }

    /// Ends all sequences, and those that are created later.
    func finish() { storage.change { $0.isFinished = true } }

    /// Creates a sequence of the latest value and the newer ones.
    func values() -> Values { Values(storage: storage, position: max(0, storage.value.count - 1)) }

    /// The values from a position on.
    struct Values: AsyncSequence, Sendable {
        fileprivate let storage: Monitor<Storage>
        fileprivate let position: Int

        func makeAsyncIterator() -> Iterator { Iterator(storage: storage, position: position) }
    }

    struct Iterator: AsyncIteratorProtocol {
        private enum Next {
            case value(Value, position: Int)
            case end
        }

        fileprivate let storage: Monitor<Storage>
        /// The number of values before the next one.
        fileprivate var position: Int

        /// The next value; `nil` if the broadcast is finished or the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Value? {
            // A condition that is met ends the wait of a cancelled task, too.
            guard !Task.isCancelled else { return nil }
            let position = position
            let next = try? await storage.wait { storage -> Next? in
                guard position < storage.count else { return storage.isFinished ? .end : nil }
                let first = storage.count - storage.recent.count
                let next = max(position, first)
                return .value(storage.recent[next - first], position: next + 1)
            }
            guard case .value(let value, let position) = next else { return nil }
            self.position = position
            return value
        }
    }
}
