import StateCore
import SyncProtocol
import Testing

@Suite struct `The admission of actions` {
    @Test func `all actions of a frame in order are admitted`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.push(4...4)
        let answers = bench.turnAndCommit()
        #expect(answers.frames(on: .receipts(Fixture.session)).count == 1)
        #expect(
            answers.receipts().mapValues { $0 } == [
                1: .applied(Revision(1)), 2: .applied(Revision(2)), 3: .applied(Revision(3)), 4: .applied(Revision(4)),
            ]
        )
    }

    @Test func `the new actions of a partly known frame are applied`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.turnAndCommit()
        let answer = bench.reduce(2...5)
        #expect(answer.receipts() == [2: .applied(Revision(2)), 3: .applied(Revision(3))])
        #expect(bench.commit().receipts() == [4: .applied(Revision(4)), 5: .applied(Revision(5))])
    }

    @Test func `a known frame gets the recorded outcomes and is not applied again`() {
        var bench = PrimaryBench()
        bench.verdicts[2] = .rejected(Rejection(.refused, "no"))
        bench.push(1...3)
        let first = bench.turnAndCommit().receipts()
        let again = bench.reduce(1...3)
        #expect(again.receipts() == first)
        #expect(again.contains(.count(.duplicates(3))))
        #expect(bench.records.isEmpty)
        #expect(bench.head == Revision(2))
    }

    @Test func `numbers that are reduced but not durable get no answer`() {
        var bench = PrimaryBench()
        bench.push(1...2)
        bench.push(1...2)
        #expect(bench.turn().topics == [])
        #expect(bench.reduce(1...2).topics == [])
        #expect(bench.records.count == 1)
        #expect(bench.commit().receipts().count == 2)
    }

    @Test func `a frame that is ahead is not admitted, and gets the expected number once per turn`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.push(3...4)
        bench.push(5...6)
        let answers = bench.turn()
        #expect(answers.expected() == [2])
        #expect(answers.count { $0 == .count(.outOfOrder) } == 2)
        #expect(bench.reduced == Revision(1))
    }

    @Test func `the expected number is sent again in the next turn, with or without joins`() {
        var bench = PrimaryBench()
        #expect(bench.reduce(2...2).expected() == [1])
        #expect(!bench.hasWork)
        #expect(bench.reduce(2...2).expected() == [1])
        let answer = bench.push(1...1, lineage: Fixture.otherLineage)
        #expect(answer.watermarks().count == 1)
        #expect(bench.hasWork, "a shell that skips empty turns would never repeat an answer between turns")
        bench.turn()
        #expect(!bench.hasWork)
        #expect(bench.push(1...1, lineage: Fixture.otherLineage).watermarks().count == 1)
    }

    @Test func `a frame of another lineage gets the watermark and is not admitted`() throws {
        var bench = PrimaryBench()
        let answer = bench.push(1...1, lineage: Fixture.otherLineage)
        let watermark = try #require(answer.watermarks().first)
        #expect(watermark.lineage == Fixture.lineage)
        #expect(watermark.number == nil)
        #expect(bench.push(1...1, lineage: Fixture.otherLineage).topics == [], "once a turn")
        #expect(bench.turn().topics == [] && bench.records.isEmpty)
    }

    @Test func `the largest valid number is admitted`() {
        var bench = PrimaryBench()
        let last: UInt64 = 1 << 62 - 1
        bench.push(last...last, base: last)
        #expect(bench.turnAndCommit().receipts() == [last: .applied(Revision(1))])
    }

    @Test func `an action has at most actionBytesMax bytes`() {
        let bytes = TestAction(number: 1).encoded.count
        for (bytesMax, code) in [(bytes, nil), (bytes - 1, .tooLarge)] as [(Int, Rejection.Code?)] {
            var bench = PrimaryBench(.with { $0.actionBytesMax = bytesMax })
            bench.push(1...1)
            let outcome = bench.turnAndCommit().receipts()[1]
            #expect(outcome?.code == code)
            #expect(outcome != nil)
        }
    }

    @Test func `at most windowActionsMax actions of a session are reduced and not durable`() {
        var bench = PrimaryBench(.with { $0.windowActionsMax = 4 })
        bench.reduce(1...4)
        #expect(bench.reduced == Revision(4))
        bench.reduce(5...5)
        #expect(bench.reduced == Revision(4))
        #expect(bench.commit().receipts().count == 4)
        bench.reduce(5...9)
        #expect(bench.reduced == Revision(8))
    }

    @Test func `the last windowActionsMax outcomes are remembered, older ones are not`() {
        var bench = PrimaryBench(.with { $0.windowActionsMax = 4 })
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        for number in UInt64(1)...5 {
            bench.push(number...number)
            bench.turnAndCommit()
        }
        #expect(bench.reduce(1...5).receipts().keys.sorted() == [2, 3, 4, 5])
        #expect(bench.reduce(1...1).topics == [])
    }
}
