import CounterApp
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// Strangers that try to connect at every moment, from before a primary binds until after it has stopped.
@Suite(.timeLimit(.minutes(10))) struct `The lives of a primary with keys` {
    /// In processes of their own: libzmq accepts every peer if there is no ZAP handler, and a process has one from its
    /// first node with keys on.
    @Test(arguments: 1...4)
    func `A primary with keys shows strangers nothing and takes nothing from them at any moment`(process: Int) async {
        await #expect(processExitsWith: .success) {
            let lives = try await Lives()
            for life in 1...5 { try await lives.live(life) }
            try await lives.checkMessage()
        }
    }
}

/// Primaries, one after the other at the same endpoints and with the same journal, a member, and strangers.
private struct Lives {
    private let member = NodeKeys.generate()
    private let keys = (0..<5).map { _ in NodeKeys.generate() }
    private let primaryKeys = NodeKeys.generate()
    private let journal = MemoryJournal()
    private let endpoints: PrimaryConfiguration
    private let strangers: [Stranger]
    private let admissions = EventLog()
    private let secret = SessionSecret.random()
    /// Valid, but for its sender.
    private let message: [UInt8]

    init() async throws {
        let watermark = try await Self.watermark(of: secret.session, in: journal)
        let action = WireAction.named("StepChangeRequested", .map(["step": .unsigned(1000)]))
        message = try WireAction.message([action], first: 1, secret, watermark)
        endpoints = try Self.freeEndpoints()
        var strangers: [Stranger] = []
        let primary = primaryKeys.publicKey
        for security in keys.map({ ClientSecurity(keys: $0, primary: primary).curve }) + [nil] {
            strangers.append(try await Stranger(at: endpoints, security, pushing: message, admissions))
        }
        self.strangers = strangers
    }

    private func started() async throws -> SecuredCounter {
        let list = ["\(member.publicKey) member follow=* send=*/*"]
        let cluster = try SecuredCounter(list, keys: primaryKeys, journal: journal) {
            ($0.publish, $0.receipts, $0.actions) = (endpoints.publish, endpoints.receipts, endpoints.actions)
        }
        try await cluster.primary.startOnceItsPortsAreFree()
        return cluster
    }

    /// Begins the journal without keys, so that the process has no ZAP handler yet.
    private static func watermark(of session: SessionID, in journal: MemoryJournal) async throws -> Watermark {
        let node = try PrimaryNode(configuration: .quick)
        _ = try Primary.counter(on: node, journal: journal)
        let peer = try await RawPeer(try await node.start())
        let watermark = try await peer.watermark(of: session)
        await node.stop()
        return watermark
    }

    /// Endpoints with ports below those that systems give to connections: a peer that tries to connect to one of those
    /// while it is free may connect to itself.
    private static func freeEndpoints() throws -> PrimaryConfiguration {
        // Its end waits until the sockets are closed.
        let context = Context()
        var free: [String] = []
        while free.count < 3 {
            let endpoint = "tcp://127.0.0.1:\(Int.random(in: 20_000..<32_000))"
            let socket = try Socket(.pull, in: context)
            if (try? socket.bind(Endpoint(endpoint))) != nil { free.append(endpoint) }
        }
        var endpoints = PrimaryConfiguration(publish: free[0], actions: free[1])
        endpoints.receipts = free[2]
        return endpoints
    }

    /// Starts the primary, waits until it has served the member and refused all strangers, and stops it.
    func live(_ number: Int) async throws {
        let cluster = try await started()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        for key in keys.map(\.publicKey) {
            for socket in ["publish", "receipts", "actions"] {
                while cluster.refusals(of: key, at: socket) < 1, admissions.events.isEmpty {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        #expect(replica.snapshot?.state.step == 1)
        // It stops while it publishes.
        for _ in 0..<100 { cluster.primary.dispatch(CounterIncreaseRequested()) }
        await cluster.node.stop()
        await replica.close()
        await sender.close()
        #expect(admissions.events.isEmpty, "life \(number)")
        #expect(!cluster.log.events.contains { $0.contains("message dropped code=not-permitted") }, "life \(number)")
    }

    /// The message of the strangers is valid: the member may send it.
    func checkMessage() async throws {
        let cluster = try await started()
        let address = try await cluster.node.address
        let peer = try await RawPeer(address, at: address.receipts, cluster.security(member).curve)
        _ = try await peer.watermark(of: secret.session)
        await peer.push(message)
        let receipts = try await peer.receipts(on: "sc2/counter/receipts/\(secret.session)")
        if case .applied = receipts.outcomes.outcome(of: ActionNumber(1)) {} else { Issue.record("it is not valid") }
        await cluster.node.stop()
        #expect(admissions.events.isEmpty)
        withExtendedLifetime(strangers) {}
    }
}
