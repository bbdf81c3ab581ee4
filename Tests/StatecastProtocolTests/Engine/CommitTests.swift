import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Commits on the primary` {
    @Test func `nothing is published before its record is durable`() {
        var bench = PrimaryBench()
        #expect(bench.reduce(1...1).topics == [])
        #expect(bench.head == Revision(0))
        #expect(bench.reduced == Revision(1))
        #expect(bench.join().welcome(on: PrimaryBench.join()) == nil)
        let visible = bench.commit()
        #expect(visible.topics == [.feed, .receipts(Fixture.session)])
        #expect(bench.head == Revision(1))
    }

    @Test func `the batches of one commit are published separately and chain`() {
        var bench = PrimaryBench()
        for number in UInt64(1)...3 {
            bench.push(number...number)
            bench.turn()
        }
        #expect(bench.commit(2).updates().map(\.to) == [Revision(1), Revision(2)])
        let last = bench.commit().updates()
        #expect(last.map(\.from) == [Revision(2)])
        #expect(last.map(\.to) == [Revision(3)])
        #expect(last.allSatisfy { $0.lineage == Fixture.lineage && $0.epoch == Fixture.epoch })
    }

    @Test func `a batch of many actions is one update`() {
        var bench = PrimaryBench()
        bench.push(1...5)
        bench.push(1...5, of: Fixture.otherSession)
        let updates = bench.turnAndCommit().updates()
        #expect(updates.map(\.from) == [Revision(0)])
        #expect(updates.map(\.to) == [Revision(10)])
    }

    @Test func `a rejection consumes its number, adds no revision, and gets a receipt when durable`() {
        var bench = PrimaryBench()
        let rejection = Rejection(.undecodable, "step: expected an integer")
        bench.verdicts[1] = .rejected(rejection)
        bench.push(1...1)
        bench.turn()
        let visible = bench.commit()
        #expect(bench.head == Revision(0))
        #expect(visible.updates().isEmpty)
        #expect(visible.receipts() == [1: .rejected(rejection)])
        bench.push(2...2)
        #expect(bench.turnAndCommit().receipts() == [2: .applied(Revision(1))])
    }

    @Test func `sessions that alternate in a batch get all their receipts`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.push(1...1, of: Fixture.otherSession)
        bench.push(2...2)
        let visible = bench.turnAndCommit()
        #expect(visible.receipts() == [1: .applied(Revision(1)), 2: .applied(Revision(3))])
        #expect(visible.receipts(of: Fixture.otherSession) == [1: .applied(Revision(2))])
    }

    @Test func `an empty batch makes no record`() {
        var bench = PrimaryBench()
        #expect(bench.turn() == [])
        bench.reduce(2...2)
        #expect(bench.engine.log.records.isEmpty, "its first number is missing")
    }

    @Test func `the message of a rejection is truncated to maxRejectionMessageBytes bytes`() {
        let exact = Rejection(.refused, String(repeating: "x", count: 10))
        #expect(exact.truncated(to: 10) == exact)
        #expect(exact.truncated(to: 9).message == "xxxxxx...")
        let wide = Rejection(.refused, String(repeating: "\u{1F600}", count: 3))
        #expect(wide.truncated(to: 11).message == "\u{1F600}\u{1F600}...")
        for maxBytes in 0..<5 { #expect(exact.truncated(to: maxBytes).message.utf8.count <= maxBytes) }
    }

    @Test func `an outcome is recorded with a truncated message`() {
        var bench = PrimaryBench(.with { $0.maxRejectionMessageBytes = 9 })
        bench.verdicts[1] = .rejected(Rejection(.refused, String(repeating: "x", count: 10)))
        bench.push(1...1)
        #expect(bench.turnAndCommit().receipts() == [1: .rejected(Rejection(.refused, "xxxxxx..."))])
    }

    @Test func `evictions of a rolled-back batch are listed in the next record`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.push(1...1)
        bench.turnAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turn()
        #expect(bench.records.map(\.record.forgotten) == [[Fixture.session]])
        let refusals = bench.fill().refusals(on: .receipts(Fixture.otherSession))
        #expect(refusals.map(\.reason.code) == [.storageFull])
        #expect(refusals.map(\.frame) == [Refusal.PushedFrame(opened: JournalSequence(1), first: ActionNumber(1))])
        #expect(bench.head == Revision(1) && bench.reduced == Revision(1))
        bench.now = .seconds(1)
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turn()
        #expect(bench.records.map(\.record.forgotten) == [[Fixture.session]])
        #expect(bench.commit().receipts(of: Fixture.otherSession) == [1: .applied(Revision(2))])
    }

    @Test func `a batch that is reduced again leaves no trace`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.turn()
        bench.verdicts[3] = .breaksState
        bench.push(2...3)
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        bench.push(1...1, of: Fixture.otherSession)
        bench.push(4...4)
        bench.turn()
        let visible = bench.commit()
        let receipts = visible.receipts()
        #expect(
            receipts.filter { $0.key != 3 } == [
                1: .applied(Revision(1)), 2: .applied(Revision(2)), 4: .applied(Revision(3)),
            ]
        )
        guard case .rejected(let rejection)? = receipts[3] else {
            Issue.record("the state cannot be published after number 3")
            return
        }
        #expect(rejection.code == .unencodable)
        #expect(visible.receipts(of: Fixture.otherSession) == [1: .rejected(Rejection(.refused, "no"))])
        #expect(visible.updates().map(\.patch) == (1...3).map { Fixture.patch(to: $0) })
        bench.push(5...5)
        #expect(bench.turnAndCommit().receipts() == [5: .applied(Revision(4))])
    }
}
