import CoreMetrics
import StatecastThreading
import Synchronization

/// The values of one metric with one combination of label values.
protocol MetricSeries: AnyObject, Sendable {
    var samples: [MetricSample] { get }
}

/// A line of the text format.
struct MetricSample {
    /// After the name of the metric.
    var suffix = ""
    /// The upper bound of a bucket.
    var bound: Double?
    let value: Double
}

final class CounterSeries: MetricSeries, CounterHandler {
    private let value = Atomic<Int64>(0)

    /// A counter never falls: a negative amount is ignored.
    func increment(by amount: Int64) { if amount > 0 { value.wrappingAdd(amount, ordering: .relaxed) } }
    func reset() { value.store(0, ordering: .relaxed) }

    var samples: [MetricSample] { [MetricSample(value: Double(value.load(ordering: .relaxed)))] }
}

final class GaugeSeries: MetricSeries, RecorderHandler, MeterHandler {
    private let bits = Atomic<UInt64>(0)

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func set(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func record(_ value: Int64) { set(Double(value)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }

    private func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (done, now) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if done { return }
            old = now
        }
    }

    var samples: [MetricSample] { [MetricSample(value: Double(bitPattern: bits.load(ordering: .relaxed)))] }
}

final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private struct Content {
        /// The number of values in each bucket; the last one is beyond all bounds.
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let content: Locked<Content>

    init(_ bounds: [Double]) {
        self.bounds = bounds
        content = Locked(Content(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// The upper bounds of the buckets of a metric.
    static func bounds(for label: String) -> [Double] {
        if label.hasSuffix("_bytes") { return byteBounds }
        return label.hasSuffix("_seconds") ? secondBounds : countBounds
    }

    private static let byteBounds = (0...8).map { Double(64 << (2 * $0)) }
    private static let countBounds = (0...10).map { Double(1 << (2 * $0)) }
    private static let secondBounds = [
        1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// A value that is not a finite number is ignored: it would make the sum one, too.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        content.withLock { content in
            content.counts[bucket] += 1
            content.sum += value
        }
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    var samples: [MetricSample] {
        let content = content.withLock { $0 }
        var total: UInt64 = 0
        let buckets = zip(bounds + [.infinity], content.counts).map { bound, count in
            total += count
            return MetricSample(suffix: "_bucket", bound: bound, value: Double(total))
        }
        return buckets + [
            MetricSample(suffix: "_sum", value: content.sum), MetricSample(suffix: "_count", value: Double(total)),
        ]
    }
}
