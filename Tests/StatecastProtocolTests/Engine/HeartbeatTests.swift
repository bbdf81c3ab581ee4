import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The heartbeat of the primary` {
    @Test func `the first tick sends a heartbeat with the head and its digest`() {
        var bench = PrimaryBench()
        bench.advance(by: 2)
        bench.push(1...1)
        bench.turn()
        #expect(bench.reduced == Revision(3))
        let heartbeats = bench.tick(at: .origin).heartbeats
        let expected = Heartbeat(
            lineage: Fixture.lineage,
            epoch: Fixture.epoch,
            head: Revision(2),
            digest: PrimaryBench.summary(2).digest,
            time: Fixture.time
        )
        #expect(heartbeats == [expected])
    }

    @Test func `A heartbeat is sent every interval, none before`() {
        var bench = PrimaryBench()
        _ = bench.tick(at: .origin)
        #expect(bench.nextDeadline == .seconds(1))
        #expect(bench.tick(at: .seconds(0.999)) == [])
        #expect(bench.tick(at: .seconds(1)).heartbeats.count == 1)
    }

    @Test func `After a long suspension one heartbeat is sent, not a burst`() {
        var bench = PrimaryBench()
        #expect(bench.tick(at: .seconds(1000)).heartbeats.count == 1)
        #expect(bench.tick(at: .seconds(1000.5)) == [])
        #expect(bench.nextDeadline == .seconds(1001))
    }

    @Test func `a batch of rejections changes neither head nor digest`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        bench.push(1...1)
        #expect(bench.turnAndCommit().receipts() == [1: .rejected(Rejection(.refused, "no"))])
        let heartbeat = bench.tick(at: .origin).heartbeats.first
        #expect(heartbeat?.head == Revision(1))
        #expect(heartbeat?.digest == PrimaryBench.summary(1).digest)
    }
}
