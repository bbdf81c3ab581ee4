import CounterApp
import Foundation
import PostgresCluster
import Statecast
import StatecastCore
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import Testing

/// Nodes of one primary on a real database, with real replicas and senders that are connected to all of them.
@Suite struct FailoverNodeTests {
    @Test func `The first node leads, and a second one stands by`() async throws {
        let cluster = try FailoverCluster()
        let first = try cluster.node("a")
        let second = try cluster.node("b")
        let running = Task { try await first.run() }
        _ = try await first.address
        let standby = Task { try await second.run() }
        try await cluster.awaitStandby()
        try await cluster.send(1...10)
        #expect(try cluster.revision == 10)
        standby.cancel()
        try await standby.value
        running.cancel()
        try await running.value
    }

    @Test func `A standby takes over from a leader that stops, and senders and replicas go on`() async throws {
        let cluster = try FailoverCluster()
        let first = try cluster.node("a")
        let second = try cluster.node("b")
        let replica = try cluster.replica()
        let follower = Task { try await replica.run() }
        let leader = Task { try await first.run() }
        _ = try await first.address
        let standby = Task { try await second.run() }
        try await cluster.awaitStandby()
        try await cluster.send(1...10)
        leader.cancel()
        try await leader.value
        _ = try await second.address
        try await cluster.send(11...20)
        for await snapshot in replica.snapshots where snapshot.state.counter == 20 {
            #expect(snapshot.position.epoch == Epoch(2))
            break
        }
        follower.cancel()
        try await follower.value
        standby.cancel()
        try await standby.value
    }

    @Test func `A node of a later release takes over, and those of the earlier one no more`() async throws {
        let cluster = try FailoverCluster()
        let earlier = try cluster.node("a")
        let leader = Task { try await earlier.run() }
        _ = try await earlier.address
        let later = try cluster.laterNode("b")
        let standby = Task { try await later.run() }
        try await cluster.awaitStandby()
        try await cluster.send(1...3)
        leader.cancel()
        try await leader.value
        _ = try await later.address
        // Revision 4 is the conversion of the state.
        try await cluster.send(5...6)
        let outdated = try cluster.node("a")
        let waiting = Task { try await outdated.run() }
        standby.cancel()
        try await standby.value
        let next = try cluster.laterNode("b")
        let last = Task { try await next.run() }
        _ = try await next.address
        #expect(try cluster.term == 3)
        try await cluster.send(7...7)
        waiting.cancel()
        try await waiting.value
        last.cancel()
        try await last.value
    }

    @Test func `A leader whose store another node has claimed ends with a failure that asks for a restart`()
        async throws
    {
        let cluster = try FailoverCluster()
        let node = try cluster.node("a")
        let running = Task { try await node.run() }
        _ = try await node.address
        try cluster.server.sql("UPDATE statecast.leader SET term = term + 1, holder = NULL")
        node.dispatch(CounterIncreaseRequested())
        let failure = await #expect(throws: StatecastError.self) { try await running.value }
        #expect((failure?.cause as? JournalFailure)?.code == .fenced)
    }

    /// It takes a lease, which is long enough for a busy machine.
    @Test func `A leader whose loop does not turn loses its store`() async throws {
        let cluster = try FailoverCluster()
        let gate = DispatchSemaphore(value: 0)
        let stuck = Middleware<Counter> { action, _, next in
            gate.wait()
            return try next(action)
        }
        let first = try cluster.node("a", lease: .seconds(10), stuck)
        let second = try cluster.node("b", lease: .seconds(10))
        let running = Task { try await first.run() }
        _ = try await first.address
        let standby = Task { try await second.run() }
        first.dispatch(CounterIncreaseRequested())
        let beat = try cluster.beat
        while try cluster.term == 1 {
            // A renewal may have been enqueued before.
            guard try cluster.beat < beat + 10 else {
                Issue.record("the leader renews its claim, and its loop does not turn")
                running.cancel()
                break
            }
            await Task.yield()
        }
        gate.signal()
        let failure = await #expect(throws: StatecastError.self) { try await running.value }
        #expect((failure?.cause as? JournalFailure)?.code == .fenced)
        standby.cancel()
        try? await standby.value
    }
}

/// A database and the endpoints of two nodes.
private final class FailoverCluster: Sendable {
    let server: PostgresServer
    private let folder: String

    init() throws {
        server = try PostgresServer()
        folder = FileManager.default.temporaryDirectory.path + "/failover-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try PostgresDatabase(server.uri).create(
            JournalIdentity(
                store: try StoreName("counter"),
                lineage: Lineage(bits: 3),
                begun: Timestamp(milliseconds: 0)
            )
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func endpoint(_ node: String) -> String { "ipc://\(folder)/\(node)" }
    private var endpoints: String { [endpoint("a"), endpoint("b")].joined(separator: ",") }

    func node(
        _ name: String,
        lease: Duration = .seconds(600),
        _ middleware: Middleware<Counter>...
    ) throws -> Primary<Counter> {
        var configuration = PrimaryConfiguration(publish: endpoint(name), actions: endpoint(name + "-actions"))
        // A busy machine may stop a leader for seconds.
        configuration.leaseTime = lease
        return try Primary(
            store: "counter",
            state: Counter(),
            actions: Counter.actions,
            middleware: middleware,
            journal: PostgresDatabase.patient(server.uri).journal(of: "counter"),
            on: PrimaryNode(configuration: configuration),
            reducer: Counter.reducer
        )
    }

    /// The state of a later release.
    struct LaterCounter: Codable, Equatable, Sendable {
        var count = 0
        var step = 1
    }

    func laterNode(_ name: String) throws -> Primary<LaterCounter> {
        var configuration = PrimaryConfiguration(publish: endpoint(name), actions: endpoint(name + "-actions"))
        configuration.leaseTime = .seconds(600)
        return try Primary(
            store: "counter",
            state: LaterCounter(),
            actions: Counter.actions,
            journal: PostgresDatabase.patient(server.uri).journal(of: "counter"),
            evolution: StateEvolution(migrations: [
                { state in
                    state["count"] = state["counter"]
                    state["counter"] = nil
                }
            ]),
            on: PrimaryNode(configuration: configuration),
            reducer: Reducer(of: CounterIncreaseRequested.self) { state, _ -> Effect in
                state.count += state.step
                return .none
            }
        )
    }

    func replica() throws -> Replica<Counter> { try Replica<Counter>(store: "counter", from: endpoints) }

    /// Sends as many actions as there are numbers, and awaits their receipts.
    func send(_ numbers: ClosedRange<Int>) async throws {
        let sender = try ActionSender(store: "counter", from: endpoints)
        let running = Task { try await sender.run() }
        for number in numbers {
            let receipt = try await sender.send(CounterIncreaseRequested())
            #expect(receipt.revision == Revision(UInt64(number)))
        }
        running.cancel()
        try await running.value
    }

    var term: Int { get throws { Int(try server.sql("SELECT term FROM statecast.leader")) ?? 0 } }
    var beat: Int { get throws { Int(try server.sql("SELECT beat FROM statecast.leader")) ?? 0 } }

    var revision: Int { get throws { Int(try server.sql("SELECT max(\"end\") FROM statecast.record")) ?? 0 } }

    /// Waits until the other node stands by.
    func awaitStandby() async throws {
        while try server.sql("SELECT count(*) FROM statecast.standby") != "1" { await Task.yield() }
    }
}
