import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The frame router` {
    let router = FrameRouter(stores: [Fixture.store("fleet"), Fixture.store("counter")])

    private func route(_ text: String, closed: Bool = true) -> FrameRouter.Route<Topic> {
        router.subscription(Array(text.utf8)[...] + (closed ? [0] : []))
    }

    private func refusal<Content>(in route: FrameRouter.Route<Content>) -> (code: Rejection.Code, address: String)? {
        guard case .answer(let refusal, let address) = route else { return nil }
        return (refusal.reason.code, String(decoding: address, as: UTF8.self))
    }

    private static let frame = Fixture.frame([[1]])

    @Test func `a subscription to a known store is routed`() {
        #expect(route("sc2/counter/feed") == .store(Fixture.store("counter"), .feed))
    }

    @Test func `an unknown store is refused on the subscribed topic, naming the known ones`() throws {
        for topic in ["feed", "schema", "join/0000000000000001/none"] {
            let route = route("sc2/other/\(topic)")
            let answer = try #require(refusal(in: route))
            #expect(answer.code == .unknownStore)
            #expect(answer.address == "sc2/other/\(topic)\0")
            guard case .answer(let refusal, _) = route else { return }
            #expect(refusal.reason.message.contains("counter, fleet"))
            #expect(refusal.retryAfter == nil)
        }
    }

    @Test func `another version is refused on the subscribed bytes`() throws {
        for text in ["sc0/fleet/feed", "sc1/fleet/join/whatever/it/means"] {
            let answer = try #require(refusal(in: route(text)))
            #expect(answer.code == .unsupportedVersion)
            #expect(answer.address == text + "\0")
        }
    }

    private static let receipts = "sc2/fleet/receipts/\(Fixture.session)"
    private static let chunk = "sc2/fleet/snapshot/\(Fixture.lineage)/1/0"

    @Test(arguments: ["sc2", "sc2/fleet", "sc2/fleet/", "sc2/fleet/join/", "sc2/fleet/receipts/0"])
    func `an unknown topic is refused on the subscribed bytes`(text: String) throws {
        let answer = try #require(refusal(in: route(text)))
        #expect(answer.code == .malformed)
        #expect(answer.address == text + "\0")
    }

    @Test(arguments: [
        "sc2", "sc2/", "sc2/fleet", "sc2/fleet/feed", "sc2/other/feed", "sc1/fleet/feed", receipts, chunk,
    ])
    func `a subscription without the zero byte is dropped: the answer would reach other subscribers`(
        text: String
    ) {
        #expect(route(text, closed: false) == .drop(.malformed))
    }

    @Test(arguments: ["sc2/fleet", "sc2/other/feed", "sc1/fleet/feed", receipts, chunk])
    func `a subscription with a zero byte inside is dropped: its answer would be read as a frame`(
        text: String
    ) {
        for rest in ["\0", "\0\u{6}", "\0\u{6}\0", "/\0/feed"] {
            #expect(route(text + rest) == .drop(.malformed))
        }
    }

    @Test(arguments: ["", "s", "sc", "x", "feed", "\u{0}"]) func `subscriptions of other protocols are dropped`(
        text: String
    ) {
        #expect(route(text, closed: false) == .drop(.malformed))
        if !text.hasPrefix("sc") { #expect(route(text) == .drop(.malformed)) }
    }

    @Test func `subscriptions of more than maxTopicBytes bytes get no answer`() throws {
        func subscription(_ count: Int) -> ArraySlice<UInt8> {
            Array(("sc1/" + String(repeating: "x", count: count - 5)).utf8)[...] + [0]
        }
        guard case .answer(_, let address) = router.subscription(subscription(Limits.maxTopicBytes)) else {
            Issue.record("expected an answer")
            return
        }
        #expect(address.count == Limits.maxTopicBytes)
        #expect(router.subscription(subscription(Limits.maxTopicBytes + 1)) == .drop(.malformed))
        #expect(router.subscription(subscription(Limits.maxSubscriptionBytes)) == .drop(.malformed))
    }

    @Test func `actions for a known store are routed`() {
        let message = Message.encode(Self.frame, Fixture.secret, to: Address(Fixture.store(), .actions).bytes)
        #expect(router.actions(message) == .store(Fixture.store(), Self.frame))
    }

    @Test func `actions for an unknown store are refused on the receipts of their session`() throws {
        let store = Fixture.store("other")
        let message = Message.encode(Self.frame, Fixture.secret, to: Address(store, .actions).bytes)
        let answer = try #require(refusal(in: router.actions(message)))
        #expect(answer.code == .unknownStore)
        #expect(Array(answer.address.utf8) == Address(store, .receipts(Fixture.session)).bytes)
        guard case .answer(let refusal, _) = router.actions(message) else { return }
        #expect(refusal.frame == Self.frame.identity)
    }

    @Test func `actions of another version are dropped`() {
        for topic in ["sc7/fleet/actions\0", "sc1/fleet/actions\0", "sc7/fleet/deeds\0"] {
            let message = Message.encode(Self.frame, Fixture.secret, to: Array(topic.utf8))
            #expect(router.actions(message) == .drop(.unsupportedVersion))
        }
    }

    @Test(arguments: ["sc2/fleet/actions\0", "sc2/other/actions\0"])
    func `actions that are not well-formed are dropped`(topic: String) {
        func dropped(
            base: UInt64,
            lowest: UInt64? = nil,
            first: UInt64,
            count: Int
        ) -> Bool {
            let frame = ActionsFrame(
                lineage: Fixture.otherLineage,
                session: Fixture.session,
                opened: JournalSequence(0),
                base: ActionNumber(base),
                lowest: lowest.map(ActionNumber.init),
                first: ActionNumber(first),
                actions: Array(repeating: [0], count: count)
            )
            let message = Message.encode(frame, Fixture.secret, to: Array(topic.utf8))
            return router.actions(message) == .drop(.malformed)
        }
        #expect(dropped(base: 0, first: 1, count: 1))
        #expect(dropped(base: 2, first: 1, count: 1))
        #expect(dropped(base: 1, first: 1 << 62, count: 1))
        #expect(dropped(base: 1, first: .max, count: 1))
        #expect(dropped(base: 1, first: 1, count: 0))
        #expect(dropped(base: 3, lowest: 2, first: 5, count: 1))
        #expect(dropped(base: 3, lowest: 6, first: 5, count: 1))
        #expect(!dropped(base: 3, lowest: 3, first: 5, count: 1))
        #expect(!dropped(base: 3, lowest: 5, first: 5, count: 1))
        #expect(!dropped(base: 1, first: 1, count: 1))
    }

    @Test func `pushed messages that are no frame of actions are dropped`() {
        let heartbeat = Frame.expected(Expected(lineage: Fixture.lineage, number: ActionNumber(1)))
        for message in [
            [], [0], Array("sc2/fleet/actions".utf8), Array("sc2/fleet/actions\0".utf8),
            Message.encode(heartbeat, to: Address(Fixture.store(), .actions)),
            Message.encode(Self.frame, Fixture.secret, to: Address(Fixture.store(), .feed).bytes),
            Array(repeating: UInt8(ascii: "x"), count: 300) + [0],
        ] { #expect(router.actions(message) == .drop(.malformed)) }
    }
}
