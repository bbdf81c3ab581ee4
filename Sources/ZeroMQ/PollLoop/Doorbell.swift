internal import Synchronization

/// Tells a ``PollLoop``, from any thread, that something waits for it; ends when it is dropped.
///
/// The rings between two answers count as one. A ring costs an atomic operation while another one is unanswered;
/// otherwise a lock, and a write to the loop's pipe if the loop sleeps. It needs no task, so it does not depend on Swift's
/// thread pool, which other code may hold up.
///
/// Leave the message before the ring, and take it in the answer:
///
/// ```swift
/// bell = loop.doorbell { [weak self] in self?.assumeIsolated { $0.takeIn() } }
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

    /// Has the loop call the handler soon, after what the caller did before. From any thread, the loop's included.
    package func ring() {
        if bell.ring() { loop.wake() }
    }

    /// Ends the doorbell for good; from any thread, more than once. Called on the loop, the handler does not run after it.
    package func cancel() { loop.drop(bell.id) }
}

extension PollLoop {
    /// Makes a doorbell. To be called on the loop, from an actor that runs there.
    ///
    /// - Parameter handler: called on the loop, once for all rings since its last call. Use `assumeIsolated` inside, and
    ///   hold the actor weakly.
    /// - Returns: what to ring and to hold on to. After ``shutdown()`` its rings have no effect.
    package func doorbell(_ handler: @escaping () -> Void) -> Doorbell {
        checkIsolated()
        let bell = Bell(id: roster.makeID(), handler)
        if isPolling { roster.add(bell) } else { bell.retire() }
        return Doorbell(bell, on: self)
    }
}

/// A doorbell on a loop's roster.
///
/// Unchecked, but safe: any thread touches the atomic flag, the loop alone the handler.
final class Bell: @unchecked Sendable {
    let id: Roster.ID
    private let isRung = Atomic(false)
    private var handler: (() -> Void)?

    init(id: Roster.ID, _ handler: @escaping () -> Void) {
        self.id = id
        self.handler = handler
    }

    /// - Returns: whether the loop has to be told.
    func ring() -> Bool { !isRung.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether the handler has to be called.
    var isWaiting: Bool { isRung.load(ordering: .relaxed) }

    /// Calls the handler if there was a ring since the last time.
    func answer() {
        // Taken back before the call: a ring during it may be about something that the handler has not seen.
        if isRung.exchange(false, ordering: .acquiringAndReleasing) { handler?() }
    }

    /// Lets go of the handler.
    func retire() { handler = nil }
}
