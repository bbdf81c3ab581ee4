import ArgumentParser
import Foundation
import Statecast
import StatecastJournal
import StatecastSQLite

/// Stores of one node, each with its own journal and a sender that never pauses.
struct StoresWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stores",
        abstract: "Saturates one or several stores of one node, until the last receipt."
    )

    @Option(help: "The stores.") var stores = 2
    @Option(help: "Actions to each store.") var actions = 500_000
    @Option(help: "Bytes of an action.") var bytes = 100

    func run() async throws {
        let stores = try await Stores((0..<stores).map { "store\($0)" })
        _ = try await stores.throughput(actions: 1000, bytes: bytes)
        var figures = Figures()
        figures.rate = try await stores.throughput(actions: actions, bytes: bytes)
        try await stores.close()
        try figures.print()
    }
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
                state: Marks(),
                actions: [Marked.self],
                journal: SQLiteJournal(at: folder.appending(path: name).path, durability: .full),
                on: node,
                reducer: Marks.reducer
            )
        }
        let address = try await node.start()
        var configuration = SenderConfiguration()
        configuration.maxPending = 32_768
        senders = try names.map { try ActionSender(store: $0, from: address.publish, configuration: configuration) }
        for sender in senders { Task { try await sender.run() } }
        self.node = node
    }

    /// Actions per second, of all senders together, from the first submission until the last receipt.
    func throughput(actions: Int, bytes: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for sender in senders {
                group.addTask { try await SendersWorkload.send(actions, [Marked(bytes: bytes)], sender) }
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
