import StateCoding
import StateCore
import SyncProtocol
import Testing

@Suite struct `The primary's own session` {
    /// Reduces `count` actions of the primary's own process.
    private func reduce(_ count: Int, in bench: inout PrimaryBench) {
        for _ in 0..<count { _ = bench.machine.resolved(.primary, bench.machine.ownNumber, .applied) }
    }

    @Test func `has numbers like any other, and outcomes in the same record`() {
        var bench = PrimaryBench()
        reduce(1, in: &bench)
        bench.push(1...1)
        reduce(1, in: &bench)
        #expect(bench.machine.ownNumber == ActionNumber(3))
        bench.close()
        #expect(bench.records.map { $0.outcomes.map(\.session) } == [[.primary, Fixture.session, .primary]])
        #expect(bench.records.first?.update?.to == Revision(3))
        #expect(bench.commit().receipts() == [1: .applied(Revision(2))])
    }

    @Test func `gets no published receipts`() {
        var bench = PrimaryBench()
        reduce(2, in: &bench)
        #expect(bench.closeAndCommit().topics == [.feed])
    }

    @Test func `has room for windowActionsMax actions, and again when they are durable`() {
        var bench = PrimaryBench(.with { $0.windowActionsMax = 3 })
        #expect(bench.machine.ownRoom == 3)
        reduce(2, in: &bench)
        bench.close()
        #expect(bench.machine.ownRoom == 1)
        reduce(1, in: &bench)
        bench.close()
        #expect(bench.machine.ownRoom == 0)
        _ = bench.commit(1)
        #expect(bench.machine.ownRoom == 2)
        _ = bench.commit()
        #expect(bench.machine.ownRoom == 3)
    }

    @Test func `is rolled back with a reopened batch`() {
        var bench = PrimaryBench()
        reduce(1, in: &bench)
        bench.close()
        reduce(2, in: &bench)
        bench.machine.rollBackBatch()
        #expect(bench.machine.ownNumber == ActionNumber(2))
        #expect(bench.machine.reduced == Revision(1))
    }

    @Test func `is not counted and never evicted`() {
        var bench = PrimaryBench(.with { $0.sessionsMax = 1 })
        reduce(1, in: &bench)
        bench.closeAndCommit()
        bench.push(1...1)
        #expect(bench.closeAndCommit().receipts() == [1: .applied(Revision(2))])
        let other = Fixture.otherSession
        bench.push(1...1, of: other, opened: 2)
        #expect(bench.closeAndCommit().receipts(of: other) == [1: .applied(Revision(3))])
        #expect(bench.machine.ownNumber == ActionNumber(2))
    }

    @Test func `refuses subscribers to its receipts`() {
        var bench = PrimaryBench()
        reduce(1, in: &bench)
        bench.closeAndCommit()
        let answer = bench.machine.subscribed(to: .receipts(.primary))
        #expect(answer.refusals(of: .primary) == [.malformed])
        #expect(answer.frames(on: .receipts(.primary)).count == 1)
    }

    @Test func `gets each record after its frames are published`() {
        var bench = PrimaryBench()
        for number in UInt64(1)...2 {
            bench.push(number...number)
            bench.close()
        }
        let records = bench.records
        let steps = bench.commit().compactMap { directive in
            switch directive {
            case .publish(let topic, _): topic == .feed ? "update" : "receipts"
            case .durable(let record): "record \(record.sequence)"
            default: nil
            }
        }
        #expect(records.count == 2)
        #expect(steps == ["update", "receipts", "record 1", "update", "receipts", "record 2"])
    }
}
