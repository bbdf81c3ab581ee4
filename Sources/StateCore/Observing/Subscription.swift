internal import Locking

/// Keeps an observation going: it ends when the subscription is cancelled or dropped.
///
/// A subscription does not keep what it observes alive.
public final class Subscription: Sendable {
    private struct Hold {
        var end: (@Sendable () -> Void)?
        var isDetached = false
    }

    private let hold: Locked<Hold>

    /// A subscription that is ended by `end`, which is called at most once.
    public init(onCancel end: @escaping @Sendable () -> Void) {
        hold = Locked(Hold(end: end))
    }

    /// A subscription in whose place this one stands: whoever ends this one runs `first` and ends the other.
    convenience init(over other: Subscription, onCancel first: @escaping @Sendable () -> Void) {
        // Detached, since this one may be: the other must then go on without either object.
        other.detach()
        self.init {
            first()
            other.cancel()
        }
    }

    /// Whether it was cancelled.
    var isCancelled: Bool { hold.withLock { $0.end == nil } }

    /// Ends the observation. Once this has returned, no delivery starts any more; one that is under way on
    /// another thread may still finish. Cancelling again does nothing.
    public func cancel() {
        // Called outside the lock: `end` may come back to this subscription.
        let end = hold.withLock { $0.end.take() }
        end?()
    }

    /// Lets the observation outlive this object, for as long as what it observes; `cancel()` still ends it.
    public func detach() {
        hold.withLock { $0.isDetached = true }
    }

    deinit {
        if !hold.withLock({ $0.isDetached }) {
            cancel()
        }
    }
}
