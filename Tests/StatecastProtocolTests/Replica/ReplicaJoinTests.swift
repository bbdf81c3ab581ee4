import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A replica that joins` {
    @Test func `a replica subscribes to the feed, then joins with its position`() throws {
        let bench = ReplicaBench()
        #expect(bench.subscriptions.first == .feed)
        #expect(bench.subscriptions.count == 2)
        #expect(bench.joinsFrom == .some(nil))
        #expect(bench.statuses == [.joining])
    }

    @Test func `after a welcome without an offer a replica continues from its position`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(7, 8))
        bench.wait()
        #expect(bench.joinsFrom == Fixture.position(5))
        bench.welcome(head: 8)
        #expect(bench.status == .joining, "not live before it has the primary's revision")
        let topic = bench.joinTopic ?? .feed
        #expect(bench.receive(Fixture.update(5, 7), on: topic).applied == [7])
        #expect(bench.receive(Fixture.update(7, 8), on: topic).applied == [8])
        #expect(bench.status == .live)
        #expect(bench.subscriptions == [.feed])
    }

    @Test func `a welcome at its own position makes a replica live at once`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(7, 8))
        bench.wait()
        bench.welcome(head: 5)
        #expect(bench.status == .live)
        #expect(bench.subscriptions == [.feed])
    }

    @Test func `after a welcome with an offer a replica pulls and installs the snapshot, and follows`() {
        var bench = ReplicaBench()
        bench.welcome(head: 5, offer: ReplicaBench.offer(4, bytes: 3, chunk: 2))
        #expect(bench.chunksAsked == [0, 1])
        #expect(bench.answer(.update(Fixture.update(4, 5))).applied == [])
        bench.chunk(0, [1, 2], of: 4)
        let directives = bench.chunk(1, [3], of: 4)
        #expect(directives.contains(.install(snapshot: [1, 2, 3], Fixture.position(4), digest: 4)))
        #expect(directives.applied == [5])
        #expect(bench.machine.position == Fixture.position(5))
        #expect(bench.status == .live)
        #expect(bench.subscriptions == [.feed])
    }

    @Test func `the answer to another join is ignored`() {
        var bench = ReplicaBench()
        bench.heartbeat(head: 1)
        let before = bench.machine
        let welcome = Welcome(
            lineage: Fixture.lineage,
            epoch: Fixture.epoch,
            head: Revision(1),
            time: Fixture.time,
            stateVersion: 0,
            heartbeatInterval: .seconds(1),
            offer: ReplicaBench.offer(1, bytes: 1, chunk: 1)
        )
        #expect(bench.receive(.welcome(welcome), on: .join(Nonce(bits: 0), nil)) == [])
        #expect(bench.receive(.welcome(welcome), on: .feed) == [])
        #expect(bench.machine == before)
    }

    @Test func `a second welcome to the same join is ignored`() {
        var bench = ReplicaBench()
        bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: 2, chunk: 1))
        bench.chunk(0, [1], of: 5)
        #expect(bench.welcome(head: 6, offer: ReplicaBench.offer(6, bytes: 2, chunk: 1)) == [])
        #expect(bench.chunk(1, [1], of: 5).installed == [5])
    }

    @Test func `a welcome of an earlier incarnation is ignored`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(7, 8))
        bench.wait()
        let earlier = Epoch(Fixture.epoch.rawValue - 1)
        bench.welcome(head: 9, epoch: earlier)
        #expect(bench.machine.position == Fixture.position(5))
        #expect(bench.receive(Fixture.update(5, 6, epoch: earlier)).applied == [])
        bench.welcome(head: 5)
        #expect(bench.status == .live)
    }

    @Test func `updates before the welcome are ignored, those after it are applied`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(6, 7))
        bench.wait()
        #expect(bench.receive(Fixture.update(5, 6)) == [])
        bench.welcome(head: 5)
        #expect(bench.receive(Fixture.update(5, 6)).applied == [6])
    }

    @Test func `while a join is pending or delayed the feed is ignored`() {
        var bench = ReplicaBench.live(at: 5)
        bench.receive(Fixture.update(6, 7))
        for _ in 0..<2 {
            let deadline = bench.machine.nextDeadline
            let subscriptions = bench.subscriptions
            #expect(bench.receive(Fixture.update(5, 6)) == [])
            #expect(bench.receive(Fixture.update(0, 1, lineage: Fixture.otherLineage)) == [])
            #expect(bench.heartbeat(head: 1, lineage: Fixture.otherLineage) == [.time(Fixture.time)])
            #expect(bench.heartbeat(head: 9, epoch: Epoch(4)) == [.time(Fixture.time)])
            #expect(bench.machine.nextDeadline == deadline)
            #expect(bench.subscriptions == subscriptions)
            bench.wait()
        }
    }

    @Test func `after a welcome that it cannot follow a replica joins from nothing, with a delay`() {
        for (head, lineage) in [(UInt64(4), Fixture.lineage), (5, Fixture.otherLineage)] {
            var bench = ReplicaBench.live(at: 5)
            bench.receive(Fixture.update(6, 7))
            bench.wait()
            bench.welcome(head: head, lineage: lineage)
            #expect(bench.subscriptions == [.feed])
            bench.wait()
            #expect(bench.joinsFrom == .some(nil))
        }
    }

    @Test func `A replica that joins without an answer it joins again with a fresh nonce and a growing delay`() {
        var bench = ReplicaBench(
            .with {
                $0.minRetryDelay = .seconds(1); $0.maxRetryDelay = .seconds(4); $0.maxMissedHeartbeats = 1000
            }
        )
        var delays: [Duration] = []
        for _ in 0..<6 {
            let asked = bench.now
            bench.wait()
            delays.append(asked.duration(to: bench.now))
            #expect(bench.subscriptions.count == 2, "the old join is unsubscribed")
        }
        #expect(Set(bench.nonces).count == 7)
        for (delay, full) in zip(delays, [1, 2, 4, 4, 4, 4]) {
            #expect(delay >= .seconds(full) / 2)
            #expect(delay <= .seconds(full))
        }
    }

    @Test func `a welcome ends the backoff`() {
        var bench = ReplicaBench()
        for _ in 0..<6 { bench.wait() }
        bench.install(at: 1)
        bench.receive(Fixture.update(2, 3))
        bench.wait()
        let asked = bench.now
        bench.wait()
        #expect(asked.duration(to: bench.now) <= .seconds(1))
    }

    @Test func `a replica whose join is refused reports that and retries later`() {
        var bench = ReplicaBench()
        let reason = Rejection(.unknownStore, "no such store")
        #expect(bench.answer(.refusal(Refusal(reason))).contains(.count(.refused(.unknownStore))))
        #expect(bench.status == .refused(reason))
        #expect(bench.subscriptions == [.feed])
        bench.wait()
        #expect(bench.joinsFrom == .some(nil))
        #expect(bench.status == .refused(reason), "the last state stays visible while it retries")
        bench.install(at: 1)
        #expect(bench.status == .live)
    }

    @Test func `when the primary is busy, a replica waits at least the given time`() {
        var bench = ReplicaBench()
        bench.answer(.refusal(Refusal(Rejection(.busy, "later"), retryAfter: .seconds(7))))
        #expect(bench.subscriptions == [.feed])
        #expect(bench.status == .joining)
        bench.wait(until: .seconds(7))
        #expect(bench.joinTopic == nil)
        bench.wait()
        #expect(bench.joinTopic != nil)
        #expect(bench.now <= .seconds(9))
    }

    @Test func `after a suspension of hours a replica joins once`() {
        var bench = ReplicaBench()
        bench.wait(until: .seconds(100_000))
        #expect(bench.nonces.count == 2)
        #expect(bench.wait(until: .seconds(100_000)) == [])
    }
}
