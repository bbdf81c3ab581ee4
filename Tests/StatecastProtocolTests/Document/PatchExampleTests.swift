import StatecastCoding
import StatecastJSON
import Testing

@Suite struct `The protocol's document: patches` {
    private static let examples = ProtocolDocument.shared.blocks("patch")

    @Test(arguments: examples)
    func `The protocol's document: patches decode and encode unchanged`(example: ProtocolDocument.Block) throws {
        #expect(try Patch(decoding: example.bytes).encode() == example.bytes)
        #expect(Diagnostic.text(try Value(decoding: example.bytes)) == example.text("diag"))
    }

    @Test(arguments: examples)
    func `The protocol's document: patches have the described effect`(example: ProtocolDocument.Block) throws {
        let before = try JSON.value(parsing: example.text("before"))
        #expect(Diagnostic.text(before) == example.text("before"))
        var value = before
        let patch = try Patch(decoding: example.bytes)
        guard example.text("after") != "does not fit" else {
            let failure = #expect(throws: CodingFailure.self) { try patch.apply(to: &value) }
            #expect(failure?.code == .patchMismatch && value == before)
            return
        }
        try patch.apply(to: &value)
        #expect(value == (try JSON.value(parsing: example.text("after"))))
        #expect(Diagnostic.text(value) == example.text("after"))
    }

    @Test func `The protocol's document: patches cover all forms, and other forms are refused`() throws {
        let shapes = try Self.examples.map { try Value(decoding: $0.bytes).arrayValue?.count ?? 0 }
        #expect(Set(shapes) == [0, 1, 2, 3])
        #expect(throws: CodingFailure.self) { try Patch(decoding: ([1, 0, [], 0] as Value).encoded) }
        #expect(throws: CodingFailure.self) { try Patch(decoding: Value(1).encoded) }
    }

    @Test func `The protocol's document: patches nest to the stated depth, and no deeper`() throws {
        let limits = CodingLimits.standard
        func nested(_ depth: Int) -> [UInt8] {
            (1..<depth).reduce(Patch.replace(1).encode()) { inner, _ in [0xA1, 0x00] + inner }
        }
        let rule = try #require(ProtocolDocument.file("docs/PROTOCOL.md").firstMatch(of: #/accept (\d+) levels/#))
        let depth = try #require(Int(rule.1))
        #expect(throws: Never.self) { try Patch(decoding: nested(depth), limits: limits) }
        #expect(throws: CodingFailure.self) { try Patch(decoding: nested(depth + 1), limits: limits) }
    }
}

@Suite struct `The protocol's document: digests` {
    private static let examples = ProtocolDocument.shared.blocks("digest")

    /// Computed by the document's description, independently of the implementation.
    private func hash(_ bytes: [UInt8]) -> (fnv: UInt64, mixed: UInt64) {
        let fnv = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var hash = (fnv ^ (fnv >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return (fnv, hash ^ (hash >> 33))
    }

    private func hexadecimal(_ bits: UInt64) -> String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    @Test(arguments: examples)
    func `The protocol's document: digests are those of their values`(example: ProtocolDocument.Block) throws {
        let value = try Value(decoding: example.bytes)
        #expect(Diagnostic.text(value) == example.text("diag"))
        let digest = Summary(of: value).digest
        #expect(example.text("digest") == "\(digest) (0x\(hexadecimal(digest)))")
    }

    @Test(arguments: examples)
    func `The protocol's document: digests are the sums of the leaves shown`(example: ProtocolDocument.Block) throws {
        var sum: UInt64 = 0
        for (_, leaf) in example.entries where leaf.contains("fnv-1a") {
            let bytes = ProtocolDocument.Block.bytes(String(leaf.prefix { $0 != " " }))
            let (fnv, mixed) = hash(bytes)
            #expect(leaf.hasSuffix(" fnv-1a \(hexadecimal(fnv)), mixed \(hexadecimal(mixed))"))
            sum &+= mixed
        }
        #expect(Summary(of: try Value(decoding: example.bytes)).digest == sum)
    }

    @Test func `The protocol's document: digests include a value that is not canonical`() throws {
        #expect(Self.examples.count == 4)
        let example = try #require(Self.examples.first { $0.name == "canonical" })
        #expect(try Value(decoding: example.bytes)["word"]?.textValue?.unicodeScalars.count == 5)
        #expect(example.text("hex").hasSuffix("f98000"))
    }
}
