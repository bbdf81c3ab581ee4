import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `A saved session` {
    @Test func `A saved session decodes to the encoded value`() throws {
        let session = try SavedBench.full().session
        #expect(try SavedSession(decoding: session.encoded) == session)
    }

    @Test func `A saved session changes decode to the encoded values`() throws {
        var change = SessionChange()
        #expect(try SessionChange(decoding: change.encoded) == change)
        change.checkpoint = SenderBench.open().machine.checkpoint
        var chunk = ActionChunk([[1, 2], [], Array(repeating: 3, count: 300)], first: Ticket(rawValue: 1))
        chunk.append(invalid: Rejection(.malformed, "no action"), mark: InputMark(position: 4, digest: 5))
        change.enqueue(chunk)
        let sent = SentAction(session: Fixture.session, number: ActionNumber(1))
        let first = Ticket(rawValue: 1)
        change.resolve(ResolvedRun(first, count: 2, sent: sent, .applied(Fixture.position(8))))
        change.resolve(ResolvedRun(first, count: 2, sent: sent, .unknown(because: "it was lost")))
        change.resolve(ResolvedRun(first, count: 2, sent: nil, .rejected(Rejection(.tooLarge, "too large"))))
        change.acknowledge(upTo: Ticket(rawValue: 1))
        change.endInput(at: InputMark(position: 7, digest: .max))
        let decoded = try SessionChange(decoding: change.encoded)
        #expect(decoded.encoded == change.encoded)
        #expect(decoded.chunks.map(\.bytes) == [chunk.bytes] && decoded.chunks.map(\.marks) == [chunk.marks])
        #expect(decoded.resolved.count == 4 && decoded.resolved == change.resolved)
    }

    @Test func `merged changes of a saved session equal consecutive changes`() throws {
        var (first, second) = (SessionChange(), SessionChange())
        first.enqueue(Self.chunk(1, position: 1))
        first.endInput(at: InputMark(position: 2))
        second.enqueue(Self.chunk(2, position: 3))
        second.resolve(ResolvedRun(Ticket(rawValue: 1), SavedBench.applied(1)))
        second.acknowledge(upTo: Ticket(rawValue: 1))
        var apart = SavedBench().session
        var together = apart
        try apart.apply(first)
        try apart.apply(second)
        first.merge(second)
        try together.apply(first)
        #expect(together == apart)
        #expect(apart.mark == InputMark(position: 3))
        #expect(!apart.isInputEnded)
        #expect(apart.actions.map(\.ticket) == [Ticket(rawValue: 2)])
    }

    @Test func `A saved session is unfinished until all outcomes are acknowledged and the input has ended`() throws {
        var saved = SavedBench()
        #expect(!saved.session.isUnfinished)
        try saved.enqueue(1)
        #expect(saved.session.isUnfinished)
        #expect(saved.session.outstandingCount == 1)
        try saved.resolve(1, SavedBench.applied(1))
        #expect(saved.session.outstandingCount == 0)
        #expect(saved.session.isUnfinished)
        try saved.apply { $0.acknowledge(upTo: Ticket(rawValue: 1)) }
        #expect(saved.session.isUnfinished)
        try saved.apply { $0.endInput(at: InputMark(position: 1)) }
        #expect(!saved.session.isUnfinished)
        try saved.enqueue(1)
        #expect(saved.session.isUnfinished)
    }

    @Test func `A saved session drops outcomes in order only`() throws {
        var session = try SavedBench.full().session
        session.dropResolved(after: SessionChange())
        #expect(session.actions.map(\.ticket.rawValue) == [2, 3, 4])
    }

    @Test func `A saved session refuses impossible changes`() throws {
        var saved = try SavedBench.full()
        #expect(throws: CodingFailure.self) { try saved.resolve(1, SavedBench.applied(1)) }
        #expect(throws: CodingFailure.self) { try saved.resolve(9, SavedBench.applied(1)) }
        #expect(throws: CodingFailure.self) { try saved.apply { $0.acknowledge(upTo: Ticket(rawValue: 2)) } }
        #expect(throws: CodingFailure.self) { try saved.apply { $0.enqueue(Self.chunk(9, position: 1)) } }
        let overlapping = ResolvedRun(Ticket(rawValue: 2), count: 2, sent: nil, .rejected(Rejection(.tooLarge, "")))
        #expect(throws: CodingFailure.self) { try saved.apply { $0.resolve(overlapping) } }
        let beyond = ResolvedRun(Ticket(rawValue: 4), count: 2, sent: nil, .rejected(Rejection(.tooLarge, "")))
        #expect(throws: CodingFailure.self) { try saved.apply { $0.resolve(beyond) } }
    }

    private static func chunk(_ ticket: UInt64, position: UInt64) -> ActionChunk {
        var chunk = ActionChunk(first: Ticket(rawValue: ticket))
        chunk.append([1], mark: InputMark(position: position))
        return chunk
    }

    @Test func `A saved session keeps the rest of a chunk whose first actions are acknowledged`() throws {
        var saved = SavedBench()
        try saved.apply { $0.enqueue(ActionChunk([[1], [2], [3], [4]], first: Ticket(rawValue: 1))) }
        for ticket in UInt64(1)...2 { try saved.resolve(ticket, SavedBench.applied(ticket)) }
        try saved.apply { $0.acknowledge(upTo: Ticket(rawValue: 2)) }
        let read = try SavedSession(decoding: saved.session.encoded)
        #expect(read == saved.session && read.outstandingCount == 2)
        #expect(read.actions.map(\.bytes) == [[3], [4]])
        #expect(read.actions.map(\.ticket.rawValue) == [3, 4])
        var other = SavedBench()
        try other.apply { $0.enqueue(ActionChunk([[1], [2], [3], [4]], first: Ticket(rawValue: 1))) }
        #expect(read != other.session)
    }

    /// A sender that continued with other numbers than the primary knows would mistake one action for another.
    @Test func `A saved session can be resumed if its sent actions have the numbers from the checkpoint on`() throws {
        try SavedBench.full().session.requireResumable()
        var skipping = try SavedBench.full()
        try skipping.resolve(4, SavedBench.applied(4))
        #expect(throws: CodingFailure.self) { try skipping.session.requireResumable() }
        var unsent = SavedBench()
        try unsent.enqueue(2)
        try unsent.session.requireResumable()
        try unsent.resolve(2, SavedBench.applied(2))
        #expect(throws: CodingFailure.self) { try unsent.session.requireResumable() }
    }

    @Test(arguments: [(0, 1), (2, 1), (1, 1 << 62)] as [(UInt64, UInt64)])
    func `A saved session cannot be resumed with numbers that a primary drops`(base: UInt64, first: UInt64) throws {
        var saved = SavedBench()
        try saved.enqueue(1)
        let registration = SessionCheckpoint.Registration(
            lineage: Fixture.lineage,
            opened: JournalSequence(0),
            base: ActionNumber(base)
        )
        try saved.apply {
            $0.checkpoint = SessionCheckpoint(
                Fixture.secret,
                registration: registration,
                first: ActionNumber(first)
            )
        }
        #expect(throws: CodingFailure.self) { try saved.session.requireResumable() }
    }
}
