import CounterApp
import Foundation
import StateCoding
import SyncProtocol
import Synchronization
import Testing
import ZeroMQ

@testable import Statecast

/// What a member cannot do to the others by subscribing and joining. All traffic is on this machine; libzmq is real.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A flood by a member` {
    private let member = NodeKeys.generate()
    private let pair = CurveKeyPair.generate()

    private func secured(_ limits: (inout Limits) -> Void) throws -> SecuredCounter {
        let lines = ["\(member.publicKey) member follow=* send=*/*", "\(pair.publicKey) flood follow=*"]
        return try SecuredCounter(lines) { limits(&$0.limits) }
    }

    private enum Flood: String {
        case topics = "its subscriptions occupy too much (an eighth of subscribedBytesMax)"
        case subscriptions = "it subscribes without end (userSubscriptionsPerSecondMax)"
    }

    @Test(arguments: [Flood.topics, .subscriptions])
    private func `cuts it off, and the others go on`(kind: Flood) async throws {
        let cluster = try secured { limits in
            if kind == .topics {
                // An eighth is permitted to a key: about five topics.
                limits.subscribedBytesMax = 150_000
            } else {
                (limits.userSubscriptionsPerSecondMax, limits.userBurstMax) = (20, .seconds(1))
            }
        }
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        let flood = try await cluster.peer(pair)
        try await flood.subscribe(bytes: [])
        _ = try await flood.nextMessage(on: "sc2/counter/feed")
        let line = "refusing the connections of a user for 60.0 seconds, since \(kind.rawValue) user=flood"
        var number = 0
        while !cluster.log.events.contains(where: { $0.contains(line) }) {
            try Task.checkCancellation()
            try await flood.subscribe("sc2/nowhere\(number)/feed")
            number += 1
            await Task.yield()
        }
        if kind == .topics {
            let excess = "the subscriptions of one key occupy more than an eighth of subscribedBytesMax"
            #expect(cluster.log.events.contains { $0.contains(excess) })
        }
        let key = try #require(NodePublicKey(pair.publicKey.description))
        try await cluster.refused(key, at: "publish")
        let receipt = try await sender.send(CounterIncreaseRequested())
        try await replica.reached(receipt)
        for message in await flood.stopReceiving() {
            guard case (_, .update(let update)) = try Message.decode(message) else { continue }
            #expect(update.to < receipt.revision, "published after it was cut off")
        }
        await cluster.node.stop()
    }

    /// Parts of a flood, each twice as long as the one before. The loop is occupied during each part, and processes it
    /// afterwards.
    @Test func `while the primary is occupied closes all connections, and the others go on`() async throws {
        let cluster = try secured { $0.userSubscriptionsPerSecondMax = 0 }
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        let endpoint = try await Endpoint(cluster.node.address.publish)
        let server = try #require(CurvePublicKey(cluster.publicKey.description))
        let pair = pair
        let (requested, sent, answered) = (Counted(), Counted(), Counted())
        defer { requested.value = .max }
        Thread.detachNewThread {
            do {
                let options = SocketOptions.with {
                    $0.security = .client(pair, server: server)
                    $0.sendHighWaterMark = 1 << 30
                }
                let socket = try Socket(.xsub, options: options)
                try socket.connect(endpoint)
                while requested.value < .max {
                    // The last one of a part is to another topic.
                    let topic = sent.value % 1000 == 999 ? "nowhere\(sent.value)/feed" : "counter/schema"
                    if sent.value < requested.value {
                        _ = try socket.send(frames: [[1] + Array("sc2/\(topic)\0".utf8)])
                        sent.value += 1
                    }
                    while case .message(let answer)? = try socket.receive() {
                        if String(decoding: answer, as: UTF8.self).hasPrefix("sc2/nowhere\(requested.value - 1)/") {
                            answered.value = requested.value
                        }
                    }
                }
            } catch { Issue.record(error) }
        }
        func isClosed() -> Bool { cluster.log.events.contains { $0.contains("connections occupied the primary") } }
        var count = 1000
        while !isClosed() {
            requested.value += count
            count *= 2
            // The first part is sent when the connection is ready.
            if answered.value > 0 { await cluster.node.isOccupied { sent.value < requested.value } }
            while answered.value < requested.value, !isClosed() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        await cluster.node.stop()
    }

    /// When a connection ends, libzmq walks through all topics of the socket.
    @Test func `of connections is refused, and the others go on`() async throws {
        let cluster = try secured { $0.userConnectionsPerSecondMax = 1 }
        try await cluster.node.start()
        let sender = try await cluster.sender(cluster.security(member))
        try await sender.send(CounterIncreaseRequested())
        let line = "notice: a connection was refused: its user connects too often (userConnectionsPerSecondMax) key="
        func isRefused() -> Bool {
            cluster.log.events.contains { $0.hasPrefix(line + pair.publicKey.description) }
        }
        let publish = try await cluster.node.address.publish
        let server = try #require(CurvePublicKey(cluster.publicKey.description))
        while !isRefused() {
            let socket = try Socket(.sub, options: .with { $0.security = .client(pair, server: server) })
            try socket.connect(Endpoint(publish))
            try socket.subscribe(Array("sc2/counter/schema\0".utf8))
            // It ends when it is answered.
            while try socket.receive() == nil, !isRefused() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        let replica = try await cluster.replica(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        // It may connect again after a second.
        let peer = try await cluster.peer(pair)
        try await peer.subscribe("sc2/counter/schema")
        _ = try await peer.next(on: "sc2/counter/schema")
        await cluster.node.stop()
    }

    @Test func `of topics by several users cuts all of them off, and the others go on`() async throws {
        let (member, floods) = (member, (1...3).map { _ in CurveKeyPair.generate() })
        let cluster = try SecuredCounter(
            ["\(member.publicKey) member follow=* send=*/*"]
                + floods.enumerated().map { "\($1.publicKey) flood-\($0) follow=*" }
        ) { $0.limits.subscribedBytesMax = 180_000 }
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        var peers: [RawPeer] = []
        for flood in floods { peers.append(try await cluster.peer(flood)) }
        func isCutOff(_ index: Int) -> Bool {
            let line = "(an eighth of subscribedBytesMax) user=flood-\(index)"
            return cluster.log.events.contains { $0.contains(line) }
        }
        var number = 0
        while !floods.indices.allSatisfy(isCutOff) {
            try Task.checkCancellation()
            for (index, peer) in peers.enumerated() { try await peer.subscribe("sc2/nowhere\(index)-\(number)/feed") }
            number += 1
            await Task.yield()
        }
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        #expect(!cluster.log.events.contains { $0.contains("(an eighth of subscribedBytesMax) user=member") })
        await cluster.node.stop()
    }

    /// libzmq reports the end of a subscription that the connection does not have as if it were another one's, and
    /// processes subscriptions in further frames of a message.
    @Test(arguments: [false, true]) func `of topics is not hidden`(inFurtherFrames: Bool) async throws {
        let cluster = try secured { $0.subscribedBytesMax = 150_000 }
        try await cluster.node.start()
        let publish = try await cluster.node.address.publish
        let server = try #require(CurvePublicKey(cluster.publicKey.description))
        let options = SocketOptions.with { $0.security = .client(pair, server: server) }
        let holder = try Socket(.xsub, options: options)
        let ender = try Socket(.xsub, options: options)
        try holder.connect(Endpoint(publish))
        try ender.connect(Endpoint(publish))
        func isCutOff() -> Bool {
            cluster.log.events.contains { $0.contains("(an eighth of subscribedBytesMax) user=flood") }
        }
        func closingsCount() -> Int { cluster.log.events.count { $0.contains("closing all connections") } }
        var number = 0
        while !isCutOff() {
            let topic = Array("sc2/nowhere\(number)/feed\0".utf8)
            let count = closingsCount()
            // The primary answers a subscription, unless it closes the connection. One that was sent without a
            // connection is lost.
            for attempt in 0... {
                if attempt % 1000 == 0 {
                    _ = try holder.send(frames: inFurtherFrames ? [[9], [1] + topic] : [[1] + topic])
                }
                guard try holder.receive() == nil, closingsCount() == count else { break }
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

    @Test func `of joins is answered with busy, and the time to wait`() async throws {
        let cluster = try secured { ($0.userJoinsPerSecondMax, $0.userBurstMax) = (1, .seconds(5)) }
        try await cluster.node.start()
        let flood = try await cluster.peer(pair)
        for number in UInt64(1)...100 {
            let topic = Address(try StoreName("counter"), .join(Nonce(bits: number), nil))
            try await flood.subscribe(bytes: topic.bytes)
        }
        // The state is offered to the others.
        for await message in flood.received {
            guard case (_, .refusal(let refusal)) = try Message.decode(message) else { continue }
            #expect(refusal.reason.code == .busy)
            #expect(try #require(refusal.retryAfter) > .zero)
            break
        }
        let replica = try await cluster.replica(cluster.security(member))
        try await replica.reached(cluster.sender(cluster.security(member)).send(CounterIncreaseRequested()))
        await cluster.node.stop()
    }

    @Test func `of frames that are refused cuts the sender off, and the others go on`() async throws {
        let member = member
        let cluster = try SecuredCounter([
            "\(member.publicKey) member follow=* send=*/*", "\(pair.publicKey) flood send=*/*",
        ]) { configuration in
            configuration.limits.userRefusedFramesPerSecondMax = 20
        }
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(member))
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        let flood = try await cluster.peer(pair, sends: true)
        let line = "refusing the connections of a user for 60.0 seconds, since it sends frames without end"
        while !cluster.log.events.contains(where: { $0.contains(line) && $0.contains("user=flood") }) {
            try Task.checkCancellation()
            await flood.push(Array("nonsense".utf8))
            await Task.yield()
        }
        let key = try #require(NodePublicKey(pair.publicKey.description))
        try await cluster.refused(key, at: "actions")
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        await cluster.node.stop()
    }

    // MARK: Parts

    @Test func `of refused frames cuts a user off after as many as in a second and a half`() {
        var limits = Limits()
        limits.userRefusedFramesPerSecondMax = 10
        var rates = PeerRates(limits)
        let isCutOff = (1...41).map { _ in rates.refused("flood", bytes: 100, at: .origin) }
        #expect(isCutOff.firstIndex(of: true) == 15)
        let isOtherCutOff = rates.refused("other", bytes: 100, at: .origin)
        #expect(!isOtherCutOff)
        let isCutOffBySize = (1...4).map { _ in rates.refused("large", bytes: 15 << 10, at: .origin) }
        #expect(isCutOffBySize == [false, false, false, true], "a frame counts as four")
        limits.userRefusedFramesPerSecondMax = 0
        rates = PeerRates(limits)
        let isEver = (1...1000).map { _ in rates.refused("flood", bytes: 100, at: .origin) }
        #expect(!isEver.contains(true))
    }

    @Test func `of subscriptions gets no answers first, and cuts the user off if it goes on`() {
        var limits = Limits()
        (limits.userSubscriptionsPerSecondMax, limits.userBurstMax) = (10, .seconds(2))
        var rates = PeerRates(limits)
        let verdicts = (1...41).map { _ in rates.subscribed("flood", isJoin: false, at: .origin) }
        #expect(verdicts.prefix(20).allSatisfy { $0 == .pass })
        #expect(verdicts.dropFirst(20).prefix(20).allSatisfy { $0 == .drop })
        #expect(verdicts.last == .cutOff)
        #expect(rates.subscribed("other", isJoin: false, at: .origin) == .pass)
        let verdictsInFlood = (1...3).map { _ in rates.subscribed("third", isJoin: false, inFlood: true, at: .origin) }
        #expect(verdictsInFlood == [.pass, .drop, .cutOff], "each counts as twenty")
    }

    @Test func `of connections is charged with the topics that libzmq walks through when one ends`() {
        var limits = Limits()
        limits.userConnectionsPerSecondMax = 10
        let rates = ConnectionRates(limits)
        func admitted(_ user: String, at now: Instant) -> Int {
            (0..<100).prefix { _ in rates.admit(user, at: now) == nil }.count
        }
        // Of five seconds. The bucket may get into debt by one.
        #expect(admitted("flood", at: .origin) == 51)
        #expect(admitted("other", at: .origin) == 51)
        rates.noteSubscribed(1 << 20)
        // Topics that have ended can come again before the connection ends.
        rates.noteSubscribed(0)
        #expect(admitted("third", at: .origin) == 11)
        #expect(admitted("flood", at: .origin.advanced(by: .milliseconds(900))) == 2)
        rates.reset()
        #expect(admitted("fourth", at: .origin) == 51)
    }

    @Test func `cuts a user off for twice as long each time, an hour at most`() {
        var users = CutOffUsers()
        var now = Instant.origin
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(!users.contains("flood", at: now))
            #expect(users.add("flood", at: now) == .seconds(60 * minutes))
            #expect(users.contains("flood", at: now))
            #expect(!users.contains("other", at: now))
            now = now.advanced(by: .seconds(60 * minutes))
        }
    }

    @Test func `of topics cuts a user off that exceeds its limit twice within ten minutes`() {
        var users = CutOffUsers()
        func exceeds(_ user: String, _ role: AccessControl.SocketRole = .receipts, after seconds: Int) -> Bool {
            users.exceeds(user, at: role, at: .origin.advanced(by: .seconds(seconds)))
        }
        #expect([exceeds("flood", after: 0), exceeds("other", after: 0)] == [false, false])
        #expect(!exceeds("flood", .publish([]), after: 1), "another socket's topics were not counted anew")
        #expect([exceeds("flood", after: 599), exceeds("other", after: 600)] == [true, false])
    }

    @Test func `of topics is attributed to the peers that subscribed to them first`() throws {
        var subscriptions = SubscribedTopics()
        func begin(_ topic: UInt8, _ subscriber: Subscriber?) { subscriptions.begin([topic], by: subscriber) }
        func end(_ topic: UInt8, _ subscriber: Subscriber?) -> Bool { subscriptions.end([topic], by: subscriber) }
        func peers(above bytes: Int) -> [String] {
            subscriptions.bytesByPeer.filter { $0.value > bytes }.map(\.key)
        }
        let (topicBytes, subscriberBytes) = (2304 + 32, 192 + 1)
        let (flood, other) = (try subscriber(member), try subscriber(.generate()))
        for topic in UInt8(1)...3 { begin(topic, flood) }
        // Repeated by the same connection.
        begin(1, flood)
        for topic in UInt8(1)...4 { begin(topic, other) }
        #expect(subscriptions.bytes == 4 * topicBytes + 7 * subscriberBytes)
        let floodBytes = 3 * (topicBytes + subscriberBytes)
        #expect(peers(above: floodBytes - 1) == [flood.peer])
        #expect(peers(above: floodBytes) == [])
        #expect(Set(peers(above: topicBytes)) == [flood.peer, other.peer])
        // The next subscriber is charged.
        #expect(!end(1, flood))
        #expect(Set(peers(above: 2 * topicBytes)) == [flood.peer, other.peer])
        #expect(end(1, other))
        #expect(subscriptions.bytes == 3 * topicBytes + 5 * subscriberBytes)
        for topic in UInt8(2)...4 { _ = (end(topic, flood), end(topic, other)) }
        #expect(subscriptions.bytes == 0)
        #expect(subscriptions.bytesByPeer.isEmpty)
    }

    @Test func `of topics is not hidden by the end of a subscription that its connection does not have`() throws {
        var subscriptions = SubscribedTopics()
        let (one, two) = (try subscriber(member), try subscriber(member))
        func end(_ subscriber: Subscriber) -> Bool { subscriptions.end([7], by: subscriber) }
        subscriptions.begin([7], by: one)
        #expect(!end(two))
        subscriptions.begin([7], by: two)
        for _ in 0..<2 { #expect(!end(one)) }
        #expect(subscriptions.bytes > 0)
        #expect(end(two))
        #expect(subscriptions.bytes == 0)
    }

    /// The ends of a broken connection have no peer.
    @Test func `of topics ends with the last of its connections, also if they break`() throws {
        var subscriptions = SubscribedTopics()
        let subscribers = try (0..<3).map { _ in try subscriber(.generate()) }
        func end() -> Bool { subscriptions.end([7], by: nil) }
        for subscriber in subscribers { subscriptions.begin([7], by: subscriber) }
        #expect(!end())
        #expect(!end())
        #expect(end())
        #expect(subscriptions.bytes == 0)
        #expect(subscriptions.bytesByPeer.isEmpty)
    }

    /// Without keys, libzmq reports the last end of a topic only.
    @Test func `of topics counts each once without keys`() {
        var subscriptions = SubscribedTopics()
        for _ in 0..<3 { subscriptions.begin([7], by: nil) }
        #expect(subscriptions.bytes == 2304 + 32 + 192 + 1)
        let isLast = subscriptions.end([7], by: nil)
        #expect(isLast)
        #expect(subscriptions.bytes == 0)
    }

    /// A further connection with these keys.
    private func subscriber(_ keys: NodeKeys) throws -> Subscriber {
        try #require(Subscriber(Subscriber(keys.publicKey).name))
    }
}

private final class Counted: Sendable {
    private let count = Atomic(0)

    var value: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }
}

extension PrimaryNode {
    /// Occupies the node's loop while a condition holds.
    fileprivate func isOccupied(while holds: () -> Bool) { while holds() { sched_yield() } }
}
