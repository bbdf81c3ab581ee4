import StateCoding
import StateJSON
import Testing

@Suite struct `The protocol's document: patches` {
    private static let examples = ProtocolDocument.shared.blocks("patch")

    @Test(arguments: examples) func `decode and encode as they stand`(example: ProtocolDocument.Block) throws {
        #expect(try Patch(decoding: example.bytes).encode() == example.bytes)
        #expect(Diagnostic.text(try Value(decoding: example.bytes)) == example.text("diag"))
    }

    @Test(arguments: examples) func `do what is said`(example: ProtocolDocument.Block) throws {
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

    @Test func `of all forms are shown, and others are none`() throws {
        let shapes = try Self.examples.map { try Value(decoding: $0.bytes).arrayValue?.count ?? 0 }
        #expect(Set(shapes) == [0, 1, 2, 3])
        #expect(throws: CodingFailure.self) { try Patch(decoding: ([1, 0, [], 0] as Value).encoded) }
        #expect(throws: CodingFailure.self) { try Patch(decoding: Value(1).encoded) }
    }

    @Test func `nest as deep as is said, and no deeper`() throws {
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
