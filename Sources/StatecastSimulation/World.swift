import HeapModule
import StatecastProtocol
import StatecastThreading

/// What all parts of a simulation share: the virtual time, the random numbers, what happens next, and what went wrong.
///
/// Unchecked, but safe: a simulation runs in one thread. Production code requires the annotation where it would run on
/// several.
final class World: @unchecked Sendable {
    private struct Event: Comparable {
        let time: Instant
        /// Events of one time happen in the order in which they were scheduled.
        let order: UInt64
        let body: () -> Void

        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
        static func < (left: Event, right: Event) -> Bool { (left.time, left.order) < (right.time, right.order) }
    }

    private var heap = Heap<Event>()
    private var scheduledCount: UInt64 = 0
    /// The true time, which no clock of a process shows.
    private(set) var now = Instant.origin
    private(set) var eventCount = 0
    /// The first rule that was broken.
    private(set) var violation: Violation?
    var random: SplitMix64
    var coverage = Coverage()
    private(set) lazy var rights = UserRights { [unowned self] in now }
    /// How often a fault of each kind had an effect.
    private(set) var faultCounts: [Fault: Int] = [:]
    private(set) var trace: [String] = []
    /// The job that runs now, on a thread of its own.
    var blockingJob: BlockingJob?
    let threads = JobThreads()
    private let keepsTrace: Bool
    /// Called with each line of the trace.
    private let onNote: ((String) -> Void)?

    init(seed: UInt64, keepsTrace: Bool, onNote: ((String) -> Void)? = nil) {
        random = SplitMix64(seed: seed)
        (self.keepsTrace, self.onNote) = (keepsTrace, onNote)
    }

    // MARK: Events

    func schedule(at time: Instant, _ body: @escaping () -> Void) {
        scheduledCount += 1
        heap.insert(Event(time: max(now, time), order: scheduledCount, body: body))
    }

    func schedule(after delay: Duration, _ body: @escaping () -> Void) {
        schedule(at: now.advanced(by: delay), body)
    }

    /// Lets the next event happen.
    ///
    /// - Returns: `false` if there is none.
    func step() -> Bool {
        guard let event = heap.popMin() else { return false }
        now = event.time
        eventCount += 1
        event.body()
        return true
    }

    /// Runs the events that are due now, and drops the later ones: they refer to all parts of the simulation.
    func end() {
        while let next = heap.min, next.time <= now { _ = step() }
        heap = []
    }

    // MARK: Reports

    /// Notes a line of the trace.
    func note(_ line: @autoclosure () -> String) {
        guard keepsTrace || onNote != nil else { return }
        let text = "\(Self.text(now)) #\(eventCount) \(line())"
        if keepsTrace { trace.append(text) }
        onNote?(text)
    }

    /// A fault had an effect.
    func count(_ fault: Fault) { faultCounts[fault, default: 0] += 1 }

    /// A rule was broken. The first violation ends the simulation.
    func violated(_ rule: Rule, _ message: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = Violation(rule: rule, message: message(), time: now, event: eventCount)
        note("VIOLATION of \(rule): \(violation?.message ?? "")")
    }

    func require(_ condition: Bool, _ rule: Rule, _ message: @autoclosure () -> String) {
        if !condition { violated(rule, message()) }
    }

    private static func text(_ time: Instant) -> String {
        let microseconds = Int64(time.offset / .microseconds(1))
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 6 - fraction.count))\(fraction)"
    }
}
