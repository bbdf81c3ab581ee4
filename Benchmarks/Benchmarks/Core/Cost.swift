import Foundation

/// What one action cost: nanoseconds on the wall's clock, and on those of all processors together.
///
/// The second shows what the first hides: work that runs beside the caller, on a processor that was idle.
struct Cost {
    let wall: Double
    let processor: Double

    /// Runs `body` once, and divides its cost by `actions`.
    static func each(of actions: Int, _ body: () -> Void) -> Cost {
        let processorBefore = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
        let wallBefore = nanoseconds(CLOCK_MONOTONIC)
        body()
        let wall = nanoseconds(CLOCK_MONOTONIC) - wallBefore
        let processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processorBefore
        return Cost(wall: Double(wall) / Double(actions), processor: Double(processor) / Double(actions))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
