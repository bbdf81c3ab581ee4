import StatecastCoding
import StatecastProtocol
import Testing

@Suite struct `The protocol's document: frames` {
    private static let document = ProtocolDocument.shared
    private static let examples = document.blocks("frame", "push", "message")
    private static let grammar = Grammar(document.blocks("cddl"))
    /// Kind, name, direction, topics.
    private static var kinds: [[String]] { document.tables(in: "6 Frames").first ?? [] }

    /// Topic, zero byte and frame; in the document the block shows either all of it or the frame.
    private func message(_ example: ProtocolDocument.Block) -> [UInt8] {
        example.kind == "message" ? example.bytes : Array(example.text("topic").utf8) + [0] + example.bytes
    }

    private func kind(of value: Value) throws -> [String] {
        let number = try #require(value[0]?.intValue)
        return try #require(Self.kinds.first { $0.first == "\(number)" })
    }

    @Test(arguments: examples)
    func `The protocol's document: frames decode and encode unchanged`(example: ProtocolDocument.Block) throws {
        let message = message(example)
        let (head, body) = try #require(Message.split(message))
        #expect(head.elementsEqual(Array(example.text("topic").utf8) + [0]))
        let frame = try AnyFrame(decoding: body)
        #expect(Array(head) + frame.encoded == message)
        guard example.text("version").isEmpty else {
            #expect(throws: AddressFailure.unsupportedVersion) { try Address(parsing: head) }
            return
        }
        #expect(try Address(parsing: head).bytes + frame.encoded == message)
        guard case .published(let published) = frame else { return }
        let (address, decoded) = try Message.decode(message)
        #expect(decoded == published && Message.encode(decoded, to: address) == message)
    }

    @Test(arguments: examples)
    func `The protocol's document: frames have the diagnostic notation of their bytes`(example: ProtocolDocument.Block)
        throws
    {
        let (_, body) = try #require(Message.split(message(example)))
        #expect(Diagnostic.text(try Value(decoding: Array(body))) == example.text("diag"))
    }

    @Test(arguments: examples)
    func `The protocol's example frames have their fields where the grammar says`(
        example: ProtocolDocument.Block
    ) throws {
        let (_, body) = try #require(Message.split(message(example)))
        let value = try Value(decoding: Array(body))
        let names = Self.grammar.names(of: try kind(of: value)[1])
        let fields = try FrameFields(of: AnyFrame(decoding: body))
        let elements = try #require(value.arrayValue)
        #expect(names.count == elements.count - 1 && Set(names) == Set(fields.values.keys))
        for (name, element) in zip(names, elements.dropFirst()) { #expect(fields.values[name] == element, "\(name)") }
    }

    @Test func `The protocol's document: frames have the fields of an offer where the grammar says`() throws {
        let example = try #require(Self.examples.first { $0.name == "welcome-with-offer" })
        guard case .welcome(let welcome) = try Frame(decoding: example.bytes[...]), let offer = welcome.offer else {
            Issue.record("no welcome with an offer")
            return
        }
        let fields = try FrameFields(of: offer as Any)
        let names = Self.grammar.names(of: "offer")
        let elements = try #require(try Value(decoding: example.bytes)[7]?.arrayValue)
        #expect(names.map { fields.values[$0] } == elements && names.count == 4)
    }

    @Test(arguments: examples)
    func `The protocol's example frames may have more elements, but not fewer`(example: ProtocolDocument.Block) throws {
        let (_, body) = try #require(Message.split(message(example)))
        let elements = try #require(try Value(decoding: Array(body)).arrayValue)
        let more = Value.array(elements + ["later", ["more": 1]]).encoded
        #expect(try AnyFrame(decoding: more[...]) == AnyFrame(decoding: body))
        let less = Value.array(elements.dropLast()).encoded
        #expect(throws: CodingFailure.self) { try AnyFrame(decoding: less[...]) }
    }

    @Test(arguments: [("welcome-with-offer", [7]), ("receipts", [4, 1]), ("schema", [3, 0])])
    func `The protocol's example frames have inner arrays of exactly the listed elements`(
        name: String,
        path: [Int]
    ) throws {
        let example = try #require(Self.examples.first { $0.name == name })
        let value = try Value(decoding: example.bytes)
        #expect(
            try Frame(decoding: changed(value, at: path[...]) { $0 }.encoded[...])
                == Frame(decoding: value.encoded[...])
        )
        for change in [{ $0 + ["later"] }, { $0.dropLast() }] as [([Value]) -> [Value]] {
            let frame = try changed(value, at: path[...], change).encoded
            #expect(throws: CodingFailure.self) { try Frame(decoding: frame[...]) }
        }
    }

    /// The value with another array at a path of indexes.
    private func changed(_ value: Value, at path: ArraySlice<Int>, _ change: ([Value]) -> [Value]) throws -> Value {
        var elements = try #require(value.arrayValue)
        guard let index = path.first else { return .array(change(elements)) }
        elements[index] = try changed(elements[index], at: path.dropFirst(), change)
        return .array(elements)
    }

    @Test(arguments: examples)
    func `The protocol's document: frames have topics of their kind`(example: ProtocolDocument.Block) throws {
        let (_, body) = try #require(Message.split(message(example)))
        let allowed = try kind(of: try Value(decoding: Array(body)))[3]
        let word = try #require(example.text("topic").split(separator: "/").dropFirst(2).first)
        #expect(allowed.hasPrefix("any topic") || allowed.contains(word))
    }

    @Test func `The protocol's document: frames cover all kinds, and no others`() throws {
        let shown = try Self.examples.map { try Value(decoding: Array(#require(Message.split(message($0))).body))[0] }
        #expect(Self.kinds.map { $0.first } == (0..<Self.kinds.count).map { "\($0)" })
        #expect(Set(shown) == Set(Self.kinds.indices.map { Value($0) }))
        let next = Value.array([Value](repeating: Value(Self.kinds.count), count: 16)).encoded
        let failure = #expect(throws: CodingFailure.self) { try Frame(decoding: next[...]) }
        #expect(failure?.message.hasPrefix("a frame begins with its kind, 0 to \(Self.kinds.count - 1)") == true)
    }

    @Test(arguments: document.blocks("item"))
    func `The protocol's document: frames contain valid items`(item: ProtocolDocument.Block) throws {
        let value = try Value(decoding: item.bytes)
        #expect(value.encoded == item.bytes && Diagnostic.text(value) == item.text("diag"))
    }

    @Test func `The protocol's document: frames contain valid actions`() throws {
        let action = try #require(Self.document.blocks("item").first { $0.name == "action" }).bytes
        let frame = try #require(Self.examples.first { $0.name == "actions" })
        #expect(try Value(decoding: frame.bytes)[7]?[0] == .bytes(action))
    }
}
