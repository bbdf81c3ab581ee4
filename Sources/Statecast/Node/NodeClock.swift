internal import Foundation
internal import SyncProtocol

/// A node's clocks: a steady one for deadlines, and the wall clock, which only ever ends up in state and messages.
struct NodeClock: Sendable {
    private let origin = ContinuousClock.now

    /// Now, on the steady clock.
    var now: Instant { Instant(offset: origin.duration(to: .now)) }

    /// The steady clock's moment as the loop wants it.
    func deadline(_ instant: Instant) -> ContinuousClock.Instant { origin.advanced(by: instant.offset) }

    /// Holds up the calling thread.
    func sleep(for duration: Duration) { Thread.sleep(forTimeInterval: duration / .seconds(1)) }

    /// The wall clock.
    var time: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
