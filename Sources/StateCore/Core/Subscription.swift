import Synchronization

/// Keeps an observation going: it ends when the subscription is cancelled or dropped.
///
/// A subscription does not keep what it observes alive.
public final class Subscription: Sendable {
    private struct Hold {
        var end: (@Sendable () -> Void)?
        var isDetached = false
    }

    private let hold: Mutex<Hold>

    /// A subscription that is ended by `end`, which is called at most once.
    public init(onCancel end: @escaping @Sendable () -> Void) {
        hold = Mutex(Hold(end: end))
    }

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
