import CStatecastZeroMQ
import CounterApp
import Statecast
import StatecastProtocol
import Testing

/// Faults of a peer are counted, and answered if possible; the primary continues.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct HostilePeerTests {
    /// The primary still works, and its revision is the expected one.
    private func expectAlive(_ cluster: CounterPrimary, after applied: UInt64 = 0) async throws {
        let receipt = try await cluster.sender().send(CounterIncreaseRequested())
        #expect(receipt.revision == Revision(applied + 1))
    }

    static let garbage: [[UInt8]] = [
        [], [0], [0xFF], Array("sc2/counter/actions".utf8), Array("sc2/counter/actions\0".utf8),
        Array("sc2/counter/actions\0".utf8) + [0x9F, 0xFF],
        Array("sc2/counter/actions\0".utf8) + [UInt8](repeating: 0x81, count: 100_000),
        Array("sc2/counter/actions\0".utf8) + [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        Array("sc2/counter/actions\0".utf8) + [0x87, 0x09, 0x48],
        Array("sc2/counter/feed\0".utf8) + [0x87, 0x09], Array("sc2/counter/feed\0".utf8),
        Array("sc9/counter/actions\0".utf8) + [0x80], Array("GET / HTTP/1.1\r\n\r\n".utf8),
        [UInt8](repeating: 0x00, count: 300_000), [UInt8](repeating: 0xA1, count: 300_000),
    ]

    @Test(arguments: garbage) func `malformed pushed messages are dropped`(_ bytes: [UInt8]) async throws {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            await peer.push(bytes)
            #expect(try await RawSession(of: peer).push(1) == .applied(Revision(1)))
            try await expectAlive(cluster, after: 1)
        }
    }

    @Test func `a frame over the limit is dropped, and a peer far over it is disconnected alone`() async throws {
        try await withCounter {
            $0.limits.maxFrameBytes = 4096
        } _: { cluster in
            let peer = try await RawPeer(cluster.address)
            await peer.push([UInt8](repeating: 1, count: 5000))
            await peer.push([UInt8](repeating: 1, count: 100_000))
            try await expectAlive(cluster)
        }
    }

    @Test func `an unknown store is refused by name, for joins and for senders`() async throws {
        try await withCounter { cluster in
            let replica = try Replica<Counter>(store: "conter", from: cluster.address.publish, configuration: .quick)
                .started()
            var refused: Rejection?
            for await status in replica.statuses {
                if case .refused(let reason) = status {
                    refused = reason
                    break
                }
            }
            #expect(refused?.code == .unknownStore)
            #expect(refused?.message.contains("counter") == true)
            let sender = try ActionSender(store: "conter", from: cluster.address.publish, configuration: .quick)
                .started()
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
            #expect(rejection?.code == .unknownStore)
            try await expectAlive(cluster)
        }
    }

    /// Subscriptions of a peer to another sender's receipts that differ from their topic.
    enum Misfit: CaseIterable, Sendable {
        case withoutZero, withFrame

        func bytes(_ topic: String) -> [UInt8] {
            switch self {
            case .withoutZero: Array(topic.utf8)
            // A victim that decodes from the first zero byte finds a refusal that the peer has written.
            case .withFrame:
                Array(topic.utf8) + [0, 0x87, 0x07, 0x69] + Array("malformed".utf8) + [0x61, 0x78, 0xF6, 0xF6, 0]
            }
        }
    }

    @Test(arguments: Misfit.allCases)
    func `a subscriber of another sender's receipts cannot send to that sender`(misfit: Misfit) async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let first = try await sender.send(CounterIncreaseRequested())
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: misfit.bytes("sc2/counter/receipts/\(first.session)"))
            try await peer.answered()
            let second = try await sender.send(CounterIncreaseRequested())
            #expect(second.session == first.session)
            #expect(second.revision == Revision(2))
        }
    }

    @Test func `a subscriber of a chunk's topic cannot send to the replicas that pull the snapshot`() async throws {
        try await withCounter { cluster in
            let victim = try await RawPeer(cluster.address)
            let join = "sc2/counter/join/0123456789abcdef/none"
            try await victim.subscribe(join)
            let welcome = try await victim.welcome(on: join)
            let offer = try #require(welcome.offer)
            let chunk = "sc2/counter/snapshot/\(welcome.lineage)/\(offer.revision)/0"
            try await victim.subscribe(chunk)
            guard case .chunk = try await victim.next(on: chunk) else {
                Issue.record("no chunk")
                return
            }
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: Array(chunk.utf8))
            try await peer.answered()
            // All effects of the peer's messages precede the answer to this.
            try await victim.unsubscribe(chunk)
            try await victim.subscribe(chunk)
            guard case .chunk = try await victim.next(on: chunk) else {
                Issue.record("something else than the chunk")
                return
            }
        }
    }

    @Test func `a subscription of 10 KB disconnects its sender, and no other peer`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: Array("sc2/counter/feed\0".utf8) + [UInt8](repeating: 0x61, count: 10_000))
            let receipt = try await cluster.sender().send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state.counter == 1)
        }
    }

    @Test func `thousands of concurrent joins are all answered, and abandoned ones do no harm`() async throws {
        try await withCounter {
            $0.limits.maxWaitingJoins = 100_000
        } _: { cluster in
            let peer = try await RawPeer(cluster.address)
            let topics = (0..<5000).map { "sc2/counter/join/" + hexadecimal($0) + "/none" }
            for (index, topic) in topics.enumerated() {
                try await peer.subscribe(topic)
                if index % 2 == 1 { try await peer.unsubscribe(topic) }
            }
            #expect(try await peer.welcome(on: topics[4998]).offer != nil)
            try await expectAlive(cluster)
        }
    }

    private func hexadecimal(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The limit of a subscription leaves room for encryption.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A CURVE handshake` {
    private struct Failed: Error {}

    /// A key pair, as text.
    private static func keys() throws -> (open: [CChar], secret: [CChar]) {
        var (open, secret) = ([CChar](repeating: 0, count: 41), [CChar](repeating: 0, count: 41))
        guard zmq_curve_keypair(&open, &secret) == 0 else { throw Failed() }
        return (open, secret)
    }

    private static func set(_ socket: UnsafeMutableRawPointer?, _ option: Int32, _ value: [CChar]) throws {
        guard zmq_setsockopt(socket, option, value, value.count) == 0 else { throw Failed() }
    }

    @Test func `A CURVE handshake and the longest topic fit into the limit of a subscription`() throws {
        let context = zmq_ctx_new()
        let (publisher, subscriber) = (zmq_socket(context, ZMQ_XPUB), zmq_socket(context, ZMQ_SUB))
        defer {
            zmq_close(publisher)
            zmq_close(subscriber)
            zmq_ctx_term(context)
        }
        let (server, client) = (try Self.keys(), try Self.keys())
        var (isServer, linger, maxBytes) = (Int32(1), Int32(0), Int64(Limits.maxSubscriptionBytes))
        zmq_setsockopt(publisher, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        zmq_setsockopt(subscriber, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        #expect(zmq_setsockopt(publisher, ZMQ_MAXMSGSIZE, &maxBytes, MemoryLayout<Int64>.size) == 0)
        #expect(zmq_setsockopt(publisher, ZMQ_CURVE_SERVER, &isServer, MemoryLayout<Int32>.size) == 0)
        try Self.set(publisher, ZMQ_CURVE_SECRETKEY, server.secret)
        try Self.set(subscriber, ZMQ_CURVE_SERVERKEY, server.open)
        try Self.set(subscriber, ZMQ_CURVE_PUBLICKEY, client.open)
        try Self.set(subscriber, ZMQ_CURVE_SECRETKEY, client.secret)

        #expect(zmq_bind(publisher, "tcp://127.0.0.1:*") == 0)
        var (endpoint, size) = ([CChar](repeating: 0, count: 64), 64)
        #expect(zmq_getsockopt(publisher, ZMQ_LAST_ENDPOINT, &endpoint, &size) == 0)
        #expect(zmq_connect(subscriber, endpoint) == 0)
        let topic = [UInt8](repeating: 0x74, count: Limits.maxTopicBytes - 1) + [0]
        #expect(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, topic, topic.count) == 0)

        var received = [UInt8](repeating: 0, count: 512)
        var items = [zmq_pollitem_t(socket: publisher, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)]
        // The time limit only detects a missing message.
        #expect(zmq_poll(&items, 1, 120_000) == 1)
        let count = zmq_recv(publisher, &received, received.count, ZMQ_DONTWAIT)
        #expect(received.prefix(Int(max(0, count))) == [1] + topic[...])
    }
}
