public import ArgumentParser
import Foundation
import Statecast
public import StatecastJournal
import StatecastPostgres
import StatecastSQLite

extension Durability: ExpressibleByArgument {}

/// The options of workloads with a primary.
struct NodeOptions: ParsableArguments {
    @Option(help: "The durability of the primary's journal: full or normal; without it there is no journal.")
    var durability: Durability?
    @Option(help: "The address of a database with a store \"bench\", instead of a journal of its own.")
    var database: String?
    @Option(help: "The most actions in flight, and of a sender without a receipt.") var window = 16_384
    @Option(help: "The microseconds for which a node polls instead of sleeping; without it, the default.")
    var maxBusyPolling: Int?
    @Option(help: "The updates that may wait for a slow subscriber.") var publishHighWaterMark = 1000
}

/// A primary, its replicas and its senders: in this process, each with its own loop, and sockets on loopback.
struct Nodes<State: CountingState> {
    let primary: Primary<State>
    let replicas: [Replica<State>]
    let senders: [ActionSender]
    let publish: String
    private let folder: URL
    /// The journal's directory; `nil` without one.
    private let journalFolder: String?

    /// - Parameter curve: whether the nodes have keys, and their connections CURVE. The rates of a user are unlimited.
    init(
        _ state: State,
        _ action: any Action.Type,
        _ reducer: Reducer<State>,
        replicas: Int = 1,
        senders: Int = 1,
        middleware: [Middleware<State>] = [],
        policy: JournalPolicy = JournalPolicy(),
        options: NodeOptions,
        curve: Bool = false
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let journalFolder = options.durability.map { _ in folder.appending(path: "journal").path }
        var serving = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        var following = ReplicaConfiguration()
        var sending = SenderConfiguration()
        if let microseconds = options.maxBusyPolling {
            let duration = Duration.microseconds(microseconds)
            (serving.maxBusyPolling, following.maxBusyPolling, sending.maxBusyPolling) = (duration, duration, duration)
        }
        serving.journal = policy
        serving.publishHighWaterMark = options.publishHighWaterMark
        serving.limits.maxWindowActions = options.window
        sending.limits.maxWindowActions = options.window
        // So that the workload alone bounds the number in flight.
        sending.maxPending = 2 * options.window
        if curve {
            let keys = try MemberKeys(of: "bench", in: folder)
            (serving.security, following.security, sending.security) = (keys.primary, keys.replica, keys.sender)
            serving.receipts = "tcp://127.0.0.1:*"
            serving.limits.maxUserActionsPerSecond = 0
            serving.limits.maxUserBytesPerSecond = 0
        }
        let primary = try Primary(
            store: "bench",
            state: state,
            actions: [action],
            middleware: middleware,
            journal: try options.database.map { try PostgresDatabase($0).journal(of: "bench") }
                ?? journalFolder.flatMap { path in
                    options.durability.map { SQLiteJournal(at: path, durability: $0) }
                },
            configuration: serving,
            reducer: reducer
        )
        let address = try await primary.start()
        self.replicas = try (0..<replicas).map { _ in
            try Replica(store: "bench", from: address.publish, configuration: following)
        }
        self.senders = try (0..<senders).map { _ in
            try ActionSender(store: "bench", from: address.receipts ?? address.publish, configuration: sending)
        }
        for replica in self.replicas { Task { try await replica.run() } }
        for sender in self.senders { Task { try await sender.run() } }
        (self.primary, publish, self.folder, self.journalFolder) = (primary, address.publish, folder, journalFolder)
    }

    /// Opens the path of every sender, and waits until all replicas show it.
    func warmUp(_ action: some Action, times: Int = 1000) async throws {
        for sender in senders {
            var last: PendingReceipt?
            for _ in 0..<times { last = try await sender.submit(action) }
            guard let receipt = try await last?.receipt() else { continue }
            for replica in replicas { try await replica.reached(receipt) }
        }
    }

    /// Sends `count` actions with at most `window` in flight, from the first submission until all replicas show the
    /// last, and adds what was measured.
    ///
    /// - Parameter action: the action of a number from 0.
    func stream<A: Action>(
        _ count: Int,
        window: Int,
        into figures: inout Figures,
        _ action: (Int) -> A
    ) async throws {
        let gate = Gate()
        let flow = Flow(count: count, window: window, receivers: replicas.count) { gate.signal() }
        let done = replicas.map { _ in Gate() }
        let base = shownCount
        let subscriptions = replicas.indices.map { index in
            let (receiver, done) = (flow.receivers[index], done[index])
            return replicas[index].observe(replay: .none) { change in
                flow.advance(receiver, to: change.new.count - base)
                if change.new.count - base == count { done.signal() }
            }
        }
        defer { for subscription in subscriptions { subscription.cancel() } }
        let times = ThreadTimes.now
        let start = monotonicNow()
        var last: PendingReceipt?
        for index in 0..<count {
            while !flow.admits(index) { if flow.waits(for: index) { await gate.wait() } }
            last = try await senders[0].submit(action(index))
        }
        for done in done { await done.wait() }
        figures.seconds = Double(monotonicNow() - start) / 1e9
        figures.rate = Double(count) / (figures.seconds ?? 1)
        figures.cpu = (ThreadTimes.now - times).perAction(count)
        figures.inFlightMax = flow.inFlightMax
        figures.add(latencies: flow.latencies)
        _ = try await last?.receipt()
    }

    /// The count that replicas show before actions are sent. The primary's own state may be older for some
    /// microseconds: it publishes a state before it shows it in its own process.
    var shownCount: Int { replicas.first?.snapshot?.state.count ?? 0 }

    /// Stops all nodes.
    ///
    /// - Returns: the number of records in the journal, one for each batch; 0 without a journal.
    @discardableResult
    func close() async throws -> Int {
        for sender in senders { await sender.close() }
        for replica in replicas { await replica.close() }
        await primary.stop()
        defer { try? FileManager.default.removeItem(at: folder) }
        guard let journalFolder else { return 0 }
        let journal = SQLiteJournal(at: journalFolder)
        let last = try journal.open()?.last
        journal.close()
        return Int(last?.rawValue ?? 0)
    }
}
