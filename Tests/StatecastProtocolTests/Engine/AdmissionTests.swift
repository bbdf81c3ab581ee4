import StatecastCore
import StatecastProtocol
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
        for _ in 1...2 {
            bench.push(1...1, lineage: Fixture.otherLineage)
            #expect(bench.hasWork)
            #expect(bench.turn().watermarks().count == 1)
            #expect(!bench.hasWork)
        }
    }

    /// Published outcomes are lost if the journal is replaced by an older copy.
    @Test func `a sender that has outcomes which the primary lost gets the watermark once per turn`() {
        var bench = PrimaryBench()
        #expect(bench.reduce(6...6, base: 4, lowest: 4).expected() == [4])
        for number in UInt64(6)...7 { bench.push(number...number, base: 4, lowest: 5) }
        #expect(bench.turn().watermarks().map(\.number) == [ActionNumber(3)])
        bench.push(4...5, base: 4)
        bench.turnAndCommit()
        #expect(bench.reduce(8...8, base: 4, lowest: 6).expected() == [6])
        #expect(bench.reduce(8...8, base: 4, lowest: 7).watermarks().map(\.number) == [ActionNumber(5)])
    }

    @Test func `a frame of another lineage gets the watermark and is not admitted`() throws {
        var bench = PrimaryBench()
        for _ in 1...2 { bench.push(1...1, lineage: Fixture.otherLineage) }
        let watermarks = bench.turn().watermarks()
        #expect(watermarks.map(\.lineage) == [Fixture.lineage], "once a turn")
        #expect(watermarks.map(\.number) == [nil])
        #expect(bench.turn().topics == [] && bench.records.isEmpty)
    }

    @Test func `the largest valid number is admitted`() {
        var bench = PrimaryBench()
        let last: UInt64 = 1 << 62 - 1
        bench.push(last...last, base: last)
        #expect(bench.turnAndCommit().receipts() == [last: .applied(Revision(1))])
    }

    @Test func `an action has at most maxActionBytes bytes`() {
        let bytes = TestAction(number: 1).encoded.count
        for (maxBytes, code) in [(bytes, nil), (bytes - 1, .tooLarge)] as [(Int, Rejection.Code?)] {
            var bench = PrimaryBench(.with { $0.maxActionBytes = maxBytes })
            bench.push(1...1)
            let outcome = bench.turnAndCommit().receipts()[1]
            #expect(outcome?.code == code)
            #expect(outcome != nil)
        }
    }

    @Test func `at most maxWindowActions actions of a session are reduced and not durable`() {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 4 })
        bench.reduce(1...4)
        #expect(bench.reduced == Revision(4))
        bench.reduce(5...5)
        #expect(bench.reduced == Revision(4))
        #expect(bench.commit().receipts().count == 4)
        bench.reduce(5...9)
        #expect(bench.reduced == Revision(8))
    }

    /// The window moves when the first actions of the frame are durable, and the frame does not grow into it.
    @Test(arguments: [1, 3] as [UInt64])
    func `The admission of actions of one frame at most maxWindowActions actions are reduced`(first: UInt64) {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 4 })
        bench.engine.budget = TurnBudget(actions: 2)
        if first > 1 { bench.push(1...(first - 1)) }
        bench.turnAndCommit()
        bench.push(first...(first + 9))
        while bench.hasWork { bench.turnAndCommit() }
        #expect(bench.reduced == Revision(first + 3))
        // The sender sends the others again.
        bench.push((first + 4)...(first + 5))
        bench.turnAndCommit()
        #expect(bench.reduced == Revision(first + 5))
    }

    @Test func `the last maxWindowActions outcomes are remembered, older ones are not`() {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 4 })
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        for number in UInt64(1)...5 {
            bench.push(number...number)
            bench.turnAndCommit()
        }
        #expect(bench.reduce(1...5).receipts().keys.sorted() == [2, 3, 4, 5])
        #expect(bench.reduce(1...1).topics == [])
    }

    // MARK: Outcomes that are not needed

    @Test func `the outcomes from the lowest needed number on are remembered, those of lower numbers are not`() {
        var bench = PrimaryBench()
        bench.push(1...6)
        bench.turnAndCommit()
        bench.push(7...7, lowest: 4)
        bench.turnAndCommit()
        #expect(bench.reduce(1...7).receipts().keys.sorted() == [4, 5, 6, 7])
        #expect(bench.subscribed(to: .receipts(Fixture.session)).receipts().keys.sorted() == [4, 5, 6, 7])
        // A late frame states what was needed before.
        bench.reduce(7...7, lowest: 2)
        #expect(bench.reduce(1...7).receipts().keys.sorted() == [4, 5, 6, 7])
    }

    @Test func `outcomes that are not durable are remembered, whatever a frame states`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.turnAndCommit()
        bench.reduce(4...5)
        bench.reduce(6...6, lowest: 6)
        #expect(bench.commit().receipts().keys.sorted() == [4, 5, 6])
        #expect(bench.reduce(1...6).receipts().keys.sorted() == [4, 5, 6])
    }

    @Test func `a frame that is ahead forgets nothing`() {
        var bench = PrimaryBench()
        bench.push(1...3)
        bench.turnAndCommit()
        bench.reduce(9...9, lowest: 9)
        #expect(bench.reduce(1...3).receipts().keys.sorted() == [1, 2, 3])
    }

    /// The outcomes of interleaved senders are not consecutive, so each is a run of its own.
    @Test func `senders that await each receipt need one run each, however many actions they send`() {
        let sessions = (1...8).map { SessionID(high: 1, low: $0) }
        var bench = PrimaryBench(.with { $0.maxSessionRuns = 2 * sessions.count })
        for number in UInt64(1)...50 {
            for session in sessions {
                bench.push(number...number, of: session, lowest: number)
                bench.turnAndCommit()
            }
        }
        bench.turn()
        for session in sessions {
            let watermark = bench.subscribed(to: .receipts(session)).watermarks(of: session).first
            #expect(watermark?.number == ActionNumber(50))
        }
    }

    @Test(arguments: [8191, 8192])
    func `in a turn, subscriptions are answered with at most 16,384 runs, or one of them`(runs: Int) {
        var bench = PrimaryBench()
        for number in stride(from: UInt64(2), through: UInt64(runs), by: 2) {
            bench.verdicts[number] = .rejected(Rejection(.refused, ""))
        }
        let sessions = (1...2).map { SessionID(high: 1, low: $0) }
        for session in sessions {
            for first in stride(from: UInt64(1), through: UInt64(runs), by: 1024) {
                bench.push(first...min(first + 1023, UInt64(runs)), of: session)
                bench.turnAndCommit()
            }
        }
        func answered(_ answers: [Answer]) -> [Bool] { sessions.map { !answers.watermarks(of: $0).isEmpty } }
        for session in sessions { _ = bench.engine.subscribed(to: .receipts(session)) }
        // With each watermark.
        let areTogether = 2 * (runs + 1) <= 1 << 14
        #expect(answered(bench.turn()) == [true, areTogether])
        #expect(bench.hasWork != areTogether)
        #expect(answered(bench.turn()) == [false, !areTogether])
        #expect(!bench.hasWork)
    }
}
