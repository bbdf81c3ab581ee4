import ArgumentParser
import Foundation
import Statecast

/// Joins of replicas while actions arrive at a steady rate.
struct JoinWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "A replica joins a large store under load: its time until live, and the latency of another replica."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "The rows of the table.") var rows = 100_000
    @Option(help: "Actions per second.") var rate = 5000
    @Option(help: "The joins, one after the other.") var joins = 10
    @Option(help: "Seconds without a join before.") var seconds = 3.0

    func run() async throws {
        typealias State = Rows<Table<Int, Row>>
        let state = State(rows: .rows(rows))
        let nodes = try await Nodes(state, RowChanged.self, State.reducer, options: options)
        try await nodes.warmUp(RowChanged(row: 0))
        let load = PacedLoad(nodes, rate: rate, rows: rows)
        let loading = Task { try await load.run() }
        try await Task.sleep(for: .seconds(seconds))
        // On a busy machine the actions are late, which their latencies show.
        while load.shownCount < Int(seconds * Double(rate) / 2) { try await Task.sleep(for: .milliseconds(10)) }
        let idle = load.takeSamples()
        // In another process, as it would be: a replica that reads a snapshot must not delay one that follows.
        let child = try ChildProcess(["follow", "--from", nodes.publish])
        _ = try await child.nextLine()
        _ = load.takeSamples()
        var live: [UInt64] = []
        for _ in 0..<joins {
            try child.tell("join")
            let line = try await child.nextLine()
            guard let time = UInt64(line) else { throw Invalid("expected the time of a join, got \(line)") }
            live.append(time)
        }
        while load.shownCount <= joins { try await Task.sleep(for: .milliseconds(10)) }
        let during = load.takeSamples()
        child.end()
        loading.cancel()
        do { try await loading.value } catch is CancellationError {}
        var (one, other, joined) = (Figures(), Figures(), Figures())
        one.add(latencies: idle)
        other.add(latencies: during)
        joined.add(latencies: live)
        var figures = other
        figures.more = [
            "join_to_idle": (other.p99 ?? 0) / (one.p99 ?? 1),
            "idle_p50": one.p50 ?? 0, "idle_p99": one.p99 ?? 0, "live_p50": joined.p50 ?? 0,
            "live_p99": joined.p99 ?? 0,
        ]
        try await nodes.close()
        try figures.print()
    }
}

/// Actions at a steady rate, and the latency of each at a replica.
private final class PacedLoad<State: CountingState>: Sendable {
    private let nodes: Nodes<State>
    private let rate: Int
    private let rows: Int
    private let samples = Samples()

    init(_ nodes: Nodes<State>, rate: Int, rows: Int) {
        (self.nodes, self.rate, self.rows) = (nodes, rate, rows)
    }

    func takeSamples() -> [UInt64] { samples.take() }

    /// The number of samples since the last ones were taken.
    var shownCount: Int { samples.count }

    /// An action is due at its time, whether or not earlier ones were delayed, and its latency counts from then.
    func run() async throws {
        let base = nodes.shownCount
        let (start, interval) = (monotonicNow(), UInt64(1_000_000_000 / rate))
        let subscription = nodes.replicas[0].observe(replay: .none) { [samples] change in
            let now = monotonicNow()
            for index in (change.old?.count ?? base)..<change.new.count {
                let due = start + UInt64(index - base) * interval
                samples.add(now > due ? now - due : 0)
            }
        }
        defer { subscription.cancel() }
        var index = 0
        while !Task.isCancelled {
            let due = start + UInt64(index) * interval
            let now = monotonicNow()
            if now < due { try? await Task.sleep(for: .nanoseconds(Int64(due - now)), tolerance: .zero) }
            _ = try await nodes.senders[0].submit(RowChanged(row: index &* 7919 % rows))
            index += 1
        }
    }
}

/// A replica that joins when a line arrives on standard input, and says after how many nanoseconds it was live.
struct FollowingProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Joins a store for each line on standard input.",
        shouldDisplay: false
    )

    @Option var from: String

    func run() async throws {
        try say("ready")
        while readLine() != nil {
            let start = monotonicNow()
            let replica = try Replica<Rows<Table<Int, Row>>>(store: "bench", from: from)
            let running = Task { try await replica.run() }
            for await status in replica.statuses where status == .live { break }
            try say("\(monotonicNow() - start)")
            await replica.close()
            _ = await running.result
        }
    }
}
