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
