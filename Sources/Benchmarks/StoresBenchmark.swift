import ArgumentParser
import Foundation
import Journal
import SQLiteJournal
import Statecast

/// Compares two stores on one node with one store, each with its own journal and a sender that never pauses.
struct StoresBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stores",
        abstract: "Compares the throughput of two stores on one node with that of one store."
    )

    @Option(help: "The number of runs; medians are printed.") var runs = 5
    @Option(help: "Actions to each store in a run.") var actions = 100_000
    @Option(help: "Bytes of an action.") var bytes = 100

    func run() async throws {
        let alone = try await Stores(["alone"])
        let together = try await Stores(["first", "second"])
        var rates: (alone: [Double], together: [Double]) = ([], [])
        for _ in 0..<runs {
            rates.alone.append(try await alone.throughput(actions: actions, bytes: bytes))
            rates.together.append(try await together.throughput(actions: actions, bytes: bytes))
        }
        try await alone.close()
        try await together.close()
        let (one, two) = (Self.median(rates.alone), Self.median(rates.together))
        print("\(bytes) bytes, durability full, median of \(runs) runs in turn")
        print("one store                  \(Int(one)) per second")
        print("two stores of one node     \(Int(two)) per second together")
        print("ratio                      \((two / one * 100).rounded() / 100)")
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// The stores of one node, and a sender to each.
private struct Stores {
    private let node: PrimaryNode
    private let senders: [ActionSender]
    private let folder: URL

    init(_ names: [String]) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let node = try PrimaryNode(
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        )
        for name in names {
            _ = try Primary(
                store: name,
                state: Pipeline.Marks(),
                actions: [Pipeline.Marked.self],
                journal: SQLiteJournal(at: folder.appending(path: name).path, durability: .full),
                on: node,
                reducer: Reducer { state, action in
                    guard let action = action as? Pipeline.Marked else { return }
                    state.count += 1
                    state.last = action.mark
                }
            )
        }
        let address = try await node.start()
        var configuration = SenderConfiguration()
        configuration.pendingMax = 16_384
        senders = try names.map { try ActionSender(store: $0, from: address.publish, configuration: configuration) }
        for sender in senders { Task { try await sender.run() } }
        self.node = node
    }

    /// Actions per second, of all senders together, from the first submission until the last receipt.
    func throughput(actions: Int, bytes: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for sender in senders {
                group.addTask {
                    let action = Pipeline.Marked(mark: String(repeating: "m", count: max(0, bytes - 17)))
                    var last: PendingReceipt?
                    for _ in 0..<actions { last = try await sender.submit(action) }
                    _ = try await last?.receipt()
                }
            }
            try await group.waitForAll()
        }
        return Double(senders.count * actions) / (start.duration(to: .now) / .seconds(1))
    }

    func close() async throws {
        for sender in senders { await sender.close() }
        await node.stop()
        try FileManager.default.removeItem(at: folder)
    }
}
