import StatecastThreading

/// Keeps an observation active until the subscription is cancelled or dropped.
///
/// A subscription does not retain the observed source.
public final class Subscription: Sendable {
    private struct Content {
        var onCancel: (@Sendable () -> Void)?
        var isDetached = false
    }

    private let content: Locked<Content>

    /// Creates a subscription that calls `onCancel` at most once, when it ends.
    public init(onCancel: @escaping @Sendable () -> Void) {
        content = Locked(Content(onCancel: onCancel))
    }

    /// Creates a subscription that replaces another one: it calls `first` and cancels the other when it ends.
    convenience init(wrapping other: Subscription, onCancel first: @escaping @Sendable () -> Void) {
        // Detached, so that the other one stays active if this one is detached and dropped.
        other.detach()
        self.init {
            first()
            other.cancel()
        }
    }

    fileprivate var isCancelled: Bool { content.withLock { $0.onCancel == nil } }

    /// Ends the observation. After this returns, no delivery starts; a delivery that runs on another thread may still
    /// finish. Cancelling again does nothing.
    public func cancel() {
        // Called outside the lock, because it may access this subscription.
        let onCancel = content.withLock { $0.onCancel.take() }
        onCancel?()
    }

    /// Lets the observation outlive this object, until the observed source ends. `cancel()` still ends it.
    public func detach() {
        content.withLock { $0.isDetached = true }
    }

    /// Adds the subscription to a disposer.
    public func store(in disposer: Disposer) { disposer.add(self) }

    deinit {
        if !content.withLock({ $0.isDetached }) { cancel() }
    }
}

/// A set of subscriptions that are cancelled together: by ``dispose()`` or when the disposer is dropped.
///
/// ```swift
/// core.observe { change in print(change.new) }.store(in: disposer)
/// ```
public final class Disposer: Sendable {
    private struct Content {
        var subscriptions: [Subscription] = []
        var isDisposed = false
        /// The number of subscriptions at which cancelled ones are removed, so that they do not accumulate.
        var compactionCount = 16
    }

    private let content = Locked(Content())

    /// Creates an empty disposer.
    public init() {}

    /// Retains a subscription until the disposer is disposed. After that, cancels it at once.
    public func add(_ subscription: Subscription) {
        let isDisposed = content.withLock { content in
            guard !content.isDisposed else { return true }
            if content.subscriptions.count >= content.compactionCount {
                content.subscriptions.removeAll { $0.isCancelled }
                content.compactionCount = max(16, 2 * content.subscriptions.count)
            }
            content.subscriptions.append(subscription)
            return false
        }
        if isDisposed { subscription.cancel() }
    }

    /// Cancels all subscriptions, in the order in which they were added and including detached ones, and from now on
    /// each one that is added.
    public func dispose() {
        // Cancelled outside the lock: a cancellation may run user code that accesses the disposer.
        let subscriptions = content.withLock { content in
            content.isDisposed = true
            defer { content.subscriptions = [] }
            return content.subscriptions
        }
        for subscription in subscriptions { subscription.cancel() }
    }

    deinit { dispose() }
}
