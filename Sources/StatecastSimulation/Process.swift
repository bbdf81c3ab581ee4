import StatecastCore
import StatecastProtocol
import StatecastThreading

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
    /// The number of outputs before the one at which the process ends, and the fault that ends it; `nil` if no such end
    /// is scheduled.
    private var crash: (outputsLeft: Int, fault: Fault?)?
    /// Called when the process ends, for any reason.
    var onEnd: () -> Void = {}

    init(_ name: String, on host: Host, in world: World) {
        (self.name, self.host, self.world) = (name, host, world)
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

    /// Goes on, and does not end at a later output.
    func heal() {
        crash = nil
        resume()
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

    /// Ends the process in the middle of what it does, at the output after the next `count` ones. An output is a
    /// published message, a pushed frame, or the start or the end of a write to a journal or a session file.
    ///
    /// - Parameter fault: counted when the process ends.
    func end(afterOutputs count: Int, by fault: Fault? = nil) { crash = (count, fault) }

    /// Whether an output of the process has an effect. Counts it.
    func canOutput() -> Bool {
        guard isAlive else { return false }
        guard let (outputsLeft, fault) = crash else { return true }
        guard outputsLeft > 0 else {
            if let fault { world.count(fault) }
            end()
            return false
        }
        crash = (outputsLeft - 1, fault)
        return true
    }
}

/// A computer, on which processes run one after the other.
final class Host {
    /// The speed of its steady clock; 1 is right.
    let rate: Double
    /// Milliseconds that its wall clock is ahead of the true time.
    var wallOffset: Int64

    /// A clock of four drifts, by up to a tenth.
    init(using random: inout SplitMix64) {
        rate = random.oneIn(4) ? 1 + Double(random.below(2001) - 1000) / 10_000 : 1
        wallOffset = 1_700_000_000_000 + Int64(random.below(1 << 30))
    }
}
