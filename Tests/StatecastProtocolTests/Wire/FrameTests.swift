import StatecastCoding
import StatecastProtocol
import Testing

@Suite struct `Frames` {
    @Test(arguments: SeededGenerator.frameKinds) func `every frame decodes to the encoded value`(kind: Int) throws {
        for seed in UInt64(0)..<200 {
            var generator = SeededGenerator(seed: seed)
            let frame = generator.frame(kind)
            #expect(try AnyFrame(decoding: frame.encoded[...]) == frame, "seed \(seed)")
        }
    }

    @Test(arguments: SeededGenerator.frameKinds) func `a frame that is truncated anywhere throws`(kind: Int) {
        var generator = SeededGenerator(seed: 3)
        let bytes = generator.frame(kind).encoded
        for end in 0..<bytes.count {
            #expect(throws: CodingFailure.self, "of \(bytes.count) bytes \(end)") {
                try AnyFrame(decoding: bytes[..<end])
            }
        }
    }

    @Test(arguments: SeededGenerator.frameKinds) func `bytes after a frame make it malformed`(kind: Int) {
        var generator = SeededGenerator(seed: 6)
        let bytes = generator.frame(kind).encoded + [0]
        #expect(throws: CodingFailure.self) { try AnyFrame(decoding: bytes[...]) }
    }

    @Test(arguments: [
        [], [0x80], [0x81, 0x0A], [0x81, 0x18, 0xFF], [0x82, 0x20, 0x00], [0xA0], [0x9F, 0x03, 0x40, 0xFF],
    ])
    func `a frame without a known kind is malformed`(bytes: [UInt8]) {
        #expect(throws: CodingFailure.self) { try AnyFrame(decoding: bytes[...]) }
    }

    @Test(arguments: [0x9A, 0x9B, 0x5A, 0x5B] as [UInt8])
    func `Frames counts beyond the available bytes throw`(head: UInt8) {
        let promise = [head] + Array(repeating: 0x7F, count: head & 1 == 0 ? 4 : 8)
        let lineage: [UInt8] = [0x48, 0, 0, 0, 0, 0, 0, 0, 0]
        let session = [0x50] + Array(repeating: UInt8(0), count: 16)
        for bytes in [
            promise, [0x85, 0x05] + lineage + [1, 1] + promise,
            [0x87, 0x09] + lineage + session + [0, 1, 1] + promise,
            [0x84, 0x08] + lineage + [0] + promise, [0x86, 0x00] + lineage + [1, 0, 1] + promise,
            [0x82, 0x03] + promise,
        ] { #expect(throws: CodingFailure.self) { try AnyFrame(decoding: bytes[...]) } }
    }

    @Test func `an array with a false count in a whole frame throws`() {
        let lineage: [UInt8] = [0x48, 0, 0, 0, 0, 0, 0, 0, 0]
        let rest = Array(repeating: UInt8(0xFF), count: 1 << 20)
        let bytes = [0x85, 0x05] + lineage + [1, 1, 0x9A, 0x00, 0x10, 0x00, 0x00] + rest
        #expect(throws: CodingFailure.self) { try AnyFrame(decoding: bytes[...]) }
    }

    @Test func `a patch may nest to the maximum depth of patches, and endless nesting throws`() throws {
        func update(_ depth: Int) -> [UInt8] {
            [0x86, 0x00, 0x48, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1] + Array(repeating: UInt8(0x81), count: depth) + [0xF6]
        }
        let maxPatchDepth = 2 * CodingLimits.standard.maxDepth + 32
        guard case .published(.update(let read)) = try AnyFrame(decoding: update(maxPatchDepth)[...]) else {
            Issue.record("expected an update")
            return
        }
        #expect(read.patch.count == maxPatchDepth + 1)
        for depth in [3 * CodingLimits.standard.maxDepth + 1, 100_000] {
            #expect(throws: CodingFailure.self) { try AnyFrame(decoding: update(depth)[...]) }
        }
    }

    @Test func `deep nesting in an ignored element throws`() {
        let expected = Expected(lineage: Fixture.lineage, number: ActionNumber(1))
        var bytes = AnyFrame.published(.expected(expected)).encoded
        bytes[0] += 1
        bytes += Array(repeating: 0x81, count: 100_000) + [0xF6]
        #expect(throws: CodingFailure.self) { try AnyFrame(decoding: bytes[...]) }
    }

    @Test func `a message decodes to address and frame, and a failure names the decoded part`() throws {
        let address = Address(Fixture.store(), .feed)
        let frame = Frame.update(Fixture.update(1, 2))
        let message = Message.encode(frame, to: address)
        let read = try Message.decode(message)
        #expect(read.address == address)
        #expect(read.frame == frame)
        #expect { try Message.decode(Array(message.dropLast())) } throws: { error in
            if case .malformedFrame(address, _)? = error as? MessageFailure { true } else { false }
        }
        #expect { try Message.decode([UInt8](repeating: 1, count: 300) + [0]) } throws: { error in
            if case .noAddress(.malformed)? = error as? MessageFailure { true } else { false }
        }
    }

    @Test func `an update adds few bytes to its patch`() {
        let update = Fixture.update(1_000_000, 1_000_001)
        let message = Message.encode(.update(update), to: Address(Fixture.store(), .feed))
        #expect(message.count - update.patch.count <= 56)
    }
}
