import CounterApp
import Foundation
import Logging
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// Who may follow and send at a primary with keys. All traffic is on this machine; libzmq is real.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary with keys` {
    private let member = NodeKeys.generate()
    private let other = NodeKeys.generate()

    private func line(_ keys: NodeKeys, _ rest: String) -> String { "\(keys.publicKey) \(rest)" }

    private func line(_ keys: CurveKeyPair, _ rest: String) -> String { "\(keys.publicKey) \(rest)" }

    private func publicKey(_ keys: CurveKeyPair) throws -> NodePublicKey {
        try #require(NodePublicKey(keys.publicKey.description))
    }

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

    @Test func `A primary with keys serves those that its list permits`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let security = cluster.security(member)
            let replica = try await cluster.replica(security)
            let receipt = try await cluster.sender(security).send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state.counter == 1)
        }
    }

    @Test func `A primary with keys binds beyond this machine`() async throws {
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

    @Test func `A primary with keys refuses an unlisted key, says so, and accepts it once it is listed`() async throws {
        try await withSecured([line(member, "member follow=*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "publish")
            #expect(replica.snapshot == nil)
            try await cluster.permit([line(member, "member follow=*"), line(other, "other follow=*")])
            await replica.waits { $0 == .live }
        }
    }

    @Test func `A primary with keys connects to no peer without keys, nor to one for another primary`() async throws {
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

    @Test func `A primary with keys separates those that follow from those that send`() async throws {
        try await withSecured([line(member, "board follow=*"), line(other, "agent send=counter/*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(member))
            let sender = try await cluster.sender(cluster.security(other))
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            _ = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "publish")
            _ = try await cluster.sender(cluster.security(member))
            try await cluster.refused(member.publicKey, at: "receipts")
        }
    }

    @Test func `A primary with keys admits a follower only with the right to all stores of an endpoint`() async throws {
        let cluster = try SecuredCounter([line(member, "member follow=*"), line(other, "other follow=counter")])
        _ = try Primary.counter(on: cluster.node, store: "second")
        try await cluster.node.start()
        let replica = try await cluster.replica(cluster.security(member))
        await replica.waits { $0 == .live }
        _ = try await cluster.replica(cluster.security(other))
        try await cluster.refused(other.publicKey, at: "publish")
        await cluster.node.stop()
    }

    @Test func `A store with an endpoint of its own is published only to those that may follow it`() async throws {
        let pair = CurveKeyPair.generate()
        let senders = [line(other, "other send=*/*")]
        let cluster = try SecuredCounter(
            [line(member, "member follow=counter"), line(pair, "reader follow=second")] + senders
        ) {
            $0.storeEndpoints = ["second": "tcp://127.0.0.1:*"]
        }
        _ = try Primary.counter(on: cluster.node, store: "second")
        let endpoint = try #require(try await cluster.node.start().storeEndpoints["second"])
        let replica = try await cluster.replica(cluster.security(member))
        let sender = try await cluster.sender(cluster.security(other))
        let second = try await cluster.sender(cluster.security(other), store: "second")
        let reader = try await cluster.peer(pair, at: endpoint)
        try await reader.subscribe(bytes: [])
        _ = try await reader.nextMessage(on: "sc2/second/feed")
        // What a replica subscribes to, of a store at the other endpoint, and of none.
        for (store, code) in [("counter", Rejection.Code.notPermitted), ("nowhere", .unknownStore)] {
            let topic = "sc2/\(store)/join/0011223344556677/none"
            try await reader.subscribe(topic)
            let refusal = try await reader.refusal(on: topic)
            #expect(refusal.reason.code == code)
            #expect(refusal.reason.message.contains("counter") == (store == "counter"))
        }
        let misled = try await cluster.peer(pair)
        try await cluster.refused(publicKey(pair), at: "publish")
        // It tries as long as it exists.
        withExtendedLifetime(misled) {}
        #expect(cluster.log.events.contains { $0.contains("does not permit reader to follow counter") })
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        // The last message of the reader's store, after those of the other store.
        let last = try await second.send(CounterIncreaseRequested())
        for await message in reader.received {
            let (found, frame) = try Message.decode(message)
            #expect(found.store.description == "second", "\(found)")
            if case .update(let update) = frame, update.to == last.revision { break }
        }
        // Only the connections of the endpoint concerned are closed.
        try await cluster.permit([line(member, "member follow=counter")] + senders)
        try await cluster.logs { $0.contains(SecuredCounter.cut) && $0.contains(endpoint) }
        try await replica.reached(sender.send(CounterIncreaseRequested()))
        #expect(!cluster.log.events.contains { $0.contains(SecuredCounter.cut) && !$0.contains(endpoint) })
        await cluster.node.stop()
    }

    @Test func `A primary with keys has a list of its own beside another node of the process`() async throws {
        try await withSecured([line(member, "member follow=*")]) { first in
            try await withSecured([line(other, "other follow=*")]) { second in
                let replicas = [
                    try await first.replica(first.security(member)), try await second.replica(second.security(other)),
                ]
                for replica in replicas { await replica.waits { $0 == .live } }
                _ = try await first.replica(first.security(other))
                try await first.refused(other.publicKey, at: "publish")
                _ = try await second.replica(second.security(member))
                try await second.refused(member.publicKey, at: "publish")
            }
        }
    }

    // MARK: Wrong sockets

    @Test func `A primary with keys tells a member that connects to the wrong endpoint`() async throws {
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
    @Test func `A primary with keys answers a strange subscription on the socket that received it`() async throws {
        let (reader, writer) = (CurveKeyPair.generate(), CurveKeyPair.generate())
        try await withSecured([line(reader, "reader follow=*"), line(writer, "writer send=*/*")]) { cluster in
            let session = try await RawSession(of: try await cluster.peer(writer, sends: true))
            let all = try await cluster.peer(reader)
            try await all.subscribe(bytes: [])
            try await session.send(first: 1)
            // From here on it receives all that is published with states.
            _ = try await all.nextMessage(on: "sc2/counter/feed")
            let asking = try await cluster.peer(writer, sends: true)
            for topic in ["sc9/counter/feed", "sc2/nowhere/feed", "sc2/counter/feed", "sc2/counter/schema"] {
                try await asking.subscribe(topic)
                try await asking.refusal(on: topic)
            }
            // Published after the refusals.
            try await session.send(first: 2)
            for await message in all.received {
                let (found, frame) = try Message.decode(message)
                #expect(found.topic == .feed && found.store.description == "counter", "\(found)")
                if case .update(let update) = frame, update.to == Revision(2) { break }
            }
        }
    }

    // MARK: Senders

    @Test func `A primary with keys refuses actions for a store to which a user may not send`() async throws {
        let cluster = try SecuredCounter([line(member, "member send=counter/*")])
        let second = try Primary.counter(on: cluster.node, store: "second")
        try await cluster.node.start()
        let sender = try await cluster.sender(cluster.security(member), store: "second")
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.message.contains("no action of second") == true)
        #expect(await second.revision == Revision(0))
        // The other store is open to the same user.
        let permitted = try await cluster.sender(cluster.security(member))
        #expect(try await permitted.send(CounterIncreaseRequested()).revision == Revision(1))
        await cluster.node.stop()
    }

    @Test
    func `A primary with keys applies only permitted actions, from the next message after a change on`() async throws {
        func line(_ actions: String) -> String { self.line(member, "member send=\(actions)") }
        try await withSecured([line("counter/CounterI*")]) { cluster in
            let sender = try await cluster.sender(cluster.security(member))
            #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
            let rejection = await #expect(throws: Rejection.self) {
                try await sender.send(StepChangeRequested(step: 5))
            }
            #expect(rejection?.code == .notPermitted)
            #expect(rejection?.message.contains("send=counter/StepChangeRequested") == true)
            #expect(cluster.log.events.contains { $0.contains("action rejected") && $0.contains("user=member") })
            // From the next frame on, on the same connection.
            try await cluster.permit([line("counter/*")])
            #expect(try await sender.send(StepChangeRequested(step: 5)).revision == Revision(2))
            try await cluster.permit([line("counter/StepChangeRequested,other/*")])
            await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
            #expect(!cluster.log.events.contains { $0.contains(SecuredCounter.cut) })
        }
    }

    @Test func `A primary with keys refuses the connection of a user whose rights match no action`() async throws {
        try await withSecured([line(member, "member send=counter/CounterIncreased,other/*")]) { cluster in
            _ = try await cluster.sender(cluster.security(member))
            try await cluster.refused(member.publicKey, at: "receipts")
        }
    }

    /// Receipts show the topics of all sessions to all who may send.
    @Test func `a session cannot be continued by those who know its topic`() async throws {
        let (owner, other) = (CurveKeyPair.generate(), CurveKeyPair.generate())
        try await withSecured([line(owner, "owner send=*/*"), line(other, "owner send=*/*")]) { cluster in
            let session = try await RawSession(of: try await cluster.peer(owner, sends: true))
            #expect(try await session.push(1) == .applied(Revision(1)))
            let seen = session.secret.session
            let guess = SessionSecret(high: seen.high, low: seen.low)
            // It is the secret of another session.
            let intruder = try await RawSession(guess, of: try await cluster.peer(other, sends: true))
            #expect(intruder.watermark.number == nil)
            #expect(try await intruder.push(1) == .applied(Revision(2)))
            #expect(try await session.push(2) == .applied(Revision(3)))
        }
    }

    @Test func `a session belongs to its user, whatever keys the user has`() async throws {
        let pairs = (0..<3).map { _ in CurveKeyPair.generate() }
        let lines = zip(pairs, ["owner", "owner", "thief"]).map { line($0, "\($1) send=*/*") }
        try await withSecured(lines) { cluster in
            let first = try await RawSession(of: try await cluster.peer(pairs[0], sends: true))
            #expect(try await first.push(1) == .applied(Revision(1)))
            let thief = try await cluster.peer(pairs[2], sends: true)
            await thief.push(try first.message(first: 2))
            try await cluster.logs { $0.contains("user=thief") && $0.contains("owner=owner") }
            // The key is replaced: the same user continues the session with another one.
            var second = first
            func useSecondKey() async throws {
                second.peer = try await cluster.peer(pairs[1], sends: true)
                try await second.peer.subscribe(first.topic)
            }
            try await useSecondKey()
            #expect(try await second.push(2) == .applied(Revision(2)))
            try await cluster.permit(Array(lines.dropFirst()))
            let key = try #require(NodePublicKey(pairs[0].publicKey.description))
            try await cluster.refused(key, at: "actions")
            // The connections were closed, and a frame on the way can be lost.
            try await useSecondKey()
            #expect(try await second.push(3) == .applied(Revision(3)))
        }
    }

    @Test func `A primary with keys closes the connection of a removed key, and takes no frame of it`() async throws {
        let pair = CurveKeyPair.generate()
        let lines = [line(member, "member follow=* send=*/*")]
        try await withSecured(lines + [line(pair, "agent send=*/*")]) { cluster in
            let session = try await RawSession(of: try await cluster.peer(pair, sends: true))
            #expect(try await session.push(1) == .applied(Revision(1)))
            try await cluster.permit(lines)
            try await session.send(first: 2)
            let key = try #require(NodePublicKey(pair.publicKey.description))
            try await cluster.refused(key, at: "actions")
            // The member's next action follows the first one of the agent.
            let receipt = try await cluster.sender(cluster.security(member)).send(CounterIncreaseRequested())
            #expect(receipt.revision == Revision(2))
        }
    }

    /// An answer would reach the sender that owns the session.
    @Test
    func `A primary with keys does not answer a user without the right who names a store's session`() async throws {
        let (owner, stranger) = (CurveKeyPair.generate(), CurveKeyPair.generate())
        let cluster = try SecuredCounter([
            line(owner, "owner send=counter/*"), line(stranger, "stranger send=second/*"),
        ])
        _ = try Primary.counter(on: cluster.node, store: "second")
        try await cluster.node.start()
        let session = try await RawSession(of: try await cluster.peer(owner, sends: true))
        let intruder = try await cluster.peer(stranger, sends: true)
        try await intruder.subscribe(session.topic)
        await intruder.push(try session.message(first: 1))
        try await cluster.dropped(2)
        try await session.send(first: 1)
        // Otherwise the owner of the session got an answer to the intruder.
        let receipts = try await session.peer.receipts(on: session.topic)
        #expect(receipts.outcomes.outcome(of: ActionNumber(1)) == .applied(Revision(1)))
        await cluster.node.stop()
    }

    @Test func `A primary with keys ends a handshake after five seconds`() {
        let pair = CurveKeyPair.generate()
        let security = CurveSecurity.client(pair, server: pair.publicKey)
        for options in [SocketOptions.publisher(PrimaryConfiguration(), security), .puller(Limits(), security)] {
            #expect(options.handshakeInterval == .seconds(5))
        }
        #expect(SocketOptions.publisher(PrimaryConfiguration()).handshakeInterval == .seconds(30))
    }

    // MARK: Changes of the list

    @Test func `A primary with keys publishes no states to a key that was removed`() async throws {
        let pair = CurveKeyPair.generate()
        let lines = [line(member, "member follow=* send=*/*")]
        try await withSecured(lines + [line(pair, "gone follow=*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(member))
            let sender = try await cluster.sender(cluster.security(member))
            let gone = try await cluster.peer(pair)
            try await gone.subscribe(bytes: [])
            _ = try await gone.nextMessage(on: "sc2/counter/feed")
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            try await cluster.permit(lines)
            try await cluster.cut()
            let receipt = try await sender.send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            try await cluster.refused(publicKey(pair), at: "publish")
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            // The primary publishes heartbeats and, for a join, a snapshot.
            let other = try await cluster.replica(cluster.security(member))
            await other.waits { $0 == .live }
            for message in await gone.stopReceiving() {
                let (address, frame) = try Message.decode(message)
                let revision: Revision
                switch (address.topic, frame) {
                case (_, .update(let update)): revision = update.to
                case (_, .heartbeat(let heartbeat)): revision = heartbeat.head
                case (_, .welcome(let welcome)): revision = welcome.head
                case (.snapshot(_, let snapshot, _), _): revision = snapshot
                default: continue
                }
                #expect(revision < receipt.revision, "published after the removal")
            }
        }
    }

    @Test func `A primary with keys publishes no receipts to a key that was removed`() async throws {
        let pair = CurveKeyPair.generate()
        let lines = [line(member, "member send=*/*")]
        try await withSecured(lines + [line(pair, "gone send=*/*")]) { cluster in
            let sender = try await cluster.sender(cluster.security(member))
            let gone = try await cluster.peer(pair, sends: true)
            try await gone.subscribe(bytes: [])
            try await gone.answered(store: "counter")
            _ = try await sender.send(CounterIncreaseRequested())
            var arrived: [[UInt8]] = []
            for await message in gone.received {
                arrived.append(message)
                if case (_, .receipts) = try Message.decode(message) { break }
            }
            try await cluster.permit(lines)
            try await cluster.cut()
            _ = try await sender.send(CounterIncreaseRequested())
            try await cluster.refused(publicKey(pair), at: "receipts")
            _ = try await sender.send(CounterIncreaseRequested())
            for message in await gone.stopReceiving() {
                guard case (_, .receipts(let receipts)) = try Message.decode(message) else { continue }
                #expect(receipts.outcomes.outcome(of: ActionNumber(2)) == nil, "published after the removal")
            }
        }
    }

    @Test func `A primary with keys tells a sender that it has lost the right to one of its stores`() async throws {
        let cluster = try SecuredCounter([line(member, "member send=*/*")])
        _ = try Primary.counter(on: cluster.node, store: "second")
        try await cluster.node.start()
        let sender = try await cluster.sender(cluster.security(member), store: "second")
        _ = try await sender.send(CounterIncreaseRequested())
        try await cluster.permit([line(member, "member send=counter/*")])
        for await status in sender.statuses {
            guard case .refused(let reason) = status else { continue }
            #expect(reason.code == .notPermitted && reason.message.contains("no action of second"))
            break
        }
        await cluster.node.stop()
    }

    @Test func `A primary with keys serves after another one in its process`() async throws {
        for _ in 0..<2 {
            let cluster = try SecuredCounter([line(member, "member follow=*")])
            try await cluster.node.start()
            let replica = try await cluster.replica(cluster.security(member))
            await replica.waits { $0 == .live }
            let stranger = NodeKeys.generate()
            _ = try await cluster.replica(cluster.security(stranger))
            try await cluster.refused(stranger.publicKey, at: "publish")
            await cluster.node.stop()
        }
    }

    @Test func `A primary with keys keeps all connections if a list permits more`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(member))
            await replica.waits { $0 == .live }
            try await cluster.permit([line(member, "member follow=* send=*/*"), line(other, "other follow=*")])
            let sender = try await cluster.sender(cluster.security(member))
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            #expect(!cluster.log.events.contains { $0.contains(SecuredCounter.cut) })
        }
    }

    @Test func `A primary with keys keeps its list if the file becomes wrong`() async throws {
        try await withSecured([line(member, "member follow=* send=*/*")]) { cluster in
            try await cluster.permit(["wrong"])
            #expect(cluster.log.events.contains { $0.hasPrefix("error: the access list ") && $0.contains("line 1") })
            let sender = try await cluster.sender(cluster.security(member))
            #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
        }
    }

    /// Without a call: a node looks at the file each second.
    @Test func `A primary with keys notices a changed list by itself`() async throws {
        try await withSecured([line(member, "member follow=*")]) { cluster in
            let replica = try await cluster.replica(cluster.security(other))
            try await cluster.refused(other.publicKey, at: "publish")
            try cluster.write([line(other, "other follow=*")])
            await replica.waits { $0 == .live }
        }
    }

    @Test func `A primary with keys does not start with an empty list`() async throws {
        let cluster = try SecuredCounter(["# no key"])
        let failure = await #expect(throws: StatecastError.self) { try await cluster.node.start() }
        #expect(failure?.code == .keys)
        #expect(failure?.message.contains("contains no key") == true)
    }

    @Test func `A primary with keys does not start without its list`() async throws {
        let cluster = try SecuredCounter([]) { $0.security?.accessList = "/nowhere/access" }
        let failure = await #expect(throws: StatecastError.self) { try await cluster.node.start() }
        #expect(failure?.code == .keys)
        #expect(failure?.message.contains("/nowhere/access") == true)
    }
}

@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A node without keys` {
    @Test func `A node without keys warns at its start if it may use the network`() async throws {
        let log = EventLog()
        var configuration = PrimaryConfiguration.quick
        configuration.plaintext = .trustedNetwork
        let node = try PrimaryNode(configuration: configuration, logger: LogBook.logger(log))
        try await node.start()
        await node.stop()
        #expect(log.events.contains { $0.hasPrefix("warning: nothing encrypts or authenticates the traffic") })
    }
}
