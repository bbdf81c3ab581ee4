import StateCore
import SyncProtocol
import Testing

@Suite struct `A session that the primary knows` {
    @Test func `is identified by its numbers alone, whatever else its frames state`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        bench.push(5...6, opened: 1, base: 5)
        bench.closeAndCommit()
        #expect(bench.push(6...7, opened: 0, base: 1).receipts() == [6: .applied(Revision(3))])
        #expect(bench.closeAndCommit().receipts() == [7: .applied(Revision(4))])
    }

    @Test func `has nothing to say of numbers below the one that it began with`() {
        var bench = PrimaryBench()
        bench.push(5...6, base: 5)
        bench.closeAndCommit()
        #expect(bench.push(1...4).topics == [])
        #expect(bench.push(3...6).receipts() == [5: .applied(Revision(1)), 6: .applied(Revision(2))])
        #expect(!bench.machine.hasOpenBatch)
    }

    @Test func `is answered with its watermark and receipts where a frame is of another lineage`() {
        var bench = PrimaryBench()
        bench.push(1...2)
        bench.closeAndCommit()
        let answer = bench.push(3...3, lineage: Fixture.otherLineage)
        #expect(answer.watermarks().map(\.number) == [ActionNumber(2)])
        #expect(answer.receipts() == [1: .applied(Revision(1)), 2: .applied(Revision(2))])
        #expect(!bench.machine.hasOpenBatch)
    }
}
