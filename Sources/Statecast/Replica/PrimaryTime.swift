internal import Synchronization

/// The primary's wall clock as a replica knows it: what it said last, and the time since then on the own steady clock.
final class PrimaryTime: Sendable {
    private let heard = Mutex<(time: Timestamp, at: ContinuousClock.Instant)?>(nil)

    func heard(_ time: Timestamp) { heard.withLock { $0 = (time, .now) } }

    /// Now, by the primary's clock; `nil` before anything was heard.
    var now: Timestamp? {
        heard.withLock { $0 }.map { $0.time.advanced(by: $0.at.duration(to: .now)) }
    }
}
