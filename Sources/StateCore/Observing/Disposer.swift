internal import Locking

/// A bag of subscriptions that end together: when it is told to, or when it is dropped.
///
/// ```swift
/// core.observe { change in print(change.new) }.store(in: disposer)
/// ```
public final class Disposer: Sendable {
    private struct Bag {
        var subscriptions: [Subscription] = []
        var isDisposed = false
        /// At this many, those that have ended on their own are thrown out, so that a long life does not collect them.
        var sortedOutAt = 16
    }

    private let bag = Locked(Bag())

    /// An empty bag.
    public init() {}

    /// Keeps a subscription going until the bag is disposed of. In one that has been, it ends at once.
    public func add(_ subscription: Subscription) {
        let isTooLate = bag.withLock { bag in
            guard !bag.isDisposed else { return true }
            if bag.subscriptions.count >= bag.sortedOutAt {
                bag.subscriptions.removeAll { $0.isCancelled }
                bag.sortedOutAt = max(16, 2 * bag.subscriptions.count)
            }
            bag.subscriptions.append(subscription)
            return false
        }
        if isTooLate { subscription.cancel() }
    }

    /// Ends all subscriptions now, in the order in which they were added, and from now on each that is added.
    ///
    /// Those that were detached end as well.
    public func dispose() {
        // Cancelled outside the lock: what ends with them may come back to this bag.
        let subscriptions = bag.withLock { bag in
            bag.isDisposed = true
            defer { bag.subscriptions = [] }
            return bag.subscriptions
        }
        for subscription in subscriptions { subscription.cancel() }
    }

    deinit { dispose() }
}

extension Subscription {
    /// Ends with all others in `disposer`.
    public func store(in disposer: Disposer) { disposer.add(self) }
}
