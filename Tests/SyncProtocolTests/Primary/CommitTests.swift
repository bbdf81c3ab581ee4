import StateCoding
import StateCore
import SyncProtocol
import Testing

@Suite struct `Commits on the primary` {
    @Test func `nothing is published before its record is durable`() {
        var bench = PrimaryBench()
        #expect(bench.push(1...1).topics == [])
        bench.close()
        #expect(bench.machine.head == Revision(0))
        #expect(bench.machine.reduced == Revision(1))
        #expect(bench.join().welcome(on: PrimaryBench.join()) == nil)
        let visible = bench.commit()
        #expect(visible.topics == [.feed, .receipts(Fixture.session)])
        #expect(bench.machine.head == Revision(1))
    }

    @Test func `the batches of one commit are published separately and chain`() {
        var bench = PrimaryBench()
        for number in UInt64(1)...3 {
            bench.push(number...number)
            bench.close()
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
        let updates = bench.closeAndCommit().updates()
        #expect(updates.map(\.from) == [Revision(0)])
        #expect(updates.map(\.to) == [Revision(10)])
    }

    @Test func `a rejection consumes its number, adds no revision, and gets a receipt when durable`() {
        var bench = PrimaryBench()
        let rejection = Rejection(.undecodable, "step: expected an integer")
        bench.verdicts[1] = .rejected(rejection)
        bench.push(1...1)
        bench.close()
        let visible = bench.commit()
        #expect(visible.updates().isEmpty)
        #expect(visible.receipts() == [1: .rejected(rejection)])
        bench.push(2...2)
        #expect(bench.closeAndCommit().receipts() == [2: .applied(Revision(1))])
    }

    @Test func `sessions that alternate in a batch get all their receipts`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.push(1...1, of: Fixture.otherSession)
        bench.push(2...2)
        let visible = bench.closeAndCommit()
        #expect(visible.receipts() == [1: .applied(Revision(1)), 2: .applied(Revision(3))])
        #expect(visible.receipts(of: Fixture.otherSession) == [1: .applied(Revision(2))])
    }

    @Test func `an empty batch makes no record`() {
        var bench = PrimaryBench()
        #expect(bench.machine.close(patch: [], summary: Summary(digest: 0, bytes: 1)) == [])
    }

    @Test func `the message of a rejection is truncated to rejectionMessageBytesMax bytes`() {
        let exact = Rejection(.refused, String(repeating: "x", count: 10))
        #expect(exact.truncated(to: 10) == exact)
        #expect(exact.truncated(to: 9).message == "xxxxxx...")
        let wide = Rejection(.refused, String(repeating: "\u{1F600}", count: 3))
        #expect(wide.truncated(to: 11).message == "\u{1F600}\u{1F600}...")
        for bytesMax in 0..<5 { #expect(exact.truncated(to: bytesMax).message.utf8.count <= bytesMax) }
    }

    @Test func `an outcome is recorded with a truncated message`() {
        var bench = PrimaryBench(.with { $0.rejectionMessageBytesMax = 9 })
        bench.verdicts[1] = .rejected(Rejection(.refused, String(repeating: "x", count: 10)))
        bench.push(1...1)
        #expect(bench.closeAndCommit().receipts() == [1: .rejected(Rejection(.refused, "xxxxxx..."))])
    }

    @Test func `evictions of a rolled-back batch are listed in the next record`() throws {
        var bench = PrimaryBench(.with { $0.sessionsMax = 1 })
        bench.push(1...1)
        bench.closeAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.close()
        #expect(bench.records.map(\.forgotten) == [[Fixture.session]])
        let senders = bench.rollBack()
        #expect(senders.map(\.session) == [Fixture.otherSession])
        #expect(senders.map(\.frame) == [Refusal.PushedFrame(opened: JournalSequence(1), first: ActionNumber(1))])
        #expect(bench.machine.head == Revision(1))
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.close()
        #expect(bench.records.map(\.forgotten) == [[Fixture.session]])
        #expect(bench.commit().receipts(of: Fixture.otherSession) == [1: .applied(Revision(2))])
    }

    @Test func `a batch that is reopened leaves no trace`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.close()
        bench.verdicts[3] = .rejected(Rejection(.refused, "no"))
        bench.push(2...3)
        bench.push(1...1, of: Fixture.otherSession)
        bench.push(4...4)
        bench.machine.rollBackBatch()
        #expect(!bench.machine.hasOpenBatch)
        #expect(bench.machine.reduced == Revision(1))
        bench.verdicts[3] = nil
        bench.push(2...4)
        let visible = bench.closeAndCommit()
        #expect(
            visible.receipts() == [
                1: .applied(Revision(1)), 2: .applied(Revision(2)), 3: .applied(Revision(3)), 4: .applied(Revision(4)),
            ]
        )
        bench.push(1...1, of: Fixture.otherSession)
        #expect(bench.closeAndCommit().receipts(of: Fixture.otherSession) == [1: .applied(Revision(5))])
    }
}
