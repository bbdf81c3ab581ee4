import StateCore
import SyncProtocol
import Testing

/// What has to be on the disk before what leaves.
@Suite struct `What a sender keeps` {
    private static let action = SavedAction(ticket: Ticket(rawValue: 1), position: 1, bytes: [7])

    @Test func `actions go on when they are on the disk, in order`() {
        let bench = SenderBench.open()
        var saver = SessionSaver(SavedBench().session)
        saver.enqueue(Self.action, mark: nil)
        #expect(saver.flush(bench.machine.standing)?.enqueued == [Self.action])
        #expect(saver.last == Ticket(rawValue: 0))
        #expect(saver.written(0).actions.isEmpty)
        #expect(saver.written(1).actions == [Self.action])
        #expect(saver.last == Ticket(rawValue: 1))
    }

    @Test func `what is over already does not go on`() {
        var saver = SessionSaver(SavedBench().session)
        let over = SavedAction(ticket: Ticket(rawValue: 1), position: 1, bytes: [], outcome: SavedBench.tooLarge)
        saver.enqueue(over, mark: nil)
        #expect(saver.flush(SenderBench().machine.standing) != nil)
        #expect(saver.written(1).actions.isEmpty)
        #expect(saver.last == Ticket(rawValue: 1))
    }

    @Test func `nothing leaves before its session and lineage are on the disk`() {
        var bench = SenderBench()
        var saver = SessionSaver(SavedBench().session)
        #expect(saver.flush(bench.machine.standing) == nil)
        #expect(saver.mayPush)
        bench.watermark(nil)
        #expect(saver.flush(bench.machine.standing)?.standing == bench.machine.standing)
        #expect(!saver.mayPush)
        #expect(saver.written(1).standing == bench.machine.standing)
        #expect(saver.mayPush)
    }

    @Test func `receipts may be noted late`() {
        var bench = SenderBench.open()
        var saver = SessionSaver(SavedBench().session)
        _ = saver.flush(bench.machine.standing)
        _ = saver.written(1)
        bench.send(2)
        bench.push()
        bench.receipts(1...1)
        saver.resolve(
            Ticket(rawValue: 1),
            SentAction(session: Fixture.session, number: ActionNumber(1)),
            .applied(Fixture.position(1))
        )
        #expect(saver.flush(bench.machine.standing) != nil)
        #expect(saver.mayPush)
    }

    @Test func `nothing leaves before it is kept that an action was passed over`() {
        let bench = SenderBench()
        var saver = SessionSaver(SavedBench().session)
        saver.resolve(Ticket(rawValue: 1), nil, .rejected(Rejection(.tooLarge, "too large")))
        #expect(saver.flush(bench.machine.standing) != nil)
        #expect(!saver.mayPush)
        _ = saver.written(1)
        #expect(saver.mayPush)
    }
}
