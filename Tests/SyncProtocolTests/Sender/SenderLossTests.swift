import StateCore
import SyncProtocol
import Testing

/// A primary that did not wait for the disk comes back without what it had made known.
@Suite struct `Outcomes that are lost, at the sender` {
    private static let later = Fixture.epoch.next

    /// Numbers 1 to 3 have receipts, 4 and 5 do not.
    private static func bench() -> SenderBench {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.receipts(1...3)
        return bench
    }

    @Test func `what has no receipt goes into another session: it cannot have been applied`() {
        var bench = Self.bench()
        let session = bench.machine.session
        let directives = bench.watermark(1, epoch: Self.later)
        #expect(directives.contains(.count(.outcomesLost)))
        #expect(bench.machine.session != session)
        bench.wait()
        bench.watermark(nil, epoch: Self.later)
        let frames = bench.push()
        #expect(frames.map(\.numbers) == [4...5])
        #expect(frames.map(\.base) == [ActionNumber(4)])
        #expect(bench.outcomes.count == 3)
    }

    @Test func `an old watermark of the same incarnation is no loss`() {
        var bench = Self.bench()
        let session = bench.machine.session
        bench.watermark(1)
        #expect(bench.machine.session == session)
    }

    @Test func `a session that is lost altogether is told from one that was forgotten`() {
        var bench = Self.bench()
        let session = bench.machine.session
        bench.watermark(nil, epoch: Self.later)
        #expect(bench.machine.session == session)
        #expect(bench.push().map(\.numbers) == [4...5])
        // The primary has opened the session anew, with its base.
        #expect(bench.expect(1) == [])
        bench.wait()
        #expect(bench.watermark(0, epoch: Self.later).contains(.count(.outcomesLost)))
        #expect(bench.machine.session != session)
    }
}
