import StateCoding
import StateCore
import SyncProtocol
import Testing

@Suite struct `The heartbeat of the primary` {
    @Test func `the first tick sends a heartbeat with the head and its digest`() {
        var bench = PrimaryBench()
        bench.advance(by: 2)
        bench.push(1...1)
        bench.close()
        let heartbeats = bench.machine.tick(at: .origin, time: Fixture.time).heartbeats
        let expected = Heartbeat(
            lineage: Fixture.lineage,
            epoch: Fixture.epoch,
            head: Revision(2),
            digest: 2,
            time: Fixture.time
        )
        #expect(heartbeats == [expected])
    }

    @Test func `one is sent every interval, none before`() {
        var bench = PrimaryBench()
        _ = bench.machine.tick(at: .origin, time: Fixture.time)
        #expect(bench.machine.nextDeadline == .seconds(1))
        #expect(bench.machine.tick(at: .seconds(0.999), time: Fixture.time) == [])
        #expect(bench.machine.tick(at: .seconds(1), time: Fixture.time).heartbeats.count == 1)
    }

    @Test func `after a long suspension one is sent, not a burst`() {
        var bench = PrimaryBench()
        #expect(bench.machine.tick(at: .seconds(1000), time: Fixture.time).heartbeats.count == 1)
        #expect(bench.machine.tick(at: .seconds(1000.5), time: Fixture.time) == [])
        #expect(bench.machine.nextDeadline == .seconds(1001))
    }

    @Test func `a batch of rejections changes neither head nor digest`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        bench.verdicts[1] = .rejected(Rejection(.refused, "no"))
        bench.push(1...1)
        for case .commit(let record) in bench.machine.close(patch: [], summary: Summary(digest: 55, bytes: 1)) {
            _ = bench.machine.committed(through: record.sequence, at: .origin)
        }
        let heartbeat = bench.machine.tick(at: .origin, time: Fixture.time).heartbeats.first
        #expect(heartbeat?.head == Revision(1))
        #expect(heartbeat?.digest == 1)
    }
}
