import CounterApp
import Statecast
import StatecastProtocol
import StatecastZeroMQ
import Testing

/// libzmq cannot refuse a subscription: too many topics close all connections of subscribers, and nothing is lost.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A flood of subscriptions` {
    private static let closing =
        "warning: closing all connections, since there are more than 50 subscriptions (maxSubscriptions); peers "
        + "connect again endpoint="

    private static func closings(_ log: EventLog) -> Int { log.events.count { $0.hasPrefix(closing) } }

    private func primary(publish: String, log: EventLog) throws -> Primary<Counter> {
        var configuration = PrimaryConfiguration.anyPorts
        configuration.publish = publish
        configuration.limits = .quick
        configuration.limits.maxSubscriptions = 50
        return try Primary.counter(configuration, log: log)
    }

    /// Subscribes to one topic for each number; each is answered.
    private func flood(_ peer: RawPeer, _ numbers: Range<Int>) async throws {
        for number in numbers { try await peer.subscribe("sc2/nowhere\(number)/feed") }
    }

    @Test(arguments: ["tcp://127.0.0.1:*", "ipc://*"])
    func `A flood of subscriptions closes all connections; replicas and senders go on without loss`(_ publish: String)
        async throws
    {
        let log = EventLog()
        let primary = try primary(publish: publish, log: log)
        let address = try await primary.start()
        let replica = try Replica<Counter>(store: "counter", from: address.publish, configuration: .quick).started()
        let sender = try ActionSender(store: "counter", from: address.publish, configuration: .quick).started()
        var peer: RawPeer? = try await RawPeer(address)
        // The flooding peer reconnects each time.
        for number in 0..<60 { try await peer?.subscribe("sc2/nowhere\(number)/feed") }
        var last: Receipt?
        for _ in 0..<200 { last = try await sender.send(CounterIncreaseRequested()) }
        while Self.closings(log) < 3 {
            try Task.checkCancellation()
            await Task.yield()
        }
        peer = nil
        for _ in 0..<200 { last = try await sender.send(CounterIncreaseRequested()) }
        let receipt = try #require(last)
        #expect(receipt.number == ActionNumber(400))
        #expect(receipt.revision == Revision(400))
        try await replica.reached(receipt)
        #expect(replica.snapshot?.state.counter == 400)
        await sender.close()
        await replica.close()
        await primary.stop()
    }

    @Test func `A flood of subscriptions does not begin before there is one topic too many`() async throws {
        let log = EventLog()
        let primary = try primary(publish: "tcp://127.0.0.1:*", log: log)
        let address = try await primary.start()
        let peer = try await RawPeer(address)
        try await flood(peer, 10..<60)
        try await peer.refusal(on: "sc2/nowhere59/feed")
        // Ended subscriptions are not counted any more, and no topic is counted twice.
        for number in 10..<35 { try await peer.unsubscribe("sc2/nowhere\(number)/feed") }
        let other = try await RawPeer(address)
        try await flood(other, 35..<60)
        try await flood(peer, 60..<85)
        try await other.refusal(on: "sc2/nowhere59/feed")
        try await peer.refusal(on: "sc2/nowhere84/feed")
        #expect(Self.closings(log) == 0)
        try await flood(other, 85..<86)
        while Self.closings(log) == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        await primary.stop()
    }

    @Test func `A flood of subscriptions that one peer repeats after each answer is answered each time`() async throws {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            for _ in 0..<500 {
                try await peer.subscribe("sc2/counter/schema")
                guard case .schema = try await peer.next(on: "sc2/counter/schema") else {
                    Issue.record("another frame")
                    return
                }
                try await peer.unsubscribe("sc2/counter/schema")
            }
        }
    }

    @Test
    func `A flood of subscriptions is bounded in each message, at exactly maxSubscriptionBytes bytes`() async throws {
        try await withCounter { cluster in
            let endpoint = try Endpoint(cluster.address.publish)
            func message(_ bytes: Int) -> [UInt8] { [1] + [UInt8](repeating: 0x78, count: bytes - 1) }
            let most = try RawConnection(to: endpoint, as: "SUB")
            try most.send(message: message(Limits.maxSubscriptionBytes))
            try most.send(message: [1] + Array("sc2/nowhere/feed\0".utf8))
            #expect(most.receiveByte() != nil)
            let more = try RawConnection(to: endpoint, as: "SUB")
            try more.send(message: message(Limits.maxSubscriptionBytes + 1))
            #expect(more.receiveByte() == nil)
        }
    }
}
