import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A replica whose document differs` {
    @Test func `a replica whose document differs heals by joining from nothing`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(5, 6))
        #expect(bench.fail(at: Fixture.position(6)).contains(.count(.diverged)))
        #expect(bench.joinsFrom == .some(nil))
        bench.install(at: 6)
        #expect(bench.status == .live)
    }

    @Test func `a replica whose document differs directly after a snapshot is incompatible, and does not retry`() {
        var bench = ReplicaBench.live(at: 5)
        bench.fail(at: Fixture.position(5))
        guard case .incompatible(let reason)? = bench.status else {
            Issue.record("expected incompatible, got \(String(describing: bench.status))")
            return
        }
        #expect(reason.code == .incompatible)
        #expect(bench.subscriptions == [.feed])
        #expect(bench.heartbeat(head: 6).filter { $0 != .time(Fixture.time) } == [])
        #expect(bench.receive(Fixture.update(5, 6)) == [])
        #expect(bench.fail(at: Fixture.position(5)) == [])
        #expect(bench.subscriptions == [.feed])
        #expect(bench.nonces.count == 1)
    }

    @Test func `a second failure before a confirmed digest makes a replica incompatible`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(5, 6))
        bench.fail(at: Fixture.position(6))
        bench.install(at: 6)
        bench.receive(Fixture.update(6, 7))
        bench.fail(at: Fixture.position(7))
        guard case .incompatible? = bench.status else {
            Issue.record("expected incompatible, got \(String(describing: bench.status))")
            return
        }
    }

    @Test func `after a confirmed digest a replica whose document differs heals again`() {
        var bench = ReplicaBench.live(at: 5)
        for revision in UInt64(5)..<10 {
            bench.receive(Fixture.update(revision, revision + 1))
            bench.fail(at: Fixture.position(revision + 1))
            #expect(bench.joinsFrom == .some(nil))
            bench.install(at: revision + 1)
            bench.machine.confirmed(at: Fixture.position(revision + 1))
        }
        #expect(bench.status == .live)
    }

    @Test func `an incompatible replica joins again when another primary answers`() {
        for (epoch, lineage) in [(Epoch(4), Fixture.lineage), (Epoch(1), Fixture.otherLineage)] {
            var bench = ReplicaBench.live(at: 5)
            bench.fail(at: Fixture.position(5))
            bench.heartbeat(head: 0, epoch: epoch, lineage: lineage)
            bench.wait()
            #expect(bench.joinsFrom == .some(nil))
        }
        var bench = ReplicaBench.live(at: 5)
        bench.fail(at: Fixture.position(5))
        bench.heartbeat(head: 0, epoch: Epoch(2))
        #expect(bench.subscriptions == [.feed], "not when an older one does")
    }

    /// A heartbeat is published after all updates up to its head, and after the welcome.
    @Test func `a replica whose primary stays below the head of its welcome joins again, then says so`() throws {
        var bench = ReplicaBench()
        bench.welcome(head: 9, offer: ReplicaBench.offer(5, bytes: 1, chunk: 1))
        bench.chunk(0, [1], of: 5)
        let join = try #require(bench.joinTopic)
        #expect(bench.heartbeat(head: 5) == [.time(Fixture.time), .unsubscribe(join)])
        bench.wait()
        #expect(bench.joinsFrom == .some(Fixture.position(5)))
        bench.welcome(head: .max)
        #expect(bench.status == .joining)
        bench.heartbeat(head: 5)
        let reason =
            "expected the updates up to revision \(UInt64.max), as the primary's welcome promised; its heartbeats "
            + "end at 5"
        #expect(bench.status == .incompatible(Rejection(.incompatible, reason)))
        #expect(bench.subscriptions == [.feed])
    }

    /// The heartbeat may be of a connection that was replaced.
    @Test func `a replica is live after one heartbeat below the head of its welcome`() {
        var bench = ReplicaBench()
        for _ in 0..<3 {
            bench.welcome(head: 9, offer: ReplicaBench.offer(5, bytes: 1, chunk: 1))
            bench.chunk(0, [1], of: 5)
            bench.heartbeat(head: 5)
            bench.wait()
            bench.welcome(head: 9)
            bench.receive(Fixture.update(5, 9), on: bench.joinTopic ?? .feed)
            #expect(bench.status == .live)
            bench.machine.confirmed(at: Fixture.position(9))
            bench.fail(at: Fixture.position(9))
            #expect(bench.joinsFrom == .some(nil))
            bench.machine.confirmed(at: Fixture.position(9))
        }
    }

    @Test func `a failure in another history is ignored`() {
        var bench = ReplicaBench.live(at: 5)
        let before = bench.machine
        #expect(bench.fail(at: Fixture.position(5, lineage: Fixture.otherLineage)) == [])
        #expect(bench.machine == before)
    }

    @Test func `a failure in an older epoch of the same history makes a replica start from nothing`() {
        var bench = ReplicaBench.live(at: 5)
        bench.fail(at: Fixture.position(5, epoch: Epoch(2)))
        #expect(bench.joinsFrom == .some(nil))
    }
}
