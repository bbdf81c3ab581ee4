import StateCore
import SyncProtocol
import Testing

@Suite struct `The admission of actions` {
    @Test func `all actions of a frame in order are admitted`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.push(4...4)
        #expect(
            bench.closeAndCommit().receipts().mapValues { $0 } == [
                1: .applied(Revision(1)), 2: .applied(Revision(2)), 3: .applied(Revision(3)), 4: .applied(Revision(4)),
            ]
        )
    }

    @Test func `the new actions of a partly known frame are applied`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.closeAndCommit()
        let answer = bench.push(2...5)
        #expect(answer.receipts() == [2: .applied(Revision(2)), 3: .applied(Revision(3))])
        #expect(bench.closeAndCommit().receipts() == [4: .applied(Revision(4)), 5: .applied(Revision(5))])
    }

    @Test func `a known frame gets the recorded outcomes and is not applied again`() {
        var bench = PrimaryBench()
        bench.verdicts[2] = .rejected(Rejection(.refused, "no"))
        bench.push(1...3)
        let first = bench.closeAndCommit().receipts()
        let again = bench.push(1...3)
        #expect(again.receipts() == first)
        #expect(again.contains(.count(.duplicates(3))))
        #expect(!bench.machine.hasOpenBatch)
        #expect(bench.machine.head == Revision(2))
    }

    @Test func `numbers that are reduced but not durable get no answer`() {
        var bench = PrimaryBench()
        bench.push(1...2)
        #expect(bench.push(1...2).topics == [])
        bench.close()
        #expect(bench.push(1...2).topics == [])
        #expect(bench.commit().receipts().count == 2)
    }

    @Test func `a frame that is ahead is not admitted, and gets the expected number once per turn`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        #expect(bench.push(3...4).expected() == [2])
        #expect(bench.push(5...6).topics == [])
        #expect(bench.machine.reduced == Revision(1))
    }

    @Test func `the expected number is sent again in the next turn, with or without joins`() {
        var bench = PrimaryBench()
        bench.push(2...2)
        #expect(bench.machine.hasRequests, "a shell that skips empty turns would never repeat it")
        _ = bench.serve()
        #expect(!bench.machine.hasRequests)
        #expect(bench.push(2...2).expected() == [1])
    }

    @Test func `a frame of another lineage gets the watermark and is not admitted`() throws {
        var bench = PrimaryBench()
        let answer = bench.push(1...1, lineage: Fixture.otherLineage)
        let watermark = try #require(answer.watermarks().first)
        #expect(watermark.lineage == Fixture.lineage)
        #expect(watermark.number == nil)
        #expect(bench.push(1...1, lineage: Fixture.otherLineage).topics == [], "once a turn")
        #expect(!bench.machine.hasOpenBatch)
    }

    @Test func `the largest valid number is admitted`() {
        var bench = PrimaryBench()
        let last: UInt64 = 1 << 62 - 1
        bench.push(last...last, base: last)
        #expect(bench.closeAndCommit().receipts() == [last: .applied(Revision(1))])
    }

    @Test func `an action has at most actionBytesMax bytes`() {
        let bench = PrimaryBench(.with { $0.actionBytesMax = 10 })
        #expect(bench.machine.rejection(ofBytes: 10) == nil)
        #expect(bench.machine.rejection(ofBytes: 11)?.code == .tooLarge)
    }

    @Test func `at most windowActionsMax actions of a session are reduced and not durable`() {
        var bench = PrimaryBench(.with { $0.windowActionsMax = 4 })
        bench.push(1...4)
        #expect(bench.machine.reduced == Revision(4))
        bench.push(5...5)
        #expect(bench.machine.reduced == Revision(4))
        #expect(bench.closeAndCommit().receipts().count == 4)
        bench.push(5...9)
        #expect(bench.machine.reduced == Revision(8))
    }

    @Test func `the last windowActionsMax outcomes are remembered, older ones are not`() {
        var bench = PrimaryBench(.with { $0.windowActionsMax = 4 })
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        for number in UInt64(1)...5 {
            bench.push(number...number)
            bench.closeAndCommit()
        }
        #expect(bench.push(1...5).receipts().keys.sorted() == [2, 3, 4, 5])
        #expect(bench.push(1...1).topics == [])
    }
}
