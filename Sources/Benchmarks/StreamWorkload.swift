import ArgumentParser
import Foundation
import Statecast
import StatecastJournal
import StatecastThreading

/// Actions as fast as the path takes them.
struct StreamWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: "Sender -> primary -> replicas, at full speed with a bounded number in flight."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "Actions of the round.") var actions = 1_000_000
    @Option(help: "Bytes of an action, or of the random bytes that it puts into a row.") var bytes = 100
    @Option(help: "Rows, into random ones of which the actions put random bytes; 0: a state of constant size.")
    var rows = 0
    @Option(help: "The replicas, which are compared at the end.") var readers = 1
    @Flag(help: "Encrypts and authenticates all connections with CURVE.") var curve = false
    @Option(help: "The seed of the random rows and bytes.") var seed: UInt64 = 1

    func run() async throws {
        var figures = Figures()
        if rows == 0 { try await streamMarks(&figures) } else { try await streamCells(&figures) }
        try figures.print()
    }

    private func streamMarks(_ figures: inout Figures) async throws {
        let nodes = try await Nodes(
            Marks(),
            Marked.self,
            Marks.reducer,
            replicas: readers,
            options: options,
            curve: curve
        )
        let action = Marked(bytes: bytes)
        try await nodes.warmUp(action)
        try await nodes.stream(actions, window: options.window, into: &figures) { _ in action }
        let records = try await nodes.close()
        if records > 0 { figures.more = ["actions_per_batch": Double(actions) / Double(records)] }
    }

    private func streamCells(_ figures: inout Figures) async throws {
        let nodes = try await Nodes(
            Cells(),
            CellWritten.self,
            Cells.reducer,
            replicas: readers,
            options: options,
            curve: curve
        )
        var random = SplitMix64(seed: seed)
        let rows = UInt64(rows)
        // Made before the measurement: the same bytes are the same work for each contestant.
        let written = (0..<actions).map { _ in
            CellWritten(cell: Int(random.next() % rows), bytes: random.bytes(bytes))
        }
        try await nodes.warmUp(written[0])
        try await nodes.stream(actions, window: options.window, into: &figures) { written[$0] }
        try await nodes.close()
        var expected = Cells()
        for action in written { expected.cells[action.cell] = action.bytes }
        for state in [nodes.primary.state] + nodes.replicas.compactMap({ $0.snapshot?.state }) {
            guard state.cells == expected.cells else { throw Invalid("a table differs from what was written") }
        }
        figures.more = ["tables_equal": 1]
    }
}

extension SplitMix64 {
    mutating func bytes(_ count: Int) -> Data {
        var data = Data(count: count)
        for start in stride(from: 0, to: count, by: 8) {
            withUnsafeBytes(of: next()) {
                data.replaceSubrange(start..<min(start + 8, count), with: $0.prefix(count - start))
            }
        }
        return data
    }
}
