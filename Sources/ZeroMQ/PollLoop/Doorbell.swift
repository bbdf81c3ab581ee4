internal import Synchronization

/// Signals a ``PollLoop`` from any thread; ends when it is dropped.
///
/// Rings between two calls of the handler coalesce. A ring costs an atomic operation while another one is unanswered;
/// otherwise a lock, and a write to the loop's pipe if the loop sleeps. It needs no task, so it does not depend on
/// Swift's thread pool, which other code may block.
///
/// Enqueue the message before the ring, and dequeue it in the handler:
///
/// ```swift
/// bell = loop.doorbell { [weak self] in self?.assumeIsolated { $0.drainMailbox() } }
/// // On another thread:
/// mailbox.append(message)
/// bell.ring()
/// ```
package final class Doorbell: Sendable {
    private let loop: PollLoop
    private let bell: Bell

    init(_ bell: Bell, on loop: PollLoop) {
        self.bell = bell
        self.loop = loop
    }

    deinit { cancel() }

    /// Makes the loop call the handler soon, with the caller's previous writes visible; from any thread, the loop's
    /// included.
    package func ring() {
        if bell.ring() { loop.wake() }
    }

    /// Ends the doorbell; from any thread, repeatedly. After a call on the loop the handler does not run.
    package func cancel() { loop.drop(bell.id) }
}

extension PollLoop {
    /// Creates a doorbell. Call it on the loop, from an actor that runs there.
    ///
    /// - Parameter handler: called on the loop, once for all rings since its last call. Use `assumeIsolated` inside,
    ///   and capture the actor weakly.
    /// - Returns: the doorbell to ring and to keep. After ``shutdown()`` its rings have no effect.
    package func doorbell(_ handler: @escaping () -> Void) -> Doorbell {
        checkIsolated()
        let bell = Bell(id: pollSet.makeID(), handler)
        if isPolling { pollSet.add(bell) } else { bell.retire() }
        return Doorbell(bell, on: self)
    }
}

/// A doorbell of a poll set.
///
/// Unchecked, but safe: any thread touches the atomic flag, the loop alone the handler.
final class Bell: @unchecked Sendable {
    let id: PollSet.ID
    private let isRung = Atomic(false)
    private var handler: (() -> Void)?

    init(id: PollSet.ID, _ handler: @escaping () -> Void) {
        self.id = id
        self.handler = handler
    }

    /// - Returns: whether the loop has to be woken.
    func ring() -> Bool { !isRung.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether a ring is unanswered.
    var isWaiting: Bool { isRung.load(ordering: .relaxed) }

    /// Calls the handler if there was a ring since the last call.
    func answer() {
        // Reset before the call: a ring during it may follow a message that the handler did not see.
        if isRung.exchange(false, ordering: .acquiringAndReleasing) { handler?() }
    }

    /// Releases the handler.
    func retire() { handler = nil }
}
