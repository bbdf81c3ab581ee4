import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Receipts at the sender` {
    @Test func `a receipt resolves its action with a position or a reason`() {
        var bench = SenderBench.open()
        let tickets = bench.send(2)
        bench.push()
        let reason = Rejection(.refused, "no")
        bench.receive(
            .receipts(
                Receipts(
                    lineage: Fixture.lineage,
                    epoch: Fixture.epoch,
                    outcomes: OutcomeRuns([.applied(Revision(9)), .rejected(reason)])
                )
            )
        )
        #expect(bench.outcomes[tickets[0]]?.result == .success(Fixture.position(9)))
        #expect(bench.outcomes[tickets[1]]?.result == .failure(reason))
        #expect(bench.outcomes[tickets[1]]?.number == ActionNumber(2))
    }

    @Test func `receipts may arrive in any order and twice`() {
        var bench = SenderBench.open()
        let tickets = bench.send(5)
        bench.push()
        for numbers in [4...4, 2...3, 4...5, 1...5, 1...1] as [ClosedRange<UInt64>] { bench.receipts(numbers) }
        #expect(tickets.map { bench.revision($0) } == [1, 2, 3, 4, 5])
        #expect(bench.machine.pendingCount == 0)
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test func `receipts for unsent numbers and of other lineages are ignored`() {
        var bench = SenderBench.open()
        let tickets = bench.send(2)
        bench.push()
        bench.send()
        #expect(bench.receipts(3...9) == [])
        #expect(bench.receipts(1...2, lineage: Fixture.otherLineage) == [])
        #expect(bench.outcomes.isEmpty)
        bench.receipts(1...3)
        #expect(tickets.map { bench.revision($0) } == [1, 2])
        #expect(bench.push().map(\.numbers) == [3...3])
    }

    @Test func `frames on the topic of another session are ignored`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        var generator = SeededGenerator(seed: 1)
        let receipts = Receipts(
            lineage: Fixture.lineage,
            epoch: Fixture.epoch,
            outcomes: OutcomeRuns([.applied(Revision(1))])
        )
        let before = bench.machine
        for topic in [.receipts(Fixture.otherSession), .feed] as [Topic] {
            #expect(bench.machine.received(.receipts(receipts), on: topic, at: bench.now, using: &generator) == [])
        }
        #expect(bench.machine == before)
    }

    @Test func `when receipts are missing a sender requests the watermark, ever later, and pushes nothing`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        var delays: [Duration] = []
        for _ in 0..<8 {
            let start = bench.now
            bench.wait()
            #expect(bench.push() == [])
            #expect(bench.subscriptions == [.receipts(Fixture.session)])
            delays.append(start.duration(to: bench.now))
        }
        #expect(bench.asked == 9)
        #expect(delays[0] <= .seconds(2))
        #expect(delays.suffix(3).allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(10) })
    }

    @Test func `a receipt ends the backoff`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        for _ in 0..<6 { bench.wait() }
        bench.watermark(0)
        bench.push()
        bench.receipts(1...1)
        let start = bench.now
        bench.wait()
        #expect(start.duration(to: bench.now) <= .seconds(1))
    }

    @Test func `Receipts at the sender with nothing outstanding there is no deadline`() {
        var bench = SenderBench.open()
        #expect(bench.machine.nextDeadline == nil)
        bench.send()
        #expect(bench.machine.nextDeadline == nil, "the socket accepts nothing")
        bench.push()
        #expect(bench.machine.nextDeadline != nil)
        bench.receipts(1...1)
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test func `after a suspension of hours a sender requests the watermark once`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        bench.wait(until: .seconds(100_000))
        #expect(bench.asked == 2)
        #expect(bench.wait(until: .seconds(100_000)) == [])
    }

    @Test func `a sender pushes again from an expected number`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        #expect(bench.expect(3).contains(.count(.rewound)))
        #expect(bench.push().map(\.numbers) == [3...5])
    }

    @Test func `a sender follows one expected number per minRetryDelay`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.expect(3)
        bench.push()
        bench.now = .seconds(0.9)
        for number in [3, 2, 4, 3] as [UInt64] { #expect(bench.expect(number) == []) }
        bench.receipts(1...1)
        #expect(bench.expect(2) == [], "progress permits no second one: a foreign peer can wait for it")
        #expect(bench.push() == [])
        bench.now = .seconds(1)
        #expect(bench.expect(2).contains(.count(.rewound)))
        #expect(bench.push().map(\.numbers) == [2...5])
    }

    @Test func `a further loss within minRetryDelay of an expected number shows by missing receipts`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.expect(3)
        bench.push()
        #expect(bench.expect(3) == [])
        bench.wait()
        #expect(bench.asked == 2)
        bench.watermark(2)
        #expect(bench.push().map(\.numbers) == [3...5])
    }

    @Test func `an impossible expected number is ignored`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.receipts(1...2)
        for number in [0, 1, 2, 6, 7, .max] as [UInt64] { #expect(bench.expect(number) == []) }
        #expect(bench.expect(4, lineage: Fixture.otherLineage) == [])
        #expect(bench.push() == [])
    }
}
