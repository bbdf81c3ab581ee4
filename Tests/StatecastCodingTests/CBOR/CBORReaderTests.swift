import StatecastCoding
import Testing

@Suite struct `The CBOR reader` {
    private func code(_ body: () throws(CodingFailure) -> Void) -> CodingFailure.Code? {
        do throws(CodingFailure) { try body() } catch { return error.code }
        return nil
    }

    @Test func `written items decode to equal items`() throws {
        var writer = CBORWriter(reserving: 64)
        writer.array(count: 4)
        writer.unsigned(.max)
        writer.integer(.min)
        writer.text("caf\u{E9}")
        writer.bytes([1, 2])
        writer.map(count: 1)
        writer.bool(true)
        writer.float(0.1)
        writer.tag(42)
        writer.null()
        writer.encoded([0x01])
        // A slice whose indexes do not start at 0.
        var reader = CBORReader(([0xFF] + writer.bytes).dropFirst())
        #expect(try reader.arrayCount() == 4)
        #expect(try reader.unsigned() == .max)
        #expect(try reader.integer() == .min)
        #expect(reader.peek == .text)
        #expect(try reader.text() == "caf\u{E9}")
        #expect(try reader.bytes() == [1, 2])
        #expect(try reader.mapCount() == 1)
        #expect(try reader.bool())
        #expect(try reader.float() == 0.1)
        #expect(try reader.tag() == 42)
        #expect(!reader.isAtEnd && reader.isNull())
        #expect(try reader.integer() == 1)
        #expect(reader.isAtEnd && reader.peek == nil && !reader.isNull())
        try reader.requireEnd()
    }

    @Test func `a failure leaves the reader at the start of the item, and names the item that it found`() throws {
        var reader = CBORReader([0x01, 0x63, 0x61, 0x62, 0x63])
        _ = try reader.unsigned()
        let failure = #expect(throws: CodingFailure.self) { try reader.integer() }
        #expect(failure?.description == "expected an integer, got a text (at byte 1)")
        #expect(try reader.text() == "abc")
    }

    @Test func `a depth of n is read, one of n + 1 refused`() throws {
        let limits = CodingLimits.standard.maxDepth
        for opening: [UInt8] in [[0x81], [0xA1, 0x01], [0xC1], [0x9F]] {
            let closing = [UInt8](repeating: 0xFF, count: opening == [0x9F] ? limits : 0)
            let deep = Array(repeatElement(opening, count: limits).joined()) + [0x01] + closing
            #expect(throws: Never.self) { try Value(decoding: deep) }
            let tooDeep = opening + deep
            #expect(code { () throws(CodingFailure) in _ = try Value(decoding: tooDeep) } == .tooDeep)
            var reader = CBORReader(tooDeep)
            #expect(code { () throws(CodingFailure) in try reader.skip() } == .tooDeep)
        }
    }

    @Test func `a million open arrays do not overflow the stack`() {
        let bomb = [UInt8](repeating: 0x81, count: 1_000_000)
        #expect(code { () throws(CodingFailure) in _ = try Value(decoding: bomb) } == .tooDeep)
    }

    @Test(arguments: ["5affffffff00", "7b7fffffffffffffff61", "9bffffffffffffffff", "bb8000000000000000", "a2010203"])
    func `lengths beyond the input are refused`(hex: String) {
        var reader = CBORReader(bytes(hex))
        let kept = reader
        #expect(throws: CodingFailure.self) { try reader.value() }
        reader = kept
        #expect(throws: CodingFailure.self) { try reader.skip() }
    }

    @Test func `a count that exceeds the rest of the input is refused`() {
        var reader = CBORReader([0x82, 0x00])
        #expect(code { () throws(CodingFailure) in _ = try reader.arrayCount() } == .tooLarge)
        reader = CBORReader([0x82, 0x00, 0x00])
        #expect(code { () throws(CodingFailure) in _ = try reader.arrayCount() } == nil)
        reader = CBORReader([0xA1, 0x00])
        #expect(code { () throws(CodingFailure) in _ = try reader.mapCount() } == .tooLarge)
        reader = CBORReader([0xA1, 0x00, 0x00])
        #expect(code { () throws(CodingFailure) in _ = try reader.mapCount() } == nil)
    }

    @Test func `counting readers refuse indefinite lengths`() {
        for hex in ["9fff", "bfff", "5fff", "7fff"] {
            var reader = CBORReader(bytes(hex))
            #expect(code { () throws(CodingFailure) in _ = try reader.arrayCount() } != nil)
            #expect(code { () throws(CodingFailure) in _ = try reader.mapCount() } != nil)
            #expect(code { () throws(CodingFailure) in _ = try reader.bytes() } != nil)
            #expect(code { () throws(CodingFailure) in _ = try reader.text() } != nil)
        }
    }

    @Test func `duplicate keys, bad text and trailing bytes are refused`() {
        #expect(code { () throws(CodingFailure) in _ = try Value(decoding: bytes("a201020103")) } == .duplicateKey)
        let spelt = "a265636166c3a90166" + "63616665cc8102"
        #expect(code { () throws(CodingFailure) in _ = try Value(decoding: bytes(spelt)) } == .duplicateKey)
        for hex in ["61ff", "62c328", "63eda080", "7f61c361a9ff"] {
            #expect(code { () throws(CodingFailure) in _ = try Value(decoding: bytes(hex)) } == .invalidText)
            var reader = CBORReader(bytes(hex))
            #expect(code { () throws(CodingFailure) in try reader.skip() } == .invalidText)
        }
        #expect(code { () throws(CodingFailure) in _ = try Value(decoding: [1, 1]) } == .trailingBytes)
        #expect(code { () throws(CodingFailure) in _ = try Value(decoding: []) } == .truncated)
    }

    @Test func `an integer beyond 64 bits with sign is out of range, not truncated`() {
        for hex in ["1b8000000000000000", "3b8000000000000000"] {
            var reader = CBORReader(bytes(hex))
            #expect(code { () throws(CodingFailure) in _ = try reader.integer() } == .outOfRange)
        }
    }

    @Test(arguments: seeds(0..<40)) func `values decode, their prefixes are refused, and damage never traps`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let value = generator.value()
            let encoded = value.encoded
            #expect(try Value(decoding: encoded) == value)
            #expect(try Value(decoding: encoded).encoded == encoded)
            for count in encoded.indices {
                #expect(throws: CodingFailure.self) { try Value(decoding: Array(encoded.prefix(count))) }
            }
            var damaged = encoded
            damaged[generator.below(damaged.count)] = UInt8(generator.below(256))
            var (whole, skipping) = (CBORReader(damaged), CBORReader(damaged))
            let isRead = (try? whole.value()) != nil
            let isSkipped = (try? skipping.skip()) != nil
            #expect(isRead == isSkipped && whole.offset == skipping.offset)
            _ = try? Patch(decoding: damaged)
        }
    }
}
