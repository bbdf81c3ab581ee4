import CounterApp
import StateCoding
import Statecast
import SyncProtocol
import Testing

/// What a peer gets wrong is counted, and answered where there is anyone to answer; the primary goes on.
@Suite(.timeLimit(.minutes(10))) struct HostilePeerTests {
    /// The primary still does its work, and its count of changes is what it should be.
    private func expectAlive(_ cluster: CounterPrimary, after applied: UInt64 = 0) async throws {
        let receipt = try await cluster.sender().send(CounterIncreaseRequested())
        #expect(receipt.revision == Revision(applied + 1))
    }

    static let garbage: [[UInt8]] = [
        [], [0], [0xFF], Array("sc1/counter/actions".utf8), Array("sc1/counter/actions\0".utf8),
        Array("sc1/counter/actions\0".utf8) + [0x9F, 0xFF],
        Array("sc1/counter/actions\0".utf8) + [UInt8](repeating: 0x81, count: 100_000),
        Array("sc1/counter/actions\0".utf8) + [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        Array("sc1/counter/actions\0".utf8) + [0x87, 0x09, 0x48],
        Array("sc1/counter/feed\0".utf8) + [0x87, 0x09], Array("sc1/counter/feed\0".utf8),
        Array("sc9/counter/actions\0".utf8) + [0x80], Array("GET / HTTP/1.1\r\n\r\n".utf8),
        [UInt8](repeating: 0x00, count: 300_000), [UInt8](repeating: 0xA1, count: 300_000),
    ]

    @Test(arguments: garbage) func `garbage that is pushed is dropped`(_ bytes: [UInt8]) async throws {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            await peer.push(bytes)
            let session = SessionID.random()
            let watermark = try await peer.watermark(of: session)
            await peer.push(try WireAction.message([WireAction.increase], first: 1, session: session, watermark))
            guard case .receipts(let receipts) = try await peer.next(on: "sc1/counter/receipts/\(session)") else {
                Issue.record("no receipt behind the garbage")
                return
            }
            #expect(receipts.outcomes == [.applied(Revision(1))])
            try await expectAlive(cluster, after: 1)
        }
    }

    @Test func `a frame over the limit is dropped, and a peer far beyond is cut off alone`() async throws {
        try await withCounter {
            $0.limits.frameBytesMax = 4096
        } _: { cluster in
            let peer = try await RawPeer(cluster.address)
            await peer.push([UInt8](repeating: 1, count: 5000))
            await peer.push([UInt8](repeating: 1, count: 100_000))
            try await expectAlive(cluster)
        }
    }

    @Test func `a store that is not there is refused by name, to joiners and to senders`() async throws {
        try await withCounter { cluster in
            let replica = try Replica<Counter>(store: "conter", from: cluster.address.publish, configuration: .quick)
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
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
            #expect(rejection?.code == .unknownStore)
            try await expectAlive(cluster)
        }
    }

    @Test func `an unknown action is rejected with the names of those that are known`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let rejection = await #expect(throws: Rejection.self) {
                try await sender.send(named: "CounterResetRequested", payload: .map(ValueMap()))
            }
            #expect(rejection?.code == .unknownAction)
            #expect(rejection?.message.contains("CounterIncreaseRequested") == true)
            #expect(try await sender.send(CounterIncreaseRequested()).number == ActionNumber(2))
        }
    }

    @Test func `a payload that does not decode is rejected with its field`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            for payload in [["step": "abc"], [:], ["step": 1.5]] as [Value] {
                let rejection = await #expect(throws: Rejection.self) {
                    try await sender.send(named: "StepChangeRequested", payload: payload)
                }
                #expect(rejection?.code == .undecodable)
                #expect(rejection?.message.contains("step") == true)
            }
            try await expectAlive(cluster)
        }
    }

    @Test func `a text that nobody could compare is rejected, under whatever key`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let text = String(repeating: "\u{301}\u{316}", count: 10_000)
            for payload in [["step": .text(text)], ["step": 1, "note": .text(text)], [.text(text): 1]] as [Value] {
                let rejection = await #expect(throws: Rejection.self) {
                    try await sender.send(named: "StepChangeRequested", payload: payload)
                }
                #expect(rejection?.code == .undecodable)
                #expect(rejection?.message.contains("at most 1024 combining marks in a row") == true)
            }
            try await expectAlive(cluster)
        }
    }

    @Test func `a number that lies ahead is answered with the one expected, one seen before with its receipt`()
        async throws
    {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            let session = SessionID.random()
            let watermark = try await peer.watermark(of: session)
            #expect(watermark.number == nil)
            let topic = "sc1/counter/receipts/\(session)"
            let actions = [WireAction.increase, WireAction.increase]
            await peer.push(try WireAction.message(actions, first: 3, session: session, watermark))
            #expect(
                try await peer.next(on: topic)
                    == .expected(Expected(lineage: watermark.lineage, number: ActionNumber(1)))
            )
            await peer.push(try WireAction.message(actions, first: 1, session: session, watermark))
            let receipts = try await peer.next(on: topic)
            guard case .receipts(let first) = receipts else {
                Issue.record("\(receipts)")
                return
            }
            #expect(first.outcomes == [.applied(Revision(1)), .applied(Revision(2))])
            await peer.push(try WireAction.message(actions, first: 1, session: session, watermark))
            #expect(try await peer.next(on: topic) == receipts)
            #expect(await cluster.primary.revision == Revision(2))
        }
    }

    @Test func `another version of the protocol is answered in a form that every version reads`() async throws {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            for topic in ["sc2/counter/join/0123456789abcdef/none", "sc2/counter/whatever"] {
                try await peer.subscribe(topic)
                guard case .refusal(let refusal) = try await peer.next(on: topic) else {
                    Issue.record("not refused: \(topic)")
                    continue
                }
                #expect(refusal.reason.code == .unsupportedVersion)
            }
            try await expectAlive(cluster)
        }
    }

    @Test(arguments: [
        "sc1/counter/join/0123/none", "sc1/counter/join/0123456789abcdef/1.2", "sc1/counter/join/0123456789abcdef",
        "sc1/counter/join/0123456789abcdef/none/more", "sc1/counter/receipts/xyz", "sc1/counter/nothing",
        "sc1/counter/snapshot/0123456789abcdef/1/99999999999",
    ])
    func `a topic that is not well-formed is refused`(_ topic: String) async throws {
        try await withCounter { cluster in
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(topic)
            guard case .refusal(let refusal) = try await peer.next(on: topic) else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.reason.code == .malformed)
            try await expectAlive(cluster)
        }
    }

    /// What a reader of another sender's receipts may subscribe to that is not exactly their topic.
    enum Misfit: CaseIterable, Sendable {
        case withoutZero, withFrame

        func bytes(_ topic: String) -> [UInt8] {
            switch self {
            case .withoutZero: Array(topic.utf8)
            // A victim that reads from the first zero byte finds a refusal that the reader wrote.
            case .withFrame:
                Array(topic.utf8) + [0, 0x87, 0x07, 0x69] + Array("malformed".utf8) + [0x61, 0x78, 0xF6, 0xF6, 0]
            }
        }
    }

    @Test(arguments: Misfit.allCases)
    func `a reader of another sender's receipts cannot speak to that sender`(misfit: Misfit) async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let first = try await sender.send(CounterIncreaseRequested())
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: misfit.bytes("sc1/counter/receipts/\(first.session)"))
            try await peer.answered()
            let second = try await sender.send(CounterIncreaseRequested())
            #expect(second.session == first.session)
            #expect(second.revision == Revision(2))
        }
    }

    @Test func `a reader of a chunk's topic cannot speak to those who pull the snapshot`() async throws {
        try await withCounter { cluster in
            let victim = try await RawPeer(cluster.address)
            let join = "sc1/counter/join/0123456789abcdef/none"
            try await victim.subscribe(join)
            guard case .welcome(let welcome) = try await victim.next(on: join), let offer = welcome.offer else {
                Issue.record("no offer")
                return
            }
            let chunk = "sc1/counter/snapshot/\(welcome.lineage)/\(offer.revision)/0"
            try await victim.subscribe(chunk)
            guard case .chunk = try await victim.next(on: chunk) else {
                Issue.record("no chunk")
                return
            }
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: Array(chunk.utf8))
            try await peer.answered()
            // Whatever the reader brought about comes before the answer to this.
            try await victim.unsubscribe(chunk)
            try await victim.subscribe(chunk)
            guard case .chunk = try await victim.next(on: chunk) else {
                Issue.record("something else than the chunk")
                return
            }
        }
    }

    @Test(arguments: [(UInt64(0), UInt64(2)), (3, 2), (1, 1 << 62)])
    func `numbers that are not well-formed in another sender's session do not reach it`(base: UInt64, first: UInt64)
        async throws
    {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let session = try await sender.send(CounterIncreaseRequested()).session
            let peer = try await RawPeer(cluster.address)
            let (own, actions) = (SessionID.random(), [WireAction.increase])
            let watermark = try await peer.watermark(of: own)
            await peer.push(try WireAction.message(actions, first: first, session: session, watermark, base: base))
            await peer.push(try WireAction.message(actions, first: 1, session: own, watermark))
            guard case .receipts = try await peer.next(on: "sc1/counter/receipts/\(own)") else {
                Issue.record("no receipt")
                return
            }
            let next = try await sender.send(CounterIncreaseRequested())
            #expect(next.session == session)
            #expect(next.revision == Revision(3))
        }
    }

    @Test func `a subscription of 10 KB cuts off its sender, and nobody else`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            let peer = try await RawPeer(cluster.address)
            try await peer.subscribe(bytes: Array("sc1/counter/feed\0".utf8) + [UInt8](repeating: 0x61, count: 10_000))
            let receipt = try await cluster.sender().send(CounterIncreaseRequested())
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state.counter == 1)
        }
    }

    @Test func `thousands of joins at once are all answered, abandoned ones do no harm`() async throws {
        try await withCounter {
            $0.limits.joinsWaitingMax = 100_000
        } _: { cluster in
            let peer = try await RawPeer(cluster.address)
            let topics = (0..<5000).map { "sc1/counter/join/" + hexadecimal($0) + "/none" }
            for (index, topic) in topics.enumerated() {
                try await peer.subscribe(topic)
                if index % 2 == 1 { try await peer.unsubscribe(topic) }
            }
            guard case .welcome(let welcome) = try await peer.next(on: topics[4998]) else {
                Issue.record("the last joiner was not welcomed")
                return
            }
            #expect(welcome.offer != nil)
            try await expectAlive(cluster)
        }
    }

    @Test func `joins beyond the queue are told to come again`() async throws {
        try await withCounter {
            $0.limits.joinsWaitingMax = 0
        } _: { cluster in
            let peer = try await RawPeer(cluster.address)
            let topic = "sc1/counter/join/0123456789abcdef/none"
            try await peer.subscribe(topic)
            guard case .refusal(let refusal) = try await peer.next(on: topic) else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.reason.code == .busy)
            #expect(refusal.retryAfter != nil)
            try await expectAlive(cluster)
        }
    }

    private func hexadecimal(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
