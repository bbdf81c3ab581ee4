import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Topics` {
    static let longestName = Fixture.store(String(repeating: "n", count: StoreName.maxBytes))
    static let topics: [Topic] = [
        .feed, .schema, .actions,
        .join(Nonce(bits: 0), nil), .join(Nonce(bits: .max), nil), .join(Nonce(bits: 7), Fixture.position(0)),
        .join(
            Nonce(bits: .max),
            Position(lineage: Lineage(bits: .max), epoch: Epoch(.max), revision: Revision(.max))
        ),
        .receipts(SessionID(high: 0, low: 0)), .receipts(SessionID(high: .max, low: .max)),
        .snapshot(Lineage(bits: 0), Revision(0), index: 0), .snapshot(Lineage(bits: 0), Revision(0), index: 1),
        .snapshot(Lineage(bits: 0), Revision(0), index: 10),
        .snapshot(Lineage(bits: .max), Revision(.max), index: .max),
        .peer(Nonce(bits: 0), PeerName("a"), nil), .peer(Nonce(bits: 0), PeerName("a"), Fixture.position(0)),
        .peer(
            Nonce(bits: .max),
            PeerName(String(repeating: "n", count: 100)),
            Position(lineage: Lineage(bits: .max), epoch: Epoch(.max), revision: Revision(.max))
        ),
    ]
    static let addresses = [Fixture.store("a"), Fixture.store("a.b_C-9"), longestName].flatMap { store in
        topics.map { Address(store, $0) }
    }

    @Test(arguments: addresses) func `every address decodes to the encoded value`(address: Address) throws {
        #expect(try Address(parsing: address.bytes[...]) == address)
        let shifted = [9, 9] + address.bytes
        #expect(try Address(parsing: shifted[2...]) == address, "a slice that does not begin at zero")
    }

    @Test(arguments: addresses) func `topics of receipts are recognized in a message`(address: Address) {
        let isOfReceipts = if case .receipts = address.topic { true } else { false }
        #expect(Message.isOfReceipts(address.bytes + Array("/receipts/x".utf8)) == isOfReceipts)
    }

    @Test(arguments: ["sc9/a/receipts/1\0", "sc1/a/receipts/\0x", "sc9/a/b/receipts/1\0"])
    func `topics of receipts are recognized in other versions`(text: String) {
        #expect(Message.isOfReceipts(Array(text.utf8)))
    }

    @Test(arguments: ["", "\0", "sc2/receipts/a\0", "sc2/a/receipts\0", "sc2/a/receipts/1", "sc2/receipts/feed\0"])
    func `what is no address of receipts is not recognized as one`(text: String) {
        #expect(!Message.isOfReceipts(Array(text.utf8)))
    }

    @Test func `no topic is a prefix of another`() {
        for left in Self.addresses {
            for right in Self.addresses where left != right { #expect(!right.bytes.starts(with: left.bytes)) }
        }
    }

    @Test(arguments: topics) func `a topic has at most maxTopicBytes bytes, its store having the longest name`(
        topic: Topic
    ) {
        #expect(Address(Self.longestName, topic).bytes.count <= Limits.maxTopicBytes)
    }

    @Test func `a topic begins with a printable byte and ends with the only zero byte`() throws {
        for address in Self.addresses {
            #expect(address.bytes.first == UInt8(ascii: "s"))
            #expect(address.bytes.firstIndex(of: 0) == address.bytes.count - 1)
        }
    }

    @Test func `the feed sorts before the other topics of a replica`() {
        func bytes(_ topic: Topic) -> [UInt8] { Address(Fixture.store(), topic).bytes }
        for topic in Self.topics {
            switch topic {
            case .join, .snapshot, .receipts, .schema, .peer:
                #expect(bytes(.feed).lexicographicallyPrecedes(bytes(topic)))
            case .feed, .actions: break
            }
        }
    }

    @Test(arguments: [("web-1:80@a_b.c", "web-1:80@a_b.c"), ("", "_"), ("a/b c\u{e9}", "a_b_c__")])
    func `the name of a peer has only characters of a topic`(text: String, name: String) {
        #expect(PeerName(text).description == name)
    }

    static let hex16 = "0123456789abcdef"
    static let hex32 = hex16 + hex16

    @Test(arguments: [
        "", "/", "//", "sc2", "sc2/", "sc2/fleet", "sc2//feed", "sc/fleet/feed", "SC2/fleet/feed", "sc02/fleet/feed",
        "sc2x/fleet/feed", "sc-1/fleet/feed", "sc2000/fleet/feed", " sc2/fleet/feed", "xx1/fleet/feed",
        "sc2/fle et/feed", "sc2/fl\u{E9}et/feed", "sc2/\(String(repeating: "n", count: 65))/feed",
        "sc2/fleet\u{0}/feed", "1/fleet/feed",
    ])
    func `an address without version or store is malformed`(text: String) {
        #expect(throws: AddressFailure.malformed) { try Address(parsing: Array(text.utf8)[...] + [0]) }
    }

    @Test(arguments: ["sc0/fleet/feed", "sc1/fleet/feed", "sc999/fleet/join/x", "sc1/fl eet/anything/at/all"])
    func `another version differs from a malformed topic`(text: String) {
        #expect(throws: AddressFailure.unsupportedVersion) { try Address(parsing: Array(text.utf8)[...] + [0]) }
    }

    @Test(arguments: [
        "", "/", "feed/", "feeds", "Feed", "fee", "schema/", "actions/x", "join", "join/", "join/\(hex16)",
        "join/\(hex16)/", "join/\(hex16)/none/", "join/\(hex16)/None", "join/\(hex16)/none.1", "join/0/none",
        "join/\(hex16)0/none", "join/0123456789ABCDEF/none", "join/0123456789abcdeg/none", "join/+123456789abcdef/none",
        "join/\(hex16)/\(hex16)", "join/\(hex16)/\(hex16).1", "join/\(hex16)/\(hex16).1.2.3",
        "join/\(hex16)/\(hex16)..2", "join/\(hex16)/\(hex16).01.2", "join/\(hex16)/\(hex16).1.+2",
        "join/\(hex16)/\(hex16).1.18446744073709551616", "join/\(hex16)/\(hex16).1.-1",
        "receipts", "receipts/", "receipts/\(hex16)", "receipts/\(hex32)0", "receipts/\(hex32)/",
        "receipts/0123456789ABCDEF\(hex16)", "snapshot", "snapshot/\(hex16)", "snapshot/\(hex16)/1",
        "snapshot/\(hex16)/1/", "snapshot/\(hex16)/1/1/1", "snapshot/\(hex16)/01/1", "snapshot/\(hex16)/1/4294967296",
        "snapshot/\(hex16)/x/1", "snapshot/\(hex16)//1", "snapshot/1/1/1",
    ])
    func `a topic of another form is refused with the expected form`(text: String) {
        #expect {
            try Address(parsing: Array("sc2/fleet/\(text)".utf8)[...] + [0])
        } throws: { error in
            guard case .unknownTopic(let store, let expected)? = error as? AddressFailure else { return false }
            return store == Fixture.store() && !expected.isEmpty
        }
    }

    @Test func `a topic without its closing zero byte is malformed`() {
        #expect(throws: AddressFailure.malformed) { try Address(parsing: Array("sc2/fleet/feed".utf8)[...]) }
    }

    @Test func `an address of maxTopicBytes bytes is valid, one of one more is malformed`() {
        func address(_ count: Int) -> ArraySlice<UInt8> {
            let start = "sc1/fleet/"
            return Array((start + String(repeating: "x", count: count - start.utf8.count - 1)).utf8)[...] + [0]
        }
        #expect(throws: AddressFailure.unsupportedVersion) { try Address(parsing: address(Limits.maxTopicBytes)) }
        #expect(throws: AddressFailure.malformed) { try Address(parsing: address(Limits.maxTopicBytes + 1)) }
    }

    @Test func `a store's name has 1 to 64 allowed characters`() throws {
        #expect(try StoreName(String(repeating: "a", count: 64)).text.count == 64)
        for text in ["", String(repeating: "a", count: 65), "a b", "a/b", "\u{E9}", "a\u{0}", "\u{212A}"] {
            #expect { try StoreName(text) } throws: { ($0 as? Rejection)?.code == .malformed }
        }
    }

    @Test func `a session's text decodes to the session, and no other text does`() {
        let session = SessionID(high: 1, low: .max)
        #expect(SessionID(session.description) == session)
        for text in ["", Self.hex16, Self.hex32 + "0", Self.hex32.uppercased(), Self.hex16 + "\u{FF10}123456789abc"] {
            #expect(SessionID(text) == nil)
        }
    }
}
