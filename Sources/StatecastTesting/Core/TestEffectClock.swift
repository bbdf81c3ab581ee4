import StatecastCore
import StatecastThreading

/// A clock that moves only when a test advances it, and then calls back within the call.
final class TestEffectClock: EffectClock {
    private struct Timer {
        let number: Int
        let deadline: Duration
        let body: @Sendable (_ isDue: Bool) -> Void
    }

    private struct Content {
        var now = Duration.zero
        var timers: [Timer] = []
        var count = 0
    }

    private let content = Locked(Content())

    var now: Duration { content.withLock { $0.now } }

    func schedule(at deadline: Duration, _ body: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void {
        let number = content.withLock { content in
            content.count += 1
            content.timers.append(Timer(number: content.count, deadline: deadline, body: body))
            return content.count
        }
        return { [weak self] in
            let timer = self?.content.withLock { content in
                content.timers.firstIndex { $0.number == number }.map { content.timers.remove(at: $0) }
            }
            timer?.body(false)
        }
    }

    /// Moves the time to the first deadline up to `end` and calls the timers of that deadline, or to `end`.
    ///
    /// - Returns: the deadline; nil if no timer was due.
    func advance(towards end: Duration) -> Duration? {
        let due = content.withLock { content in
            let deadline = content.timers.map(\.deadline).min() ?? end
            content.now = max(content.now, min(deadline, end))
            let due = content.timers.filter { $0.deadline <= content.now }
            content.timers.removeAll { $0.deadline <= content.now }
            return due
        }
        // Outside the lock: a timer may schedule the next one.
        for timer in due { timer.body(true) }
        return due.isEmpty ? nil : now
    }
}
