import StatecastCoding
import StatecastProtocol
import Testing

@Suite struct `Frames of actions` {
    private func frame(_ actions: [[UInt8]], from generator: inout SeededGenerator) -> ActionsFrame {
        ActionsFrame(
            lineage: generator.lineage(),
            session: Fixture.session,
            opened: JournalSequence(generator.number()),
            base: ActionNumber(generator.number()),
            first: ActionNumber(generator.number()),
            actions: actions
        )
    }

    private func encoded(_ frame: ActionsFrame) -> [UInt8] {
        AnyFrame.pushed(frame, Fixture.secret).encoded
    }

    private func decoded(_ bytes: [UInt8]) throws(CodingFailure) -> ActionsFrame {
        try ActionsFrame(decoding: bytes[...])
    }

    @Test(arguments: seeds(0..<200))
    func `the encoding of a frame of actions equals that of its elements one by one`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let actions = (0..<generator.below(30)).map { _ in generator.bytes(below: 300) }
        let frame = frame(actions, from: &generator)
        let header = frame.header
        let elements: [Value] = [
            .unsigned(9), .bytes(bigEndian(header.lineage.bits)),
            .bytes(bigEndian(Fixture.secret.high) + bigEndian(Fixture.secret.low)),
            .unsigned(header.opened.rawValue), .unsigned(header.base.rawValue), .unsigned(header.lowest.rawValue),
            .unsigned(header.first.rawValue),
            .array(actions.map { .bytes($0) }),
        ]
        #expect(encoded(frame) == Value.array(elements).encoded)
        #expect(header.count == actions.count)
        #expect(frame.contents == actions)
        #expect(try decoded(encoded(frame)) == frame)
    }

    private func bigEndian(_ bits: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }

    /// Byte strings with heads of any width, and other items.
    @Test(arguments: seeds(0..<1000))
    func `a frame of actions accepts the elements that a reader of byte strings accepts`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes = encoded(frame([], from: &generator)).dropLast()
        let count = generator.below(6)
        bytes.append(0x80 | UInt8(count))
        for _ in 0..<count { bytes.append(contentsOf: element(from: &generator)) }
        if generator.oneIn(4) { bytes = bytes.dropLast(generator.below(8)) }
        if generator.oneIn(2) {
            bytes[bytes.endIndex - 1 - generator.below(min(60, bytes.count))] = UInt8(generator.below(256))
        }
        let wanted = Result { () throws(CodingFailure) in try reference(Array(bytes)) }
        let read = Result { () throws(CodingFailure) in try decoded(Array(bytes)).contents }
        #expect(read == wanted)
    }

    private func element(from generator: inout SeededGenerator) -> [UInt8] {
        let content = generator.bytes(below: 30)
        switch generator.below(12) {
        case 0: return [0x5F] + Value.bytes(content).encoded + [0xFF]
        case 1: return [0x5C + UInt8(generator.below(3))] + content
        case 2: return [UInt8(generator.below(256))]
        case 3: return Value.text("text").encoded
        case 4: return [0x58, UInt8(content.count)] + content
        case 5: return [0x59, 0, UInt8(content.count)] + content
        case 6: return [0x5A, 0, 0, 0, UInt8(content.count)] + content
        case 7: return [0x5B, 0, 0, 0, 0, 0, 0, 0, UInt8(content.count)] + content
        default: return Value.bytes(content).encoded
        }
    }

    /// The actions, read one by one.
    private func reference(_ bytes: [UInt8]) throws(CodingFailure) -> [[UInt8]] {
        var reader = CBORReader(bytes)
        guard try reader.arrayCount() == 8, try reader.unsigned() == 9 else {
            return try decoded(bytes).contents
        }
        for size in [8, 16] where try reader.bytes().count != size {
            return try decoded(bytes).contents
        }
        for _ in 0..<4 { _ = try reader.unsigned() }
        var actions: [[UInt8]] = []
        for _ in 0..<(try reader.arrayCount()) { actions.append(try reader.bytes()) }
        try reader.requireEnd()
        return actions
    }

    @Test func `items continue at any offset`() {
        var generator = SeededGenerator(seed: 7)
        let frame = frame((0..<50).map { _ in generator.bytes(below: 70) }, from: &generator)
        let items = Array(frame.items())
        #expect(items.map { Array(frame[$0.content]) } == frame.contents)
        for (index, item) in items.enumerated() {
            let rest = Array(frame.items(from: item.item.lowerBound))
            #expect(rest.map(\.item) == items[index...].map(\.item))
        }
        var rest = frame.items(from: frame.actions.count)
        #expect(rest.next() == nil)
        #expect(rest.offset == frame.actions.count)
    }

    @Test func `equal frames are equal wherever their bytes are`() throws {
        var generator = SeededGenerator(seed: 8)
        let frame = frame([[1], [2, 3]], from: &generator)
        let message = Message.encode(frame, Fixture.secret, to: Address(Fixture.store(), .actions).bytes)
        let read = try Message.decodeActions(message)
        #expect(read == frame)
        #expect(read.actions.startIndex != frame.actions.startIndex)
        #expect(read.items().map(\.content) == frame.items().map(\.content))
    }
}
