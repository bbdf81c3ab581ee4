import StatecastProtocol
import StatecastThreading

/// The loop of a node: polls when something is ready or due.
///
/// Unchecked, but safe: see ``World``.
final class Loop: @unchecked Sendable {
    private let process: Process
    private let poll: () -> Void
    /// The time of the next poll that is scheduled.
    private var next: Instant?
    private var busyUntil = Instant.origin
    private var random: SplitMix64

    init(of process: Process, poll: @escaping () -> Void) {
        (self.process, self.poll) = (process, poll)
        random = process.world.random.split()
    }

    /// Polls soon.
    func wake() { wake(at: process.world.now) }

    /// Polls at an instant of the process's steady clock, unless it does before.
    func wake(atLocal instant: Instant?) { if let instant { wake(at: process.trueTime(of: instant)) } }

    /// Polls at a true time, unless it does before.
    func wake(at time: Instant) {
        let time = max(time, busyUntil, process.world.now.advanced(by: .microseconds(5)))
        if let next, next <= time { return }
        next = time
        process.schedule(at: time) { [self] in
            guard next == time else { return }
            next = nil
            let cost = random.oneIn(50) ? random.duration(.microseconds(200) ... .milliseconds(20)) : .microseconds(20)
            busyUntil = process.world.now.advanced(by: cost)
            poll()
        }
    }
}
