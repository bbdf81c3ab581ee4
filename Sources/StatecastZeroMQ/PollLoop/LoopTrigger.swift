import Synchronization

/// Signals a ``PollLoop`` from any thread; ends when it is dropped.
///
/// Calls of `fire` between two calls of the handler coalesce. One costs an atomic operation while another is unhandled;
/// otherwise a lock, and a write to the loop's pipe if the loop sleeps. It needs no task, so it does not depend on
/// Swift's thread pool, which other code may block.
///
/// Enqueue the message before the call, and dequeue it in the handler:
///
/// ```swift
/// trigger = loop.makeTrigger { [weak self] in self?.assumeIsolated { $0.drainMailbox() } }
/// // On another thread:
/// mailbox.append(message)
/// trigger.fire()
/// ```
package final class LoopTrigger: Sendable {
    private let loop: PollLoop
    private let trigger: TriggerState

    init(_ trigger: TriggerState, on loop: PollLoop) {
        self.trigger = trigger
        self.loop = loop
    }

    deinit { cancel() }

    /// Makes the loop call the handler soon, with the caller's previous writes visible; from any thread, the loop's
    /// included.
    package func fire() {
        if trigger.fire() { loop.wake() }
    }

    /// Ends the trigger; from any thread, repeatedly. After a call on the loop the handler does not run.
    package func cancel() { loop.drop(trigger.id) }
}

extension PollLoop {
    /// Creates a trigger. Call it on the loop, from an actor that runs there.
    ///
    /// - Parameter handler: called on the loop, once for all calls of `fire` since the last time. Use `assumeIsolated`,
    ///   and capture the actor weakly.
    /// - Returns: the trigger, which the caller keeps. After ``shutdown()`` it has no effect.
    package func makeTrigger(_ handler: @escaping () -> Void) -> LoopTrigger {
        checkIsolated()
        let trigger = TriggerState(id: pollSet.makeID(), handler)
        if isPolling { pollSet.add(trigger) } else { trigger.retire() }
        return LoopTrigger(trigger, on: self)
    }
}

/// A trigger of a poll set.
///
/// Unchecked, but safe: any thread touches the atomic flag, the loop alone the handler.
final class TriggerState: @unchecked Sendable {
    let id: PollSet.ID
    private let isFired = Atomic(false)
    private var handler: (() -> Void)?

    init(id: PollSet.ID, _ handler: @escaping () -> Void) {
        self.id = id
        self.handler = handler
    }

    /// - Returns: whether the loop has to be woken.
    func fire() -> Bool { !isFired.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether a call of `fire` is unhandled.
    var isWaiting: Bool { isFired.load(ordering: .relaxed) }

    /// Calls the handler if `fire` was called since the last time.
    func answer() {
        // Reset before the call: a call of `fire` during it may follow a message that the handler did not see.
        if isFired.exchange(false, ordering: .acquiringAndReleasing) { handler?() }
    }

    /// Releases the handler.
    func retire() { handler = nil }
}
