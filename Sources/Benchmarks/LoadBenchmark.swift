import ArgumentParser
import Foundation
import SQLiteJournal
import Statecast

/// The same number of actions under other loads, compared with that of one sender whose actions are all applied.
struct LoadBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Compares one sender with several senders, and with one whose every second action is rejected."
    )

    @Option(help: "The number of runs; medians are printed.") var runs = 5
    @Option(help: "Actions of a run, of all senders together; enough to make the filling of queues negligible.")
    var actions = 2_000_000
    @Option(help: "Bytes of an action.") var bytes = 100
    @Option(help: "The senders of the second load.") var senders = 16
    @Flag(help: "Use a journal with durability full.") var journal = false

    func run() async throws {
        let loads: [(name: String, load: Load)] = [
            ("one sender", try await Load(senders: 1, bytes: bytes, journal: journal)),
            ("\(senders) senders together", try await Load(senders: senders, bytes: bytes, journal: journal)),
            (
                "one sender, every second action rejected",
                try await Load(senders: 1, bytes: bytes, rejecting: true, journal: journal)
            ),
        ]
        var rates = loads.map { _ in [Double]() }
        for _ in 0..<runs {
            for (index, load) in loads.enumerated() { rates[index].append(try await load.load.throughput(actions)) }
        }
        for load in loads { try await load.load.close() }
        let medians = rates.map { $0.sorted()[$0.count / 2] }
        print("\(bytes) bytes, \(journal ? "durability full" : "no journal"), median of \(runs) runs in turn")
        for (load, median) in zip(loads, medians) {
            let ratio = (median / medians[0] * 100).rounded() / 100
            print(load.name.padded(to: 44) + "\(Int(median)) per second, ratio \(ratio)")
        }
    }
}

/// A primary, and senders that never pause.
private struct Load {
    struct Numbered: Action {
        let number: Int
        let mark: String
    }

    private let primary: Primary<Pipeline.Marks>
    private let senders: [ActionSender]
    private let mark: String
    /// Whether the odd numbers are used, which are rejected.
    private let rejects: Bool
    private let folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)")

    init(senders count: Int, bytes: Int, rejecting rejects: Bool = false, journal: Bool) async throws {
        let policy = Middleware<Pipeline.Marks>.policy { action, _ in
            guard let action = action as? Numbered, action.number % 2 == 1 else { return }
            throw Rejection(.refused, "number \(action.number) is odd")
        }
        primary = try Primary(
            store: "marks",
            state: Pipeline.Marks(),
            actions: [Numbered.self],
            middleware: [policy],
            journal: journal ? SQLiteJournal(at: folder.path, durability: .full) : nil,
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        ) { state, action in
            guard let action = action as? Numbered else { return }
            state.count += 1
            state.last = action.mark
        }
        let address = try await primary.start()
        var configuration = SenderConfiguration()
        configuration.pendingMax = 32_768
        senders = try (0..<count).map { _ in
            try ActionSender(store: "marks", from: address.publish, configuration: configuration)
        }
        for sender in senders { Task { try await sender.run() } }
        mark = String(repeating: "m", count: max(0, bytes - 34))
        self.rejects = rejects
        _ = try await throughput(10 * count)
    }

    /// Actions per second, of all senders together, from the first submission until the last receipt.
    func throughput(_ actions: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for sender in senders {
                group.addTask {
                    var last: PendingReceipt?
                    for index in 1...actions / senders.count {
                        let number = rejects ? 1_000_000 + index : 2_000_000 + 2 * index
                        last = try await sender.submit(Numbered(number: number, mark: mark))
                    }
                    // Receipts arrive in the order of the actions.
                    _ = try await last?.outcome()
                }
            }
            try await group.waitForAll()
        }
        return Double(actions) / (start.duration(to: .now) / .seconds(1))
    }

    func close() async throws {
        for sender in senders { await sender.close() }
        await primary.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
