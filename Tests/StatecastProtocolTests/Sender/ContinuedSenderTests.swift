import StatecastCore
import StatecastProtocol
import Testing

/// A sender whose client numbers the actions, such as a gateway's.
@Suite struct `A continued sender` {
    private static func session(first: UInt64, opened: UInt64? = 0) -> ContinuedSession {
        let opening = opened.map { SessionOpening(lineage: Fixture.lineage, sequence: JournalSequence($0)) }
        return ContinuedSession(Fixture.secret, opening: opening, first: ActionNumber(first))
    }

    @Test func `A new session tells where the primary opened it, and begins with number 1`() {
        var bench = SenderBench(continuing: Self.session(first: 1, opened: nil))
        #expect(bench.machine.opening == nil)
        bench.watermark(nil, opened: 7)
        #expect(bench.machine.opening == SessionOpening(lineage: Fixture.lineage, sequence: JournalSequence(7)))
        #expect(!bench.machine.isKnown)
        bench.send(2)
        #expect(bench.push().map(\.numbers) == [1...2])
        bench.receipts(1...2)
        #expect(bench.machine.isKnown)
    }

    @Test func `The primary tells where an earlier process opened the session`() {
        var bench = SenderBench(continuing: Self.session(first: 1, opened: nil))
        bench.watermark(4, opened: 7)
        #expect(bench.status == .open && bench.machine.isKnown)
        #expect(bench.machine.opening == SessionOpening(lineage: Fixture.lineage, sequence: JournalSequence(7)))
    }

    @Test func `What an earlier process sent is pushed again, although the primary knows it`() {
        var bench = SenderBench(continuing: Self.session(first: 3))
        bench.watermark(6)
        #expect(bench.status == .open, "the primary has later numbers than this process")
        let tickets = bench.send(5)
        let frames = bench.push()
        #expect(frames.map(\.numbers.lowerBound).first == 3)
        #expect(frames.allSatisfy { $0.header.base == ActionNumber(1) && $0.header.lowest == ActionNumber(3) })
        bench.receipts(3...7)
        #expect(tickets.map { bench.revision($0) } == [3, 4, 5, 6, 7])
        // After another watermark, too.
        let more = bench.send(1)
        bench.push()
        bench.wait()
        bench.watermark(8)
        #expect(bench.push().map(\.numbers) == [8...8])
        bench.receipts(8...8)
        #expect(bench.revision(more[0]) == 8)
    }

    @Test func `The primary remembers the outcomes that the client may ask for again`() {
        var bench = SenderBench(continuing: Self.session(first: 1))
        bench.watermark(0)
        bench.send(2)
        bench.push()
        bench.receipts(1...2)
        bench.send()
        #expect(bench.push().first?.header.lowest == ActionNumber(1))
        bench.receipts(3...3)
        bench.machine.releaseReceipts(before: ActionNumber(3))
        bench.send()
        #expect(bench.push().first?.header.lowest == ActionNumber(3))
    }

    @Test func `Without the session's opening it is not sent under a later one`() {
        var bench = SenderBench(continuing: Self.session(first: 3, opened: 5))
        bench.watermark(nil, opened: 9)
        bench.send()
        #expect(bench.push().first?.header.opened == JournalSequence(5))
        bench.refuse(.unknownSession, first: 3, opened: 5)
        #expect(bench.isClosed)
        #expect(bench.code(Ticket(rawValue: 1)) == .outcomeUnknown)
    }

    @Test func `In another history it ends instead of beginning another session`() {
        var bench = SenderBench(continuing: Self.session(first: 1))
        bench.watermark(0)
        bench.send(2)
        bench.push()
        bench.watermark(nil, lineage: Fixture.otherLineage)
        #expect(bench.isClosed && bench.machine.session == Fixture.session)
        #expect(bench.code(Ticket(rawValue: 1)) == .outcomeUnknown)
        let late = bench.send(1)
        #expect(bench.push().isEmpty)
        #expect(bench.code(late[0]) == .notSent)
    }

    @Test func `It ends if the primary lost outcomes that it had confirmed`() {
        var bench = SenderBench(continuing: Self.session(first: 6))
        bench.watermark(3, epoch: Fixture.epoch.next)
        #expect(bench.isClosed)
    }
}
