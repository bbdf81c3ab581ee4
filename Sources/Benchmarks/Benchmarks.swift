internal import ArgumentParser

/// Measures the whole path beside the raw libzmq pipe, in turn, in one process and one run.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-bench",
        abstract: "Measures sender -> primary -> replica beside the raw libzmq pipe PUSH -> PULL -> PUB -> SUB."
    )

    @Option(help: "How often each is measured; medians are printed.") var runs = 5
    @Option(help: "Actions, and messages, of a throughput run.") var actions = 100_000
    @Option(help: "Actions, and messages, of a latency run.") var roundTrips = 2000
    @Option(help: "Bytes of an action, and of a message.") var bytes = 100

    mutating func run() async throws {
        let pipe = RawPipe(bytes: bytes)
        let pipeline = try await Pipeline(actionBytes: bytes)
        var raw = Figures()
        var statecast = Figures()
        for _ in 0..<runs {
            raw.add(try pipe.throughput(messages: actions).messagesPerSecond, try pipe.latency(roundTrips: roundTrips))
            statecast.add(
                try await pipeline.throughput(actions: actions),
                try await pipeline.latency(actions: roundTrips)
            )
        }
        await pipeline.close()
        print("\(bytes) bytes, median of \(runs) runs in turn      per second     p50 us     p99 us")
        print("raw libzmq pipe                       \(raw.row)")
        print("sender -> primary -> replica          \(statecast.row)")
        print("ratio                                 \(statecast.ratio(to: raw))")
    }
}

/// The figures of one contestant over all runs.
struct Figures {
    private var rates: [Double] = []
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

    var row: String { [rates, p50s, p99s].map { Self.column(Self.median($0)) }.joined() }

    func ratio(to other: Figures) -> String {
        zip([rates, p50s, p99s], [other.rates, other.p50s, other.p99s])
            .map { Self.column(Self.median($0) / Self.median($1), digits: 2) }
            .joined()
    }
}
