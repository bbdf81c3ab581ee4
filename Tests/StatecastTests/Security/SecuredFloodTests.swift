import CounterApp
import Foundation
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// What a member cannot do to the others by subscribing. All traffic is on this machine; libzmq is real.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A flood of subscriptions by a member` {
    private let member = NodeKeys.generate()
    private let pair = CurveKeyPair.generate()

    private func secured(maxSubscriptions: Int) throws -> SecuredCounter {
        let lines = ["\(member.publicKey) member follow=* send=*/*", "\(pair.publicKey) flood follow=*"]
        return try SecuredCounter(lines) { $0.limits.maxSubscriptions = maxSubscriptions }
    }

    private static func isBanned(_ user: String, in cluster: SecuredCounter) -> Bool {
        let line =
            "refusing a user's connections for 60.0 seconds: it has the most subscriptions (maxSubscriptions)"
        return cluster.log.events.contains { $0.contains(line) && $0.contains("user=\(user)") }
    }

    @Test
    func `A member's flood closes all connections and refuses the member for a minute; others go on`() async throws {
        let cluster = try secured(maxSubscriptions: 50)
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        let flood = try await cluster.peer(pair)
        try await flood.subscribe(bytes: [])
        _ = try await flood.nextMessage(on: "sc2/counter/feed")
        var number = 0
        while !Self.isBanned("flood", in: cluster) {
            try Task.checkCancellation()
            try await flood.subscribe("sc2/nowhere\(number)/feed")
            number += 1
            await Task.yield()
        }
        let key = try #require(NodePublicKey(pair.publicKey.description))
        try await cluster.refused(key, at: "publish")
        #expect(cluster.log.events.contains { $0.contains("there are more than 50 subscriptions (maxSubscriptions)") })
        let receipt = try await sender.send(CounterIncreaseRequested())
        try await replica.reached(receipt)
        for message in await flood.stopReceiving() {
            guard case (_, .update(let update)) = try Message.decode(message) else { continue }
            #expect(update.to < receipt.revision, "published after its connections were closed")
        }
        await cluster.node.stop()
    }

    /// A key is of a user who may have several.
    @Test
    func `A flood of subscriptions is that of the user with most of them, over all of the user's keys`() async throws {
        let (member, floods) = (member, (1...3).map { _ in CurveKeyPair.generate() })
        let users = ["two-keys", "two-keys", "one-key"]
        let cluster = try SecuredCounter(
            ["\(member.publicKey) member follow=* send=*/*"]
                + zip(floods, users).map { "\($0.publicKey) \($1) follow=*" }
        ) { $0.limits.maxSubscriptions = 60 }
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        var peers: [RawPeer] = []
        for flood in floods { peers.append(try await cluster.peer(flood)) }
        for (index, count) in [18, 18, 27].enumerated() {
            for number in 0..<count { try await peers[index].subscribe("sc2/nowhere\(index)-\(number)/feed") }
        }
        while !Self.isBanned("two-keys", in: cluster) {
            try Task.checkCancellation()
            await Task.yield()
        }
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        #expect(!Self.isBanned("member", in: cluster))
        await cluster.node.stop()
    }

    /// libzmq reports the end of a subscription that the connection does not have as if it were another one's, and
    /// processes subscriptions in further frames of a message.
    @Test(arguments: [false, true])
    func `A flood of subscriptions by a member is not hidden by foreign ends`(inFurtherFrames: Bool) async throws {
        let cluster = try secured(maxSubscriptions: 50)
        try await cluster.node.start()
        let publish = try await cluster.node.address.publish
        let server = try #require(CurvePublicKey(cluster.publicKey.description))
        let options = SocketOptions.with { $0.security = .client(pair, server: server) }
        let holder = try Socket(.xsub, options: options)
        let ender = try Socket(.xsub, options: options)
        try holder.connect(Endpoint(publish))
        try ender.connect(Endpoint(publish))
        func isBanned() -> Bool { Self.isBanned("flood", in: cluster) }
        var number = 0
        while !isBanned() {
            let topic = Array("sc2/nowhere\(number)/feed\0".utf8)
            // The primary answers a subscription, unless it closes the connection. One that was sent without a
            // connection is lost.
            for attempt in 0... {
                if attempt % 1000 == 0 {
                    _ = try holder.send(frames: inFurtherFrames ? [[9], [1] + topic] : [[1] + topic])
                }
                guard try holder.receive() == nil, !isBanned() else { break }
                try Task.checkCancellation()
                await Task.yield()
            }
            _ = try ender.send(frames: [[9], [0] + topic])
            number += 1
        }
        let replica = try await cluster.replica(cluster.security(member))
        try await replica.reached(cluster.sender(cluster.security(member)).send(CounterIncreaseRequested()))
        await cluster.node.stop()
    }

    // MARK: Parts

    @Test func `A flood of subscriptions by a member is counted for each connection`() throws {
        var subscriptions = SubscribedTopics()
        func begin(_ topic: UInt8, _ subscriber: Subscriber?) { subscriptions.begin([topic], by: subscriber) }
        func end(_ topic: UInt8, _ subscriber: Subscriber?) -> Bool { subscriptions.end([topic], by: subscriber) }
        let (flood, other) = (try subscriber(member), try subscriber(.generate()))
        for topic in UInt8(1)...3 { begin(topic, flood) }
        // Repeated by the same connection.
        begin(1, flood)
        for topic in UInt8(1)...4 { begin(topic, other) }
        #expect(subscriptions.count == 7)
        #expect(subscriptions.countsByPeer == [flood.peer: 3, other.peer: 4])
        #expect(!end(1, flood))
        #expect(end(1, other))
        #expect(subscriptions.countsByPeer == [flood.peer: 2, other.peer: 3])
        for topic in UInt8(2)...4 { _ = (end(topic, flood), end(topic, other)) }
        #expect(subscriptions.count == 0)
        #expect(subscriptions.countsByPeer.isEmpty)
    }

    @Test func `A member's subscription is not lost by an end from a connection that does not have it`() throws {
        var subscriptions = SubscribedTopics()
        let (one, two) = (try subscriber(member), try subscriber(member))
        func end(_ subscriber: Subscriber) -> Bool { subscriptions.end([7], by: subscriber) }
        subscriptions.begin([7], by: one)
        #expect(!end(two))
        subscriptions.begin([7], by: two)
        for _ in 0..<2 { #expect(!end(one)) }
        #expect(subscriptions.count == 1)
        #expect(end(two))
        #expect(subscriptions.count == 0)
    }

    /// The ends of a broken connection have no peer.
    @Test
    func `A flood of subscriptions by a member ends with the last of its connections, also if they break`() throws {
        var subscriptions = SubscribedTopics()
        let subscribers = try (0..<3).map { _ in try subscriber(.generate()) }
        func end() -> Bool { subscriptions.end([7], by: nil) }
        for subscriber in subscribers { subscriptions.begin([7], by: subscriber) }
        #expect(!end())
        #expect(!end())
        #expect(end())
        #expect(subscriptions.count == 0)
        #expect(subscriptions.countsByPeer.isEmpty)
    }

    /// Without keys, libzmq reports the last end of a topic only.
    @Test func `A flood of subscriptions by a member counts each topic once without keys`() {
        var subscriptions = SubscribedTopics()
        for _ in 0..<3 { subscriptions.begin([7], by: nil) }
        #expect(subscriptions.count == 1)
        let isLast = subscriptions.end([7], by: nil)
        #expect(isLast)
        #expect(subscriptions.count == 0)
    }

    /// A further connection with these keys.
    private func subscriber(_ keys: NodeKeys) throws -> Subscriber {
        try #require(Subscriber(Subscriber(keys.publicKey).name))
    }
}
