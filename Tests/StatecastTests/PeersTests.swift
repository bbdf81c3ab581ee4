import CounterApp
import StatecastProtocol
import StatecastSQLite
import StatecastZeroMQ
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

    private func list(_ cluster: SecuredCounter, _ reader: NodeKeys) async throws -> Replica<Peers> {
        let endpoint = try #require(try await cluster.node.address.storeEndpoints["counter.peers"])
        var configuration = ReplicaConfiguration.quick
        configuration.security = cluster.security(reader)
        return try Replica<Peers>(store: "counter.peers", from: endpoint, configuration: configuration).started()
    }

    private static func id(_ nonce: UInt64) -> String { Nonce(bits: nonce).peerID }

    private static func topic(_ nonce: UInt64, _ name: String, _ position: String = "none") -> String {
        "sc2/counter/peer/\(Nonce(bits: nonce))/\(name)/\(position)"
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

    @Test func `another user's end of a subscription ends no presence`() async throws {
        let reader = NodeKeys.generate()
        let (board, hostile) = (CurveKeyPair.generate(), CurveKeyPair.generate())
        let lines = [
            "\(board.publicKey) board follow=counter", "\(hostile.publicKey) hostile follow=counter",
            "\(reader.publicKey) reader follow=counter.peers",
        ]
        let cluster = try SecuredCounter(lines) { $0.storeEndpoints = ["counter.peers": "tcp://127.0.0.1:*"] }
        try await cluster.node.start()
        let list = try await list(cluster, reader)
        let honest = try await cluster.peer(board)
        try await honest.subscribe(Self.topic(0xaa, "kiosk"))
        _ = try await list.first { $0.state.peers[Self.id(0xaa)]?.user == "board" }
        do {
            // It knows the nonce, which no other peer sees.
            let other = try await cluster.peer(hostile)
            try await other.subscribe(Self.topic(0xaa, "mine"))
            try await other.unsubscribe(Self.topic(0xaa, "mine"))
            try await other.subscribe(Self.topic(0xaa, "kiosk"))
            try await other.unsubscribe(Self.topic(0xaa, "kiosk"))
            // Its own row comes after these.
            try await other.subscribe(Self.topic(0xbb, "hostile"))
            _ = try await list.first { $0.state.peers[Self.id(0xbb)]?.user == "hostile" }
        }
        let left = try await list.first { $0.state.peers.count == 1 }.state.peers[Self.id(0xaa)]
        #expect(left?.user == "board" && left?.name == "kiosk")
        await cluster.node.stop()
        withExtendedLifetime(honest) {}
    }

    @Test func `the list shows rates, rejections and commits, and how far an old announcement lags`() async throws {
        let folder = try TemporaryFolder()
        let primary = try Primary.counter(journal: SQLiteJournal(at: folder.path + "/journal"))
        let cluster = CounterPrimary(primary: primary, address: try await primary.start())
        let list = try list(cluster)
        let silent = try await RawPeer(cluster.address)
        let position = try #require(await primary.position)
        try await silent.subscribe(Self.topic(0xaa, "silent", "\(position)"))
        let sender = try cluster.sender()
        let sending = Task {
            while !Task.isCancelled {
                try await sender.send(CounterIncreaseRequested())
                _ = try? await sender.send(Unknown())
            }
        }
        let shown = try await list.first { snapshot in
            let peers = snapshot.state.peers
            let rate = peers.values.first { $0.kind == .sender }?.actionsPerSecond ?? 0
            return rate > 0 && peers[Self.id(0xaa)]?.lag ?? 0 > 0
        }.state
        sending.cancel()
        #expect(shown.revision > 0 && shown.actionsPerSecond ?? 0 > 0 && shown.commitP99Milliseconds ?? 0 > 0)
        #expect(Array(shown.rejected.keys) == ["unknown-action"])
        #expect(shown.peers.values.allSatisfy { $0.address == "127.0.0.1" })
        await primary.stop()
        withExtendedLifetime(silent) {}
    }

    private struct Unknown: Action {}

    @Test func `connections that the primary closes are listed again`() async throws {
        let log = EventLog()
        var configuration = PrimaryConfiguration.quick
        configuration.limits.maxSubscriptions = 50
        let primary = try Primary.counter(configuration, log: log)
        let cluster = CounterPrimary(primary: primary, address: try await primary.start())
        let list = try list(cluster)
        let replica = try replica("kiosk", of: cluster)
        let before = try await list.first { $0.state.peers.count == 1 }.state.peers.keys.first
        // libzmq does not report the ends of the subscriptions of these connections.
        do {
            let flood = try await RawPeer(cluster.address)
            for nonce in 0..<UInt64(40) { try await flood.subscribe(Self.topic(nonce, "flood")) }
            _ = try await list.first { $0.state.peers.count == 41 }
            for nonce in UInt64(40)..<60 { try await flood.subscribe(Self.topic(nonce, "flood")) }
            try await log.waits(for: "warning: closing all connections")
        }
        let after = try await list.first { $0.state.peers.count == 1 && $0.state.peers.values.first?.name == "kiosk" }
        #expect(after.state.peers.keys.first == before)
        await primary.stop()
        withExtendedLifetime(replica) {}
    }

    @Test func `the list has a maximum size, and the places of peers that have left are free`() async throws {
        try await withCounter {
            $0.limits.maxFrameBytes = 8 * PeerList.maxRowBytes
        } _: { cluster in
            let list = try list(cluster)
            let crowd = try await RawPeer(cluster.address)
            for nonce in UInt64(0)..<8 { try await crowd.subscribe(Self.topic(nonce, "crowd")) }
            _ = try await list.first { $0.state.peers.count == 8 }
            try await crowd.subscribe(Self.topic(8, "refused"))
            try await crowd.unsubscribe(Self.topic(0, "crowd"))
            try await crowd.subscribe(Self.topic(9, "late"))
            let full = try await list.first { $0.state.peers[Self.id(9)] != nil }.state.peers
            #expect(full.count == 8 && full[Self.id(8)] == nil && full[Self.id(0)] == nil)
        }
    }

    @Test func `a follower after a pause gets the present list at first`() async throws {
        try await withCounter { cluster in
            let before = try replica("before", of: cluster)
            let list = try list(cluster)
            _ = try await list.first { $0.state.peers.count == 1 && $0.state.actionsPerSecond != nil }
            await list.close()
            await before.close()
            let after = try replica("after", of: cluster)
            await after.waits { $0 == .live }
            // It announces its first state three seconds after its start: longer than a list is valid.
            while await cluster.primary.peers.peers.values.map(\.revision) != [0] { await Task.yield() }
            let again = try self.list(cluster)
            let first = try await again.first { _ in true }.state
            #expect(first.peers.values.map(\.name) == ["after"], "\(first)")
            await after.close()
        }
    }

    @Test func `an endpoint that closes its connections ends no peer that is connected to another one`() async throws {
        let log = EventLog()
        var configuration = PrimaryConfiguration.quick
        configuration.limits.maxSubscriptions = 50
        configuration.storeEndpoints = ["counter.peers": "tcp://127.0.0.1:*"]
        let primary = try Primary.counter(configuration, log: log)
        let cluster = CounterPrimary(primary: primary, address: try await primary.start())
        let sender = try cluster.sender()
        _ = try await sender.send(CounterIncreaseRequested())
        let endpoint = try #require(cluster.address.storeEndpoints["counter.peers"])
        do {
            let flood = try await RawPeer(cluster.address, at: endpoint)
            for nonce in UInt64(0)..<60 { try await flood.subscribe("sc2/nowhere\(nonce)/feed") }
            try await log.waits(for: "warning: closing all connections")
        }
        #expect(await primary.peers.peers.count == 1)
        await primary.stop()
        await sender.close()
    }

    @Test func `a list takes no actions`() async throws {
        try await withCounter { cluster in
            let publish = cluster.address.publish
            let sender = try ActionSender(store: "counter.peers", from: publish, configuration: .quick).started()
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
            #expect(rejection?.code == .notPermitted)
            await sender.close()
        }
    }

    @Test func `the name of a list is reserved`() throws {
        let failure = #expect(throws: StatecastError.self) { try Primary.counter(store: "counter.peers") }
        #expect(failure?.code == .definition)
    }

    @Test func `with keys a list shares its endpoint with no store`() async throws {
        let cluster = try SecuredCounter(["\(NodeKeys.generate().publicKey) board follow=*"]) { configuration in
            configuration.publish = "tcp://127.0.0.1:7399"
            configuration.storeEndpoints = ["counter.peers": "tcp://127.0.0.1:7399"]
        }
        let failure = await #expect(throws: StatecastError.self) { try await cluster.node.start() }
        #expect(failure?.code == .definition)
    }

    @Test func `without peers there is no list`() async throws {
        try await withCounter {
            $0.peers = false
        } _: { cluster in
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
        let list = try await list(cluster, reader)
        let peers = try await list.first { $0.state.peers.count == 1 }.state.peers
        #expect(peers.values.first?.user == "board")
        let endpoint = try await cluster.node.address.storeEndpoints["counter.peers"]
        let refused = try await cluster.replica(cluster.security(board), at: endpoint)
        try await cluster.refused(board.publicKey, at: "publish")
        await refused.close()
        await cluster.node.stop()
    }
}
