/// A timer of a ``PollLoop`` with one deadline, which can be set repeatedly; ends when it is dropped.
///
/// A node needs one timer, set to the earliest of its deadlines.
package final class DeadlineTimer {
    private let loop: PollLoop
    private let timer: Timer
    private let id: PollSet.ID

    init(_ timer: Timer, on loop: PollLoop) {
        self.timer = timer
        self.loop = loop
        id = timer.id
    }

    deinit { cancel() }

    /// The next call of the handler; `nil` if none is due.
    package var deadline: ContinuousClock.Instant? { timer.deadline }

    /// Sets or replaces the deadline. The loop calls the handler once, at the deadline or up to a millisecond after
    /// it.
    ///
    /// Call it on the loop. `nil` clears the deadline. A deadline in the past is due at the end of this turn or, if a
    /// timer sets it, of the next one.
    package func set(_ deadline: ContinuousClock.Instant?) {
        loop.checkIsolated()
        timer.set(deadline)
    }

    /// Ends the timer; from any thread, repeatedly. After a call on the loop the handler does not run.
    package func cancel() { loop.drop(id) }
}

extension PollLoop {
    /// Creates a timer without a deadline. Call it on the loop, from an actor that runs there.
    ///
    /// - Parameter handler: called on the loop. Use `assumeIsolated` inside, and capture the actor weakly.
    /// - Returns: the timer to keep. After ``shutdown()`` it never fires.
    package func timer(_ handler: @escaping () -> Void) -> DeadlineTimer {
        checkIsolated()
        let timer = Timer(id: pollSet.makeID(), handler)
        if isPolling { pollSet.add(timer) } else { timer.retire() }
        return DeadlineTimer(timer, on: self)
    }
}

/// A timer of a poll set.
final class Timer {
    let id: PollSet.ID
    private(set) var deadline: ContinuousClock.Instant?
    private var handler: (() -> Void)?

    init(id: PollSet.ID, _ handler: @escaping () -> Void) {
        self.id = id
        self.handler = handler
    }

    func set(_ deadline: ContinuousClock.Instant?) {
        if handler != nil { self.deadline = deadline }
    }

    /// Calls the handler, which may set the next deadline.
    func call() {
        deadline = nil
        handler?()
    }

    /// Releases the handler.
    func retire() {
        deadline = nil
        handler = nil
    }
}
