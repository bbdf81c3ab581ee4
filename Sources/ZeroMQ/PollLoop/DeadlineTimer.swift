/// A timer of a ``PollLoop``: one deadline that can be set again and again; ends when it is dropped.
///
/// A node needs one: it sets it to the earliest of all the times that matter to it.
package final class DeadlineTimer {
    private let loop: PollLoop
    private let timer: Timer
    private let id: Roster.ID

    init(_ timer: Timer, on loop: PollLoop) {
        self.timer = timer
        self.loop = loop
        id = timer.id
    }

    deinit { cancel() }

    /// When the handler is to be called next; `nil` if it is not.
    package var deadline: ContinuousClock.Instant? { timer.deadline }

    /// Calls the handler once, at `deadline` or up to a millisecond after it; replaces the deadline that was set.
    ///
    /// To be called on the loop. `nil` takes the deadline back. One that has passed is due at the end of this turn, or,
    /// set by a timer, of the next.
    package func set(_ deadline: ContinuousClock.Instant?) {
        loop.checkIsolated()
        timer.set(deadline)
    }

    /// Ends the timer for good; from any thread, more than once. Called on the loop, the handler does not run after it.
    package func cancel() { loop.drop(id) }
}

extension PollLoop {
    /// Makes a timer that is not set yet. To be called on the loop, from an actor that runs there.
    ///
    /// - Parameter handler: called on the loop. Use `assumeIsolated` inside, and hold the actor weakly.
    /// - Returns: what to hold on to. After ``shutdown()`` it never fires.
    package func timer(_ handler: @escaping () -> Void) -> DeadlineTimer {
        checkIsolated()
        let timer = Timer(id: roster.makeID(), handler)
        if isPolling { roster.add(timer) } else { timer.retire() }
        return DeadlineTimer(timer, on: self)
    }
}

/// A timer on a loop's roster.
final class Timer {
    let id: Roster.ID
    private(set) var deadline: ContinuousClock.Instant?
    private var handler: (() -> Void)?

    init(id: Roster.ID, _ handler: @escaping () -> Void) {
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

    /// Lets go of the handler.
    func retire() {
        deadline = nil
        handler = nil
    }
}
