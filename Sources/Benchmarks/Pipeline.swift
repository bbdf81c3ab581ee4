import Foundation
import Journal
import SQLiteJournal
import Statecast

/// The whole path of an action: a sender encodes and pushes it, a primary reduces and publishes it, a replica shows it.
///
/// All three nodes run in this process, each with its own loop and with sockets on loopback.
struct Pipeline {
    /// An action of about 100 bytes.
    struct Marked: Action {
        let mark: String
    }

    struct Marks: Codable, Equatable, Sendable {
        var count = 0
        var last = ""
    }

    private let primary: Primary<Marks>
    private let replica: Replica<Marks>
    private let sender: ActionSender
    private let action: Marked

    /// The journal's directory; `nil` without one.
    private let folder: String?

    /// - Parameters:
    ///   - busyPollingMax: of all nodes; `nil` for the default.
    ///   - durability: of the primary's journal; `nil` for none.
    init(actionBytes: Int, window: Int, busyPollingMax: Duration?, durability: Durability?) async throws {
        let folder = durability.map { _ in
            FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)").path
        }
        self.folder = folder
        let journal = durability.flatMap { durability in folder.map { SQLiteJournal(at: $0, durability: durability) } }
        var configuration = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        configuration.limits.windowActionsMax = window
        configuration.busyPollingMax = busyPollingMax ?? configuration.busyPollingMax
        primary = try Primary(
            store: "marks",
            state: Marks(),
            actions: [Marked.self],
            journal: journal,
            configuration: configuration
        ) { state, action in
            guard let action = action as? Marked else { return }
            state.count += 1
            state.last = action.mark
        }
        let address = try await primary.start()
        var following = ReplicaConfiguration()
        following.busyPollingMax = busyPollingMax ?? following.busyPollingMax
        replica = try Replica(store: "marks", from: address.publish, configuration: following)
        var sending = SenderConfiguration()
        sending.pendingMax = max(16_384, 2 * window)
        sending.limits.windowActionsMax = window
        sending.busyPollingMax = busyPollingMax ?? sending.busyPollingMax
        sender = try ActionSender(store: "marks", from: address.publish, configuration: sending)
        action = Marked(mark: String(repeating: "m", count: max(0, actionBytes - 17)))
        Task { [replica] in try await replica.run() }
        Task { [sender] in try await sender.run() }
        try await replica.reached(try await sender.send(action))
    }

    /// Stops all nodes.
    ///
    /// - Returns: the number of records in the journal, one for each batch.
    func close() async throws -> UInt64 {
        await sender.close()
        await replica.close()
        await primary.stop()
        guard let folder else { return 0 }
        let journal = SQLiteJournal(at: folder)
        let last = try journal.open()?.last
        journal.close()
        try FileManager.default.removeItem(atPath: folder)
        return last?.rawValue ?? 0
    }

    /// Actions per second, from the first submission until the replica shows the last.
    func throughput(actions: Int) async throws -> Double {
        let start = ContinuousClock.now
        var last: PendingReceipt?
        for _ in 0..<actions { last = try await sender.submit(action) }
        if let last { try await replica.reached(try await last.receipt()) }
        return Double(actions) / (start.duration(to: .now) / .seconds(1))
    }

    /// The durations of single actions, from the call until the replica shows them.
    func latency(actions: Int) async throws -> RawPipe.Latency {
        var samples: [Duration] = []
        for _ in 0..<actions {
            let start = ContinuousClock.now
            try await replica.reached(try await sender.send(action))
            samples.append(start.duration(to: .now))
        }
        return RawPipe.Latency(samples: samples.sorted())
    }
}
