/// Measures the delays of effects: the system's clock, or that of a test.
package protocol EffectClock: Sendable {
    /// The time since an arbitrary start.
    var now: Duration { get }

    /// Calls `body` once: with true at the deadline, or with false after the returned closure was called before.
    func schedule(at deadline: Duration, _ body: @escaping @Sendable (_ isDue: Bool) -> Void) -> @Sendable () -> Void
}

/// The system's clock, which continues while the machine sleeps.
struct SystemEffectClock: EffectClock {
    private let start = ContinuousClock.now

    var now: Duration { start.duration(to: .now) }

    func schedule(at deadline: Duration, _ body: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void {
        let task = Task.detached {
            do {
                try await Task.sleep(until: start.advanced(by: deadline), tolerance: nil, clock: .continuous)
            } catch {
                return body(false)
            }
            body(true)
        }
        return { task.cancel() }
    }
}
