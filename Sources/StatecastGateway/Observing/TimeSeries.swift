import DequeModule
import StatecastThreading

/// Counts of the last 15 minutes, in intervals of ten seconds.
final class TimeSeries: Sendable {
    private struct Interval {
        /// `nil`: not known, such as the rejections without a journal.
        var applied: Int?
        var rejected: Int?
        var bytes: Int?
        var lag: Double?
    }

    static let interval = Duration.seconds(10)
    private static let maxCount = 90

    private let storage = Locked((past: Deque<Interval>(), current: Interval()))

    func add(applied: Int, rejected: Int?, bytes: Int?) {
        storage.withLock { storage in
            storage.current.applied = (storage.current.applied ?? 0) + applied
            if let rejected { storage.current.rejected = (storage.current.rejected ?? 0) + rejected }
            if let bytes { storage.current.bytes = (storage.current.bytes ?? 0) + bytes }
        }
    }

    /// Ends an interval.
    func advance(lag: Double?) {
        storage.withLock { storage in
            storage.current.lag = lag
            storage.past.append(storage.current)
            if storage.past.count > Self.maxCount { storage.past.removeFirst() }
            storage.current = Interval()
        }
    }

    /// The rejections and all outcomes of the last minute; `nil` if they are not known.
    var lastMinute: (rejected: Int, all: Int)? {
        let last = storage.withLock { Array($0.past.suffix(6)) + [$0.current] }
        let rejected = last.compactMap(\.rejected)
        return rejected.isEmpty
            ? nil : (rejected.reduce(0, +), last.reduce(rejected.reduce(0, +)) { $0 + ($1.applied ?? 0) })
    }

    func write(to writer: inout JSONWriter) {
        let past = storage.withLock { Array($0.past) }
        func line(_ name: String, _ value: (Interval) -> Double?) {
            writer.array(name) { writer in
                for interval in past { if let value = value(interval) { writer.double(value) } else { writer.null() } }
            }
        }
        writer.member("interval", Self.interval.components.seconds * 1000)
        line("actions") { interval in interval.applied.map { Double($0 + (interval.rejected ?? 0)) } }
        line("rejected") { $0.rejected.map { Double($0) } }
        line("updateBytes") { $0.bytes.map { Double($0) } }
        line("lag") { $0.lag }
    }
}
