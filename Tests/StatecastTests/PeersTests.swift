import CounterApp
import StatecastProtocol
import Testing

@testable import Statecast

/// Who is connected, as the primary lists it.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct PeersTests {
    private func list(_ cluster: CounterPrimary) throws -> Replica<Peers> {
        try Replica<Peers>(store: "counter.peers", from: cluster.address.publish, configuration: .quick).started()
    }

    private func named(_ name: String?) -> ReplicaConfiguration {
        var configuration = ReplicaConfiguration.quick
        configuration.name = name
        return configuration
    }

    private func replica(_ name: String?, of cluster: CounterPrimary) throws -> Replica<Counter> {
        try Replica<Counter>(store: "counter", from: cluster.address.publish, configuration: named(name)).started()
    }

    @Test func `replicas and senders are listed as long as they are connected, also two of one name`() async throws {
        try await withCounter { cluster in
            let list = try list(cluster)
            let (one, two) = (try replica("kiosk", of: cluster), try replica("kiosk", of: cluster))
            let unnamed = try replica(nil, of: cluster)
            let sender = try cluster.sender()
            let receipt = try await sender.send(CounterIncreaseRequested())
            for replica in [one, two, unnamed] { try await replica.reached(receipt) }
            let all = try await list.first { snapshot in
                let replicas = snapshot.state.peers.values.filter { $0.kind == .replica && $0.revision == 1 }
                return replicas.count == 2 && snapshot.state.peers.count == 3
            }
            #expect(all.state.peers.values.filter { $0.kind == .replica }.allSatisfy { $0.name == "kiosk" })
            #expect(all.state.peers[receipt.session.peerID]?.kind == .sender)
            #expect(await cluster.primary.peers.peers.count == 3)
            await one.close()
            _ = try await list.first { $0.state.peers.values.filter { $0.kind == .replica }.count == 1 }
            await sender.close()
            await two.close()
            _ = try await list.first { $0.state.peers.isEmpty }
        }
    }

    @Test func `a foreign subscription and its end change no presence`() async throws {
        try await withCounter { cluster in
            let list = try list(cluster)
            let replica = try replica("kiosk", of: cluster)
            await replica.waits { $0 == .live }
            let id = try await list.first { $0.state.peers.count == 1 }.state.peers.keys.first ?? ""
            do {
                let stranger = try await RawPeer(cluster.address)
                // What the list shows is not what the replica subscribes to.
                try await stranger.subscribe("sc2/counter/peer/\(id)/kiosk/none")
                _ = try await list.first { $0.state.peers.count == 2 }
            }
            let left = try await list.first { $0.state.peers.count == 1 }
            #expect(left.state.peers.keys.first == id)
        }
    }

    @Test func `the name of a list is reserved`() throws {
        let failure = #expect(throws: StatecastError.self) { try Primary.counter(store: "counter.peers") }
        #expect(failure?.code == .definition)
    }

    @Test func `without peers there is no list`() async throws {
        try await withCounter { $0.peers = false } _: { cluster in
            let list = try list(cluster)
            await list.waits { if case .refused(let reason) = $0 { reason.code == .unknownStore } else { false } }
            #expect(await cluster.primary.peers == Peers())
        }
    }

    @Test func `with keys a list has an endpoint of its own, and a right by its name`() async throws {
        let (reader, board) = (NodeKeys.generate(), NodeKeys.generate())
        let lines = [
            "\(reader.publicKey) reader follow=counter,counter.peers", "\(board.publicKey) board follow=*",
        ]
        let cluster = try SecuredCounter(lines) { $0.storeEndpoints = ["counter.peers": "tcp://127.0.0.1:*"] }
        try await cluster.node.start()
        let shown = try await cluster.replica(cluster.security(board))
        await shown.waits { $0 == .live }
        let endpoint = try #require(try await cluster.node.address.storeEndpoints["counter.peers"])
        var configuration = ReplicaConfiguration.quick
        configuration.security = cluster.security(reader)
        let list = try Replica<Peers>(store: "counter.peers", from: endpoint, configuration: configuration).started()
        let peers = try await list.first { $0.state.peers.count == 1 }.state.peers
        #expect(peers.values.first?.user == "board")
        let refused = try await cluster.replica(cluster.security(board), at: endpoint)
        try await cluster.refused(board.publicKey, at: "publish")
        await refused.close()
        await cluster.node.stop()
    }
}
