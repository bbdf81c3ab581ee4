import Statecast
import StatecastCore
import StatecastProtocol
import Testing

@testable import StatecastSimulation

/// Rules that the mutants of `Tests/Mutants` do not break first.
@Suite(.timeLimit(.minutes(10))) struct `A rule is broken by` {
    /// A cluster with a sender that is open, and a replica that is live.
    private func withCluster(
        _ durability: Durability = .full,
        _ body: (Cluster, SenderProcess) throws -> Void
    ) throws {
        let cluster = Cluster(seed: 1, stores: [Cluster.StoreSetup(durability: durability)])
        try scenario(cluster) {
            let sender = try cluster.addOpenSender()
            _ = try cluster.addLiveReplica()
            #expect(cluster.world.violation == nil)
            try body(cluster, sender)
        }
    }

    /// Runs until a rule is broken.
    private func expect(_ rule: Rule, in cluster: Cluster) {
        let error = #expect(throws: ScenarioFailure.self) { try cluster.run(for: .seconds(30)) }
        #expect(cluster.world.violation?.rule == rule, "\(error?.description ?? "")")
    }

    @Test func `A rule is broken by an action that is applied after its rejection was reported`() throws {
        try withCluster { cluster, sender in
            let id = WorkID(sender: sender.index, serial: 1)
            cluster.stores[0].history.rejected(id, "test", to: sender.name)
            sender.submit(1)
            expect(.rejectedLeaveNoTrace, in: cluster)
        }
    }

    @Test func `A rule is broken by a rejection that is reported after its action was applied`() throws {
        try withCluster { cluster, sender in
            let id = cluster.submit(.change, by: sender)
            try cluster.wait("it is applied") { sender.isDone }
            cluster.stores[0].history.rejected(id, "test", to: sender.name)
            expect(.rejectedLeaveNoTrace, in: cluster)
        }
    }

    @Test func `A rule is broken by an outcome that was reported as unknown before`() throws {
        try withCluster { cluster, sender in
            let id = cluster.submit(.change, by: sender)
            cluster.stores[0].history.reported(id, isUnknown: true, to: sender.name)
            expect(.oneOutcome, in: cluster)
        }
    }

    @Test func `A rule is broken by a subscription that ends without a begin`() throws {
        try withCluster { cluster, sender in
            sender.socket.unsubscribe(.schema)
            expect(.subscriptionsMatch, in: cluster)
        }
    }

    @Test func `A rule is broken by work of an effect that starts twice`() throws {
        try withCluster { cluster, _ in
            let history = cluster.stores[0].history
            let key = IdempotencyKey(revision: 0, index: 0)
            let process = try #require(cluster.primary.process).name
            history.startedEffect(key, by: process)
            #expect(cluster.world.violation == nil)
            history.startedEffect(key, by: process)
            expect(.effectsStartOnce, in: cluster)
        }
    }

    @Test func `A rule is broken by work of an effect that starts before its action is published`() throws {
        try withCluster { cluster, _ in
            let process = try #require(cluster.primary.process).name
            cluster.stores[0].history.startedEffect(IdempotencyKey(revision: 9, index: 0), by: process)
            expect(.effectsStartOnce, in: cluster)
        }
    }

    @Test func `A rule is broken by an unreadable message to a replica`() throws {
        try withCluster { cluster, _ in try publish([0xFF], on: .feed, in: cluster) }
    }

    @Test func `A rule is broken by an unreadable message to a sender`() throws {
        try withCluster { cluster, sender in
            try publish([0xFF], on: .receipts(sender.machine.session), in: cluster)
        }
    }

    private func publish(_ bytes: [UInt8], on topic: Topic, in cluster: Cluster) throws {
        let isOfSender = if case .receipts = topic { true } else { false }
        let endpoint = isOfSender ? cluster.primary.endpointOfSenders : cluster.primary.publish
        let socket = try #require(cluster.network.publisher(at: endpoint))
        socket.send(Address(cluster.stores[0].name, topic).bytes + bytes)
        expect(.messagesAreReadable, in: cluster)
    }

    @Test func `A rule is broken by a crash after which records are missing`() throws {
        try withCluster(.normal) { cluster, sender in
            let disk = try #require(cluster.stores[0].disk)
            disk.holdSync(until: cluster.world.now.advanced(by: .seconds(3600)))
            sender.submit(1)
            try cluster.wait("its receipt arrives") { sender.isDone }
            // A power cut that calls itself a crash.
            cluster.primary.process?.end()
            _ = disk.cutPower()
            expect(.publishedIsDurable, in: cluster)
        }
    }
}
