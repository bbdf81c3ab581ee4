import ArgumentParser
import Journal
import Statecast

/// The whole path and the raw libzmq pipe, in turn: without a journal, and with one of each durability.
struct PathBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Compares sender -> primary -> replica with the raw libzmq pipe PUSH -> PULL -> PUB -> SUB."
    )

    @Option(help: "The number of runs; medians are printed.") var runs = 5
    @Option(help: "Actions, and messages, of a throughput run.") var actions = 100_000
    @Option(help: "Actions, and messages, of a latency run.") var roundTrips = 2000
    @Option(help: "Bytes of an action, and of a message.") var bytes = 100
    @Option(help: "The most actions of a sender without a receipt.") var window = PrimaryConfiguration().limits
        .windowActionsMax
    @Option(help: "The microseconds for which a node polls instead of sleeping.") var busyPollingMax: Int?

    /// Without a journal first.
    private static let contestants: [(name: String, durability: Durability?)] = [
        ("sender -> primary -> replica", nil), ("  journal, durability full", .full),
        ("  journal, durability normal", .normal), ("  journal, durability relaxed", .relaxed),
    ]

    func run() async throws {
        let pipe = RawPipe(bytes: bytes)
        var pipelines: [Pipeline] = []
        for contestant in Self.contestants {
            pipelines.append(
                try await Pipeline(
                    actionBytes: bytes,
                    window: window,
                    busyPollingMax: busyPollingMax.map { .microseconds($0) },
                    durability: contestant.durability
                )
            )
        }
        var commit = try CommitAlone(actionBytes: bytes, durability: .full)
        var (raw, commits) = (Figures(), Figures())
        var figures = pipelines.map { _ in Figures() }
        var times = pipelines.map { _ in ThreadTimes() }
        for _ in 0..<runs {
            raw.add(try pipe.throughput(messages: actions).messagesPerSecond, try pipe.latency(roundTrips: roundTrips))
            commits.add(0, try commit.latency(commits: roundTrips))
            for (index, pipeline) in pipelines.enumerated() {
                let start = ThreadTimes.now
                let rate = try await pipeline.throughput(actions: actions)
                times[index] = times[index] + (ThreadTimes.now - start)
                figures[index].add(rate, try await pipeline.latency(actions: roundTrips))
            }
        }
        print("\(bytes) bytes, median of \(runs) runs in turn      per second     p50 us     p99 us")
        try commit.close()
        print("raw libzmq pipe                       \(raw.row)")
        print("one commit alone, durability full     " + commits.latencyRow)
        for (index, contestant) in Self.contestants.enumerated() {
            print(contestant.name.padded(to: 38) + figures[index].row)
            print("  ratio to the raw pipe               " + figures[index].ratio(to: raw))
            if contestant.durability == .full {
                let ratio = figures[index].p50Ratio(to: raw, and: commits)
                print("  ratio of the p50 to the raw pipe and one commit together: \(ratio)")
            }
            if index > 0 { print("  ratio to the path without a journal " + figures[index].ratio(to: figures[0])) }
            print("  CPU ns per action: " + times[index].perAction(runs * actions))
            let records = try await pipelines[index].close()
            guard records > 0 else { continue }
            // In a latency run each action is a batch, including the first one, which opens the path.
            let size = Double(runs * actions) / (Double(records) - Double(runs * roundTrips + 1))
            print(
                "  batches                             " + "\(Int(figures[index].rate / size)) per second, of "
                    + "\(Int(size)) actions"
            )
        }
    }
}

extension String {
    func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
