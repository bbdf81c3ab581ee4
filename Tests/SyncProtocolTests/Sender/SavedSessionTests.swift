import StateCoding
import StateCore
import SyncProtocol
import Testing

@Suite struct `A session that is kept` {
    private static func full() throws -> SavedBench {
        var saved = SavedBench()
        try saved.keep(SenderBench.open().machine)
        try saved.enqueue(4)
        try saved.resolve(1, SavedBench.applied(1))
        try saved.resolve(3, SavedBench.tooLarge)
        return saved
    }

    @Test func `is read as it was written`() throws {
        let session = try Self.full().session
        #expect(try SavedSession(decoding: session.encoded) == session)
    }

    @Test func `changes are read as they were written`() throws {
        var change = SessionChange()
        #expect(try SessionChange(decoding: change.encoded) == change)
        change.standing = SenderBench.open().machine.standing
        change.enqueue(SavedAction(ticket: Ticket(rawValue: 1), position: nil, bytes: [1, 2]), mark: nil)
        change.resolve(Ticket(rawValue: 1), SavedBench.applied(1))
        change.acknowledge(upTo: Ticket(rawValue: 1))
        change.endInput(at: InputMark(position: 7, digest: .max))
        #expect(try SessionChange(decoding: change.encoded) == change)
    }

    @Test func `changes together do what they do one after the other`() throws {
        var (first, second) = (SessionChange(), SessionChange())
        first.enqueue(SavedAction(ticket: Ticket(rawValue: 1), position: 1, bytes: [1]), mark: InputMark(position: 1))
        first.endInput(at: InputMark(position: 2))
        second.enqueue(SavedAction(ticket: Ticket(rawValue: 2), position: 3, bytes: [1]), mark: InputMark(position: 3))
        second.resolve(Ticket(rawValue: 1), SavedBench.applied(1))
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

    @Test func `is unfinished until each outcome was told and the input has ended`() throws {
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

    @Test func `forgets outcomes in order only`() throws {
        var session = try Self.full().session
        session.forgetSettled()
        #expect(session.actions.map(\.ticket.rawValue) == [2, 3, 4])
    }

    @Test func `refuses what cannot have happened`() throws {
        var saved = try Self.full()
        #expect(throws: CodingFailure.self) { try saved.resolve(1, SavedBench.applied(1)) }
        #expect(throws: CodingFailure.self) { try saved.resolve(9, SavedBench.applied(1)) }
        #expect(throws: CodingFailure.self) { try saved.apply { $0.acknowledge(upTo: Ticket(rawValue: 2)) } }
        let early = SavedAction(ticket: Ticket(rawValue: 9), position: nil, bytes: [])
        #expect(throws: CodingFailure.self) { try saved.apply { $0.enqueue(early, mark: nil) } }
    }
}
