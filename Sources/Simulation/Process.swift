import StateCore
import SyncProtocol

/// One run of a program: until it ends, it does something only while it is not paused, and its clocks need not agree
/// with the true time.
///
/// Unchecked, but safe: see ``World``.
final class Process: @unchecked Sendable {
    let world: World
    let name: String
    private let host: Host
    private let started: Instant
    private(set) var isAlive = true
    private(set) var pausedUntil = Instant.origin
    private var deferred: [() -> Void] = []
    private var releases: [() -> Void] = []
    /// The number of outputs after which the process ends; `nil`: it does not.
    private var outputsLeft: Int?
    private let onEnd: () -> Void

    /// - Parameter onEnd: called when the process ends without its own doing.
    init(_ name: String, on host: Host, in world: World, onEnd: @escaping () -> Void) {
        (self.name, self.host, self.world, self.onEnd) = (name, host, world, onEnd)
        started = world.now
    }

    // MARK: Clocks

    /// Now, on the process's steady clock.
    var now: Instant { Instant(offset: started.duration(to: world.now) * host.rate) }

    var time: Timestamp { Timestamp(milliseconds: host.wallOffset + world.now.offset.milliseconds) }

    /// The true time of an instant of the steady clock.
    func trueTime(of instant: Instant) -> Instant { started.advanced(by: instant.offset / host.rate) }

    // MARK: Events

    /// Schedules an event of the process, which happens later if the process is paused then, and never once it ended.
    func schedule(after delay: Duration, _ body: @escaping () -> Void) {
        schedule(at: world.now.advanced(by: delay), body)
    }

    /// - Parameter time: a true time.
    func schedule(at time: Instant, _ body: @escaping () -> Void) {
        world.schedule(at: time) { [self] in
            guard isAlive else { return }
            if world.now < pausedUntil { deferred.append(body) } else { body() }
        }
    }

    func pause(for duration: Duration) {
        pausedUntil = max(pausedUntil, world.now.advanced(by: duration))
        world.schedule(at: pausedUntil) { [self] in if world.now >= pausedUntil { resume() } }
    }

    /// Goes on, with the events that would have happened during the pause.
    func resume() {
        pausedUntil = .origin
        let events = deferred
        deferred = []
        for event in events { schedule(at: world.now, event) }
    }

    // MARK: End

    /// Ends the process: nothing that it does from now on has an effect.
    func end() {
        guard isAlive else { return }
        isAlive = false
        deferred = []
        onEnd()
        // Not now: a call of the process may be on the stack.
        world.schedule(after: .zero) { [self] in
            for release in releases { release() }
            releases = []
        }
    }

    /// Releases what waits for the process, after its end: it may refer to itself.
    func atEnd(_ release: @escaping () -> Void) { releases.append(release) }

    /// Lets the process end before one of its next outputs, in the middle of what it does then.
    func end(afterOutputs count: Int) { outputsLeft = count }

    /// Whether an output of the process has an effect. Counts it.
    func canOutput() -> Bool {
        guard isAlive else { return false }
        guard let left = outputsLeft else { return true }
        guard left > 0 else {
            end()
            return false
        }
        outputsLeft = left - 1
        return true
    }
}

/// A machine, on which processes run one after the other.
final class Host {
    /// The speed of its steady clock; 1 is right.
    var rate: Double
    /// Milliseconds that its wall clock is ahead of the true time.
    var wallOffset: Int64

    init(rate: Double, wallOffset: Int64) { (self.rate, self.wallOffset) = (rate, wallOffset) }
}

/// The loop of a node: polls when something is ready or due.
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
            poll()
            let cost = random.oneIn(50) ? random.duration(.microseconds(200) ... .milliseconds(20)) : .microseconds(20)
            busyUntil = process.world.now.advanced(by: cost)
            // It may have been woken meanwhile.
            if let next, next < busyUntil { wake(again: busyUntil) }
        }
    }

    private func wake(again time: Instant) {
        next = nil
        wake(at: time)
    }
}
