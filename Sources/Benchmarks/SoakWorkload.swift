import ArgumentParser
import Foundation
import Statecast
import StatecastThreading

/// Actions for a long time, with a journal that is pruned.
struct SoakWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "The resident memory of primary, sender and replica under load, over time."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "The duration of the load.") var seconds = 600.0
    @Option(help: "Rows, whose bytes are written in turn at random.") var rows = 10_000

    func run() async throws {
        var policy = JournalPolicy()
        // Prunes many times in the soak.
        (policy.snapshotBytes, policy.historyBytes) = (8 << 20, 64 << 20)
        let nodes = try await Nodes(
            Cells(),
            CellWritten.self,
            Cells.reducer,
            policy: policy,
            options: options
        )
        var random = SplitMix64(seed: 1)
        let written = (0..<100_000).map { _ in
            CellWritten(cell: Int(random.next() % UInt64(rows)), bytes: random.bytes(100))
        }
        let end = monotonicNow() + UInt64(seconds * 1e9)
        var figures = Figures()
        var (resident, count) = ([Double](), 0)
        let start = monotonicNow()
        // At least one sample for each quarter.
        while monotonicNow() < end || resident.count < 4 {
            try await nodes.stream(written.count, window: options.window, into: &figures) { written[$0] }
            count += written.count
            resident.append(Double(try Self.residentBytes()))
        }
        figures.rate = Double(count) / (Double(monotonicNow() - start) / 1e9)
        let half = Array(resident.suffix(resident.count / 2))
        let (third, fourth) = (half.prefix(half.count / 2), half.suffix(half.count / 2))
        figures.more = [
            "actions": Double(count),
            "resident_mib": (half.max() ?? 0) / 1_048_576,
            // Of the last quarter to the one before.
            "growth": Self.median(Array(fourth)) / Self.median(Array(third)),
        ]
        try await nodes.close()
        try figures.print()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// proc(5): the second field of statm, in pages.
    static func residentBytes() throws -> Int {
        let statm = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        guard let pages = statm.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Invalid("/proc/self/statm: \(statm)")
        }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// The memory of a row: in the state itself, in a primary, and in a replica.
struct RowMemoryWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "row-memory",
        abstract: "The resident memory per row of a state, of a primary with it, and of a replica of it."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "The rows of the table.") var rows = 1_000_000

    func run() async throws {
        typealias State = Rows<Table<Int, Row>>
        func perRow(_ bytes: Int) -> Double { Double(bytes) / Double(rows) }
        let empty = try SoakWorkload.residentBytes()
        let state = State(rows: .rows(rows))
        let alone = try SoakWorkload.residentBytes()
        let nodes = try await Nodes(state, RowChanged.self, State.reducer, replicas: 0, options: options)
        try await nodes.warmUp(RowChanged(row: 0), times: 10)
        let served = try SoakWorkload.residentBytes()
        let replica = try Replica<State>(store: "bench", from: nodes.publish)
        let running = Task { try await replica.run() }
        for await status in replica.statuses where status == .live { break }
        let shown = try SoakWorkload.residentBytes()
        var figures = Figures()
        figures.more = [
            "state": perRow(alone - empty), "primary": perRow(served - alone), "replica": perRow(shown - served),
        ]
        await replica.close()
        _ = await running.result
        try await nodes.close()
        try figures.print()
    }
}
