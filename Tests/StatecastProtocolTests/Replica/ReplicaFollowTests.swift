import StatecastProtocol
import Testing

@Suite struct `A replica that follows` {
    @Test func `a replica applies updates that chain`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.receive(Fixture.update(5, 6)).applied == [6])
        #expect(bench.receive(Fixture.update(6, 9)).applied == [9])
        #expect(bench.machine.position == Fixture.position(9))
    }

    @Test func `a replica ignores a known update`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.receive(Fixture.update(4, 5)).applied == [])
        #expect(bench.receive(Fixture.update(3, 4)).applied == [])
        #expect(bench.status == .live)
    }

    @Test func `a gap makes a replica join again from its revision, after a jitter`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.receive(Fixture.update(6, 7)).contains(.count(.gap)))
        #expect(bench.status == .joining)
        #expect(bench.joinTopic == nil)
        bench.wait()
        #expect(bench.now <= Instant(offset: bench.machine.limits.maxGapJitter))
        #expect(bench.joinsFrom == Fixture.position(5))
    }

    @Test func `an update that overlaps is a gap`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.receive(Fixture.update(4, 6)).contains(.count(.gap)))
    }

    @Test func `many updates after a gap are one gap`() {
        var bench = ReplicaBench.live(at: 5)
        let directives = (10..<200).reduce(into: []) { $0 += bench.receive(Fixture.update($1, $1 + 1)) }
        #expect(directives.count { $0 == .count(.gap) } == 1)
    }

    @Test func `replicas that lost the same update rejoin at different times`() {
        let moments = (0..<20).map { seed -> Instant in
            var generator = SeededGenerator(seed: UInt64(seed))
            var machine = ReplicaBench.live(at: 5).machine
            _ = machine.received(.update(Fixture.update(6, 7)), on: .feed, at: .origin, using: &generator)
            return machine.nextDeadline
        }.sorted()
        #expect(Set(moments).count > 10)
        #expect(moments[3].duration(to: moments[16]) > Limits().maxGapJitter / 3, "\(moments)")
    }

    @Test func `frames of an older epoch are dropped`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.receive(Fixture.update(5, 6, epoch: Epoch(2))) == [])
        #expect(bench.heartbeat(head: 9, epoch: Epoch(2)) == [])
        #expect(bench.machine.position == Fixture.position(5))
    }

    @Test(arguments: [(Fixture.lineage, Epoch(4)), (Fixture.otherLineage, Epoch(1)), (Fixture.otherLineage, Epoch(9))])
    func `a newer epoch or another lineage makes a replica join again, whatever the frame`(
        lineage: Lineage,
        epoch: Epoch
    ) {
        for isHeartbeat in [true, false] {
            var bench = ReplicaBench.live(at: 5)
            if isHeartbeat {
                bench.heartbeat(head: 5, epoch: epoch, lineage: lineage)
            } else {
                #expect(bench.receive(Fixture.update(5, 6, epoch: epoch, lineage: lineage)).applied == [])
            }
            #expect(bench.status == .joining)
            bench.wait()
            #expect(bench.joinsFrom == Fixture.position(5))
        }
    }

    @Test func `a replica adopts the epoch of the primary that welcomed it`() {
        var bench = ReplicaBench.live(at: 5)
        bench.heartbeat(head: 5, epoch: Epoch(4))
        bench.wait()
        bench.welcome(head: 5, epoch: Epoch(4))
        #expect(bench.machine.position == Fixture.position(5, epoch: Epoch(4)))
        #expect(bench.receive(Fixture.update(5, 6, epoch: Epoch(4))).applied == [6])
    }

    @Test func `a replica verifies the digest of a heartbeat at its revision`() {
        var bench = ReplicaBench.live(at: 5)
        #expect(bench.heartbeat(head: 5) == [.time(Fixture.time), .verify(Fixture.position(5), digest: 5)])
    }

    @Test(arguments: [UInt64(6), 4]) func `a heartbeat at another revision reveals a lost update`(head: UInt64) {
        var bench = ReplicaBench.live(at: 5)
        let directives = bench.heartbeat(head: head)
        #expect(directives.contains(.count(.gap)))
        #expect(directives.verified == [])
        bench.wait()
        #expect(bench.joinsFrom == Fixture.position(5))
    }

    @Test func `a replica is stale after maxMissedHeartbeats missed heartbeats, and live with the next`() {
        var bench = ReplicaBench.live(at: 5, .with { $0.maxMissedHeartbeats = 3 })
        bench.wait(until: .seconds(3.9))
        #expect(bench.status == .live)
        bench.wait(until: .seconds(4))
        #expect(bench.status == .stale)
        bench.now = .seconds(60)
        bench.heartbeat(head: 5)
        #expect(bench.statuses == [.joining, .live, .stale, .live])
        #expect(bench.machine.nextDeadline == .seconds(64))
    }

    @Test func `a replica counts heartbeats by the primary's own interval`() {
        var bench = ReplicaBench()
        let welcome = Welcome(
            lineage: Fixture.lineage,
            epoch: Fixture.epoch,
            head: Revision(1),
            time: Fixture.time,
            stateVersion: 0,
            heartbeatInterval: .seconds(10),
            offer: ReplicaBench.offer(1, bytes: 1, chunk: 1)
        )
        bench.answer(.welcome(welcome))
        bench.chunk(0, [1], of: 1)
        bench.wait(until: .seconds(39))
        #expect(bench.status == .live)
        bench.wait(until: .seconds(40))
        #expect(bench.status == .stale)
    }

    @Test func `a stale replica applies an update that chains, and joins at one that does not`() {
        var bench = ReplicaBench.live(at: 5)
        bench.wait()
        #expect(bench.receive(Fixture.update(5, 6)).applied == [6])
        #expect(bench.status == .live)
        bench.wait()
        #expect(bench.status == .stale)
        bench.receive(Fixture.update(8, 9))
        #expect(bench.status == .joining)
    }
}
