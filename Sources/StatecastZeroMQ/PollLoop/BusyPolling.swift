/// Decides whether a loop without work polls or sleeps.
///
/// Waking a thread whose processor is idle takes tens of microseconds, longer than the work that follows. So a loop
/// whose last wait was short polls without sleep, yielding its processor between polls, until work comes or the wait is
/// no longer short. A loop that is idle, or gets work at long intervals, always sleeps. Timers do not count as work.
struct BusyPolling {
    /// The longest wait that is short; zero: the loop always sleeps.
    private let maxShortWait: Duration
    private var waitStart: ContinuousClock.Instant?
    private var lastWaitWasShort = false

    init(maxShortWait: Duration) { self.maxShortWait = maxShortWait }

    /// Whether the loop, which found no work, polls without sleep.
    ///
    /// - Parameter now: the time; read only if it is needed.
    mutating func shouldPoll(at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        guard maxShortWait > .zero else { return false }
        let now = now()
        guard let waitStart else {
            waitStart = now
            return lastWaitWasShort
        }
        if now - waitStart > maxShortWait { lastWaitWasShort = false }
        return lastWaitWasShort
    }

    /// The loop found work: ends the current wait, if there is one.
    mutating func foundWork(at now: @autoclosure () -> ContinuousClock.Instant) {
        guard let waitStart else { return }
        lastWaitWasShort = now() - waitStart <= maxShortWait
        self.waitStart = nil
    }
}
