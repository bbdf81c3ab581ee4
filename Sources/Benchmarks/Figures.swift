import Foundation

/// What a round measured. A workload fills in what it has.
struct Figures: Encodable {
    /// Actions or messages per second.
    var rate: Double?
    var seconds: Double?
    /// Microseconds.
    var p50: Double?
    var p99: Double?
    var p999: Double?
    /// The most actions that were sent and not yet shown.
    var inFlightMax: Int?
    /// Nanoseconds per action by role.
    var cpu: [String: Double]?
    /// Figures of one workload alone.
    var more: [String: Double]?

    /// - Parameter latencies: in nanoseconds, in any order.
    mutating func add(latencies: [UInt64]) {
        let samples = latencies.sorted()
        guard !samples.isEmpty else { return }
        /// Nearest rank.
        func percentile(_ part: Double) -> Double {
            let rank = Int((Double(samples.count) * part).rounded(.up))
            return Double(samples[min(max(rank, 1), samples.count) - 1]) / 1000
        }
        (p50, p99, p999) = (percentile(0.5), percentile(0.99), percentile(0.999))
    }

    /// Prints one line of JSON.
    func print() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        Swift.print(String(decoding: try encoder.encode(self), as: UTF8.self))
    }
}

/// The clock that all processes of a machine share, in nanoseconds.
func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// A measurement whose result would mean nothing.
struct Invalid: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
