import StatecastProtocol
import Testing

@Suite struct `The protocol's document: topics` {
    private static let document = ProtocolDocument.shared

    private static func topics(_ name: String) -> [String] {
        document.blocks("topics").filter { $0.name == name }.flatMap(\.lines)
    }

    @Test(arguments: topics("well-formed"))
    func `The protocol's document: topics that are well-formed decode and encode`(topic: String) throws {
        let bytes = Array(topic.utf8) + [0]
        #expect(try Address(parsing: bytes[...]).bytes == bytes)
    }

    @Test(arguments: topics("malformed"))
    func `The protocol's document: topics that are malformed are refused`(topic: String) {
        let bytes = Array(topic.utf8) + [0]
        #expect(throws: AddressFailure.self) { try Address(parsing: bytes[...]) }
    }

    @Test func `The protocol's document: topics are listed with an example each`() throws {
        let words = (Self.document.tables(in: "5 Topics").first ?? []).compactMap {
            $0.first?.split(separator: "/").first
        }
        let shown = Self.topics("well-formed").compactMap { $0.split(separator: "/").dropFirst(2).first }
        #expect(Set(words) == Set(shown) && words.count == 7)
        #expect(Self.topics("malformed").count > 8)
        // Exhaustive on purpose: a new topic does not compile here before it is documented.
        for topic in Self.topics("well-formed") {
            let word =
                switch try Address(parsing: (Array(topic.utf8) + [0])[...]).topic {
                case .feed: "feed"
                case .join: "join"
                case .receipts: "receipts"
                case .schema: "schema"
                case .snapshot: "snapshot"
                case .peer: "peer"
                case .actions: "actions"
                }
            #expect(topic.split(separator: "/").dropFirst(2).first == word[...])
        }
    }
}
