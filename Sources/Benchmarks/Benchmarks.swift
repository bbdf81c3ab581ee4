import ArgumentParser

/// The end-to-end benchmarks, each in one process and one run.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-bench",
        abstract: "Measures the path of an action, other loads, several stores on one node, and a primary's recovery.",
        subcommands: [PathBenchmark.self, LoadBenchmark.self, RecoveryBenchmark.self, StoresBenchmark.self],
        defaultSubcommand: PathBenchmark.self
    )
}

/// The results of one contestant over all runs.
struct Figures {
    private(set) var rates: [Double] = []
    private var p50s: [Double] = []
    private var p99s: [Double] = []

    mutating func add(_ rate: Double, _ latency: RawPipe.Latency) {
        rates.append(rate)
        p50s.append(latency.p50 / .microseconds(1))
        p99s.append(latency.p99 / .microseconds(1))
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    private static func column(_ value: Double, digits: Int = 0) -> String {
        let scale = digits == 0 ? 1.0 : 100.0
        let text = digits == 0 ? "\(Int(value.rounded()))" : "\((value * scale).rounded() / scale)"
        return String(repeating: " ", count: max(1, 11 - text.count)) + text
    }

    /// The median rate per second.
    var rate: Double { Self.median(rates) }

    var row: String { [rates, p50s, p99s].map { Self.column(Self.median($0)) }.joined() }

    /// The latencies, below those of ``row``.
    var latencyRow: String {
        String(repeating: " ", count: 11) + [p50s, p99s].map { Self.column(Self.median($0)) }.joined()
    }

    func p50Ratio(to first: Figures, and second: Figures) -> Double {
        let ratio = Self.median(p50s) / (Self.median(first.p50s) + Self.median(second.p50s))
        return (ratio * 100).rounded() / 100
    }

    func ratio(to other: Figures) -> String {
        zip([rates, p50s, p99s], [other.rates, other.p50s, other.p99s])
            .map { Self.column(Self.median($0) / Self.median($1), digits: 2) }
            .joined()
    }
}
