import CounterApp
import Foundation
import Logging
import StateCoding
import Statecast
import SyncProtocol
import Testing
import ZeroMQ

/// Who may follow and send at a primary with keys. All traffic is on this machine; libzmq is real.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary with keys` {
    private let member = NodeKeys.generate()
    private let other = NodeKeys.generate()

    private func line(_ keys: NodeKeys, _ rest: String) -> String { "\(keys.publicKey) \(rest)" }

    private func withSecured(
        _ lines: [String],
        _ body: (SecuredCounter) async throws -> Void
    ) async throws {
        let cluster = try SecuredCounter(lines)
        try await cluster.node.start()
        try await body(cluster)
        await cluster.node.stop()
    }

    // MARK: Connections

    @Test func `serves those that its list permits`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let security = cluster.security(member)
            let replica = try await cluster.replica(security)
            let receipt = try await cluster.sender(security).send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state.counter == 1)
        }
    }

    @Test func `binds beyond this machine`() async throws {
        let cluster = try SecuredCounter([line(member, "member follow=* send=*/*")]) {
            $0.publish = "tcp://0.0.0.0:*"
            $0.receipts = "tcp://0.0.0.0:*"
            $0.actions = "tcp://0.0.0.0:*"
        }
        let address = try await cluster.node.start()
        let receipts = try #require(address.receipts).replacing("0.0.0.0", with: "127.0.0.1")
        let sender = try await cluster.sender(cluster.security(member), at: receipts)
        #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
        await cluster.node.stop()
    }

    @Test func `refuses a key that its list does not have, says so, and accepts it once it is there`() async throws {
        try await withSecured([line(member, "member follow=*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "feed")
            #expect(replica.snapshot == nil)
            try await cluster.permit([line(member, "member follow=*"), line(other, "other follow=*")])
            await replica.waits { $0 == .live }
        }
    }

    @Test func `has no connection to a peer without keys, or one that expects another primary`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let plain = try await cluster.replica(nil)
            let mistaken = try await cluster.replica(cluster.security(member, primary: other.publicKey))
            let replica = try await cluster.replica(cluster.security(member))
            let sender = try await cluster.sender(cluster.security(member))
            // Each of them would have joined meanwhile.
            for _ in 0..<100 { try await replica.reached(sender.send(CounterIncreaseRequested())) }
            #expect(plain.status == .joining && plain.snapshot == nil)
            #expect(mistaken.status == .joining && mistaken.snapshot == nil)
        }
    }

    @Test func `separates those that follow from those that send`() async throws {
        try await withSecured([line(member, "board follow=*"), line(other, "agent send=counter/*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(member))
            let sender = try await cluster.sender(cluster.security(other))
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            _ = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "feed")
            _ = try await cluster.sender(cluster.security(member))
            try await cluster.refused(member.publicKey, at: "receipts")
        }
    }

    @Test func `admits a follower only with the right to all stores of the node`() async throws {
        let cluster = try SecuredCounter([line(member, "member follow=*"), line(other, "other follow=counter")])
        _ = try SecuredCounter.counter("second", on: cluster.node)
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        await replica.waits { $0 == .live }
        _ = try await cluster.replica(cluster.security(other))
        try await cluster.refused(other.publicKey, at: "feed")
        await cluster.node.stop()
    }

    @Test func `has a list of its own beside another node of the process`() async throws {
        try await withSecured([line(member, "member follow=*")]) { first in
            try await withSecured([line(other, "other follow=*")]) { second in
                let replicas = [
                    try await first.replica(first.security(member)), try await second.replica(second.security(other)),
                ]
                for replica in replicas { await replica.waits { $0 == .live } }
                _ = try await first.replica(first.security(other))
                try await first.refused(other.publicKey, at: "feed")
                _ = try await second.replica(second.security(member))
                try await second.refused(member.publicKey, at: "feed")
            }
        }
    }

    // MARK: Wrong sockets

    @Test func `tells a member that connects to the wrong endpoint`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let (security, address) = (cluster.security(member), try await cluster.node.address)
            let sender = try await cluster.sender(security, at: address.publish)
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
            #expect(rejection?.code == .notPermitted)
            #expect(rejection?.message.contains("endpoint") == true)
            let replica = try await cluster.replica(security, at: address.receipts)
            await replica.waits {
                if case .refused(let reason) = $0 { reason.code == .notPermitted } else { false }
            }
        }
    }

    /// The answer has the bytes of the subscription as its topic: on the other socket it could reach others.
    @Test func `answers a strange subscription on the socket that received it`() async throws {
        let (reader, writer) = (CurveKeyPair.generate(), CurveKeyPair.generate())
        let lines = ["\(reader.publicKey) reader follow=*", "\(writer.publicKey) writer send=*/*"]
        try await withSecured(lines) { cluster in
            let address = try await cluster.node.address
            let server = try #require(CurvePublicKey(cluster.publicKey.description))
            let all = try await RawPeer(address, .client(reader, server: server))
            try await all.subscribe(bytes: [])
            let asking = try await RawPeer(address, at: address.receipts, .client(writer, server: server))
            for topic in ["sc9/counter/feed", "sc2/nowhere/feed", "sc2/counter/feed", "sc2/counter/schema"] {
                try await asking.subscribe(topic)
                guard case .refusal = try await asking.next(on: topic) else {
                    Issue.record("\(topic): not refused")
                    return
                }
            }
            // A message of the feed, after the refusals.
            let sender = try await RawPeer(address, at: address.receipts, .client(writer, server: server))
            let session = SessionID.random()
            let watermark = try await sender.watermark(of: session)
            await sender.push(try WireAction.message([WireAction.increase], first: 1, session: session, watermark))
            for await message in all.received {
                let (found, frame) = try Message.decode(message)
                #expect(found.topic == .feed && found.store.description == "counter", "\(found)")
                if case .update = frame { break }
            }
        }
    }

    // MARK: Senders

    @Test func `refuses actions for a store to which a user may not send`() async throws {
        let cluster = try SecuredCounter([line(member, "member send=counter/*")])
        let second = try SecuredCounter.counter("second", on: cluster.node)
        try await cluster.node.start()
        let sender = try await cluster.sender(cluster.security(member), store: "second")
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.message.contains("does not permit member to send to second") == true)
        #expect(rejection?.message.contains("send=second/*") == true)
        #expect(await second.revision == Revision(0))
        // The other store is open to the same user.
        let permitted = try await cluster.sender(cluster.security(member))
        #expect(try await permitted.send(CounterIncreaseRequested()).revision == Revision(1))
        await cluster.node.stop()
    }

    @Test func `takes no frame of a key that was removed, though its connection lives on`() async throws {
        let pair = CurveKeyPair.generate()
        let lines = [line(member, "member follow=* send=*/*")]
        try await withSecured(lines + ["\(pair.publicKey) agent send=*/*"]) { cluster in
            let address = try await cluster.node.address
            let server = try #require(CurvePublicKey(cluster.publicKey.description))
            let peer = try await RawPeer(address, at: address.receipts, .client(pair, server: server))
            let session = SessionID.random()
            let topic = "sc2/counter/receipts/\(session)"
            let watermark = try await peer.watermark(of: session)
            func push(_ number: UInt64) async throws {
                await peer.push(
                    try WireAction.message([WireAction.increase], first: number, session: session, watermark)
                )
            }
            try await push(1)
            guard case .receipts = try await peer.next(on: topic) else {
                Issue.record("no receipt")
                return
            }
            try await cluster.permit(lines)
            try await push(2)
            try await cluster.log.waits(for: "debug: message dropped code=not-permitted")
            // The member's next action follows the first one of the agent.
            let receipt = try await cluster.sender(cluster.security(member)).send(CounterIncreaseRequested())
            #expect(receipt.revision == Revision(2))
        }
    }

    // MARK: Changes of the list

    @Test func `publishes nothing to a key that was removed`() async throws {
        let pair = CurveKeyPair.generate()
        let lines = [line(member, "member follow=* send=*/*")]
        try await withSecured(lines + ["\(pair.publicKey) gone follow=*"]) { cluster in
            let address = try await cluster.node.address
            let server = try #require(CurvePublicKey(cluster.publicKey.description))
            let replica = try await cluster.replica(cluster.security(member))
            let sender = try await cluster.sender(cluster.security(member))
            let gone = try await RawPeer(address, .client(pair, server: server))
            try await gone.subscribe(bytes: [])
            _ = try await gone.nextMessage(on: "sc2/counter/feed")
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            try await cluster.permit(lines)
            while !cluster.log.events.contains(where: { $0.contains(SecuredCounter.cut) }) { await Task.yield() }
            let receipt = try await sender.send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            try await cluster.refused(NodePublicKey(pair.publicKey.description) ?? member.publicKey, at: "feed")
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            for message in await gone.stopReceiving() {
                guard case (_, .update(let update)) = try Message.decode(message) else { continue }
                #expect(update.to < receipt.revision, "published after the removal")
            }
        }
    }

    @Test func `keeps all connections if a list permits more`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(member))
            await replica.waits { $0 == .live }
            try await cluster.permit([line(member, "member follow=* send=*/*"), line(other, "other follow=*")])
            let sender = try await cluster.sender(cluster.security(member))
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            #expect(!cluster.log.events.contains { $0.contains(SecuredCounter.cut) })
        }
    }

    @Test func `keeps its list if the file becomes wrong`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            try await cluster.permit(["wrong"])
            #expect(cluster.log.events.contains { $0.hasPrefix("error: the access list ") && $0.contains("line 1") })
            let sender = try await cluster.sender(cluster.security(member))
            #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
        }
    }

    /// Without a call: a node looks at the file each second.
    @Test func `notices a changed list by itself`() async throws {
        try await withSecured([line(member, "member follow=*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "feed")
            try cluster.write([line(other, "other follow=*")])
            await replica.waits { $0 == .live }
        }
    }

    @Test(arguments: ["counter/CounterIncreaseRequested", "*/Counter*"])
    func `does not start with a list that permits single actions`(_ permission: String) async throws {
        let cluster = try SecuredCounter([line(member, "member send=\(permission)")])
        let failure = await #expect(throws: StatecastError.self) { try await cluster.node.start() }
        #expect(failure?.code == .keys)
        #expect(failure?.message.contains("send=STORE/*") == true)
    }

    @Test func `does not start without its list`() async throws {
        let cluster = try SecuredCounter([]) { $0.security?.accessList = "/nowhere/access" }
        let failure = await #expect(throws: StatecastError.self) { try await cluster.node.start() }
        #expect(failure?.code == .keys)
        #expect(failure?.message.contains("/nowhere/access") == true)
    }
}

@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A node without keys` {
    @Test func `warns at its start if it may use the network`() async throws {
        let log = EventLog()
        var configuration = PrimaryConfiguration.quick
        configuration.plaintext = .trustedNetwork
        let node = try PrimaryNode(configuration: configuration, logger: LogBook.logger(log))
        try await node.start()
        await node.stop()
        #expect(log.events.contains { $0.hasPrefix("warning: nothing encrypts or authenticates the traffic") })
    }
}
