import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

/// Valid encodings, of which up to three bytes are changed, and random bytes.
@Suite struct `Changed bytes` {
    @Test(arguments: seeds(0..<1000))
    func `Changed bytes of frames, messages and subscriptions break no law`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for kind in SeededGenerator.frameKinds {
            let frame = generator.frame(kind).encoded
            let address = Topics.addresses[generator.below(Topics.addresses.count)].bytes
            for bytes in [frame, address, address + frame] { try WireLaws.check(generator.changed(bytes)) }
        }
        try WireLaws.check(generator.changed(generator.actionsFrame()))
    }

    @Test(arguments: seeds(0..<500))
    func `Changed bytes of saved sessions and their changes break no law`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let session = try SavedBench.full().session.encoded
        var change = SessionChange()
        change.enqueue(ActionChunk([[1, 2], [3]], first: Ticket(rawValue: 5)))
        change.resolve(ResolvedRun(Ticket(rawValue: 2), count: 1, sent: nil, .rejected(Rejection(.tooLarge, ""))))
        for _ in 0..<20 {
            let (session, change) = (generator.changed(session), generator.changed(change.encoded))
            try RecordLaws.check([4] + session)
            try RecordLaws.check([5] + change)
            // A session and a change of it, each after its length.
            func data(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)] + bytes }
            try RecordLaws.check([6, 1] + data(session) + [0] + data(change))
        }
    }

    @Test(arguments: seeds(0..<500)) func `Random bytes break no law, and pass no router`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = (generator.oneIn(2) ? Array("sc2/".utf8) : []) + generator.bytes(below: 512)
        try WireLaws.check(bytes)
        let router = FrameRouter(stores: [Fixture.store()])
        if case .store = router.subscription(bytes[...]) { Issue.record("passed: \(bytes)") }
        if case .store = router.actions(bytes) { Issue.record("passed: \(bytes)") }
    }
}

extension SeededGenerator {
    fileprivate mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<below(4) { bytes[below(bytes.count)] = UInt8(below(256)) }
        return bytes
    }

    /// A frame of actions with byte strings whose heads have any width, and other items.
    fileprivate mutating func actionsFrame() -> [UInt8] {
        let frame = ActionsFrame(
            lineage: lineage(),
            session: Fixture.session,
            opened: JournalSequence(number()),
            base: ActionNumber(number()),
            first: ActionNumber(number()),
            actions: []
        )
        let count = below(6)
        let elements = (0..<count).flatMap { _ in element() }
        let bytes = AnyFrame.pushed(frame, Fixture.secret).encoded.dropLast() + [0x80 | UInt8(count)] + elements
        return Array(oneIn(4) ? bytes.dropLast(below(8)) : bytes)
    }

    private mutating func element() -> [UInt8] {
        let content = bytes(below: 30)
        switch below(12) {
        case 0: return [0x5F] + Value.bytes(content).encoded + [0xFF]
        case 1: return [0x5C + UInt8(below(3))] + content
        case 2: return [UInt8(below(256))]
        case 3: return Value.text("text").encoded
        case 4: return [0x58, UInt8(content.count)] + content
        case 5: return [0x59, 0, UInt8(content.count)] + content
        case 6: return [0x5A, 0, 0, 0, UInt8(content.count)] + content
        case 7: return [0x5B, 0, 0, 0, 0, 0, 0, 0, UInt8(content.count)] + content
        default: return Value.bytes(content).encoded
        }
    }
}
