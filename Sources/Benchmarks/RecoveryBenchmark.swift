import ArgumentParser
import Foundation
import Journal
import SQLiteJournal
import Statecast

/// The time from the start of a primary until it is ready.
struct RecoveryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Measures the recovery of a primary from its journal."
    )

    @Option(help: "The number of runs; medians are printed.") var runs = 3
    @Option(help: "Actions after the snapshot.") var actions = 1_000_000
    @Option(help: "Rows of the large state.") var rows = 1_000_000

    struct Row: Codable, Equatable, Sendable {
        var name: String
        var load = 0.5
        var count = 1
    }

    struct Rows: Codable, Equatable, Sendable {
        var rows: Table<Int, Row> = [:]
        var changes = 0
    }

    struct RowChanged: Action {
        let row: Int
    }

    func run() async throws {
        try await measure("\(actions) actions after the snapshot, 1,000 rows", rows: 1000, actions: actions)
        try await measure("\(rows) rows, no actions", rows: rows, actions: 0)
    }

    private func measure(_ name: String, rows: Int, actions: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var state = Rows()
        for row in 0..<rows { state.rows[row] = Row(name: "row \(row)") }
        let first = try Self.primary(state, folder)
        try await first.start()
        for action in 0..<actions { first.dispatch(RowChanged(row: action % rows)) }
        await first.stop()
        var seconds: [Double] = []
        for _ in 0..<runs {
            let primary = try Self.primary(Rows(), folder)
            let start = ContinuousClock.now
            try await primary.start()
            seconds.append(start.duration(to: .now) / .seconds(1))
            precondition(
                primary.state.rows.count == rows && primary.state.changes == actions,
                "the recovered state differs"
            )
            await primary.stop()
        }
        let bytes = try FileManager.default.attributesOfItem(atPath: folder + "/journal.sqlite")[.size] as? Int ?? 0
        print("\(name): \(seconds.sorted()[runs / 2]) s (journal.sqlite has \(bytes >> 20) MiB)")
    }

    private static func primary(_ state: Rows, _ folder: String) throws -> Primary<Rows> {
        var configuration = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        configuration.journal.snapshotBytes = .max
        configuration.journal.snapshotRecords = .max
        return try Primary(
            store: "rows",
            state: state,
            actions: [RowChanged.self],
            journal: SQLiteJournal(at: folder),
            configuration: configuration
        ) { state, action in
            guard let action = action as? RowChanged else { return }
            state.rows[action.row]?.count += 1
            state.changes += 1
        }
    }
}
