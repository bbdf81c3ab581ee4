import StatecastCore
import StatecastProtocol
import Testing

/// A connection may stay open and deliver nothing, as when a proxy or a NAT has forgotten it.
@Suite struct `A replica on a connection that delivers nothing` {
    @Test func `A replica connects anew after the silence of missed heartbeats and a random delay`() {
        var delays: Set<Duration> = []
        for seed in 0..<50 {
            var bench = ReplicaBench.live(at: 5, seed: UInt64(seed))
            while bench.reconnections.isEmpty { bench.wait() }
            #expect(bench.status == .stale, "it knows nothing new of the primary")
            #expect(bench.subscriptions.first == .feed && bench.subscriptions.count == 2)
            #expect(bench.joinsFrom == Fixture.position(5))
            let delay = Instant.origin.duration(to: bench.reconnections[0])
            #expect(delay > .seconds(4) && delay <= .seconds(7))
            delays.insert(delay)
            bench.welcome(head: 5)
            #expect(bench.status == .live)
        }
        #expect(delays.count > 40)
    }

    @Test func `A replica on a connection that delivers nothing waits twice as long each time, up to a minute`() {
        var bench = ReplicaBench.live(at: 5)
        while bench.reconnections.count < 8 { bench.wait() }
        let times = [.origin] + bench.reconnections
        let delays = zip(times, times.dropFirst()).map { $0.duration(to: $1) }
        for (delay, silence) in zip(delays, [4, 8, 16, 32, 60, 60, 60, 60]) {
            #expect(delay > .seconds(silence) && delay <= .seconds(silence + 3))
        }
    }

    @Test func `A replica connects anew after silence in every phase in which a message is awaited`() {
        var joining = ReplicaBench()
        while joining.reconnections.isEmpty { joining.wait() }
        #expect(joining.joinsFrom == .some(nil))

        var pulling = ReplicaBench()
        pulling.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: 2, chunk: 1))
        while pulling.reconnections.isEmpty { pulling.wait() }
        #expect(pulling.chunksAsked == [] && pulling.joinsFrom == .some(nil))

        var incompatible = ReplicaBench.live(at: 5)
        incompatible.fail(at: Fixture.position(5))
        while incompatible.reconnections.isEmpty { incompatible.wait() }
        #expect(incompatible.subscriptions == [.feed], "it joins when another primary answers")
    }

    @Test func `any message to a replica, also one that it ignores or cannot read, counts as delivered`() {
        var bench = ReplicaBench.live(at: 5)
        for second in 1..<100 {
            bench.wait(until: .seconds(Double(second)))
            switch second % 3 {
            case 0: bench.receive(Fixture.update(3, 4))
            case 1: bench.receive(.chunk(Chunk(bytes: [1])), on: .snapshot(Fixture.lineage, Revision(9), index: 7))
            default: bench.machine.heard(at: bench.now)
            }
        }
        #expect(bench.reconnections == [])
        while bench.reconnections.isEmpty { bench.wait() }
        #expect(bench.reconnections[0] > .seconds(103))
    }

    @Test func `Messages of an incarnation that ended are no sign of the primary`() {
        var bench = ReplicaBench.live(at: 5)
        for second in 1..<100 {
            bench.wait(until: .seconds(Double(second)))
            bench.heartbeat(head: 5, epoch: Epoch(Fixture.epoch.rawValue - 1))
        }
        #expect(bench.statuses.contains(.stale) && !bench.reconnections.isEmpty)
    }

    @Test func `A replica replaces a connection that brings heartbeats and carries no joins`() {
        var bench = ReplicaBench()
        var joins = 0
        bench.heartbeat(head: 9)
        while bench.reconnections.isEmpty {
            let join = bench.joinTopic
            bench.wait()
            if bench.joinTopic != join { joins += 1 }
            bench.heartbeat(head: 9)
        }
        #expect(joins == 16)
        #expect(bench.subscriptions.first == .feed && bench.joinsFrom == .some(nil))
        bench.welcome(head: 9, offer: ReplicaBench.offer(9, bytes: 1, chunk: 1))
        #expect(bench.chunksAsked == [0])
    }

    @Test func `A replica counts no join of a silent connection, and need not replace one that carries no joins`() {
        var limits = Limits()
        limits.maxRetryDelay = .seconds(1)
        var silent = ReplicaBench(limits)
        // Forty joins take less time than the silence before the next replacement.
        while silent.reconnections.count < 8 { silent.wait() }
        let delays = zip(silent.reconnections, silent.reconnections.dropFirst()).map { $0.duration(to: $1) }
        #expect(delays.suffix(3).allSatisfy { $0 >= .seconds(60) }, "\(delays)")

        limits.maxUnansweredRequests = .max
        var patient = ReplicaBench(limits)
        for _ in 0..<100 {
            patient.wait()
            patient.heartbeat(head: 9)
        }
        #expect(patient.reconnections == [])
    }

    @Test func `A replica never replaces a connection because a join is slow or it waits after a refusal`() {
        var slow = ReplicaBench()
        for second in 1..<100 {
            slow.wait(until: .seconds(Double(second)))
            slow.heartbeat(head: 9)
        }
        #expect(slow.reconnections == [])

        // A store that does not exist has no heartbeats: the answers to joins are all that arrives.
        var refused = ReplicaBench()
        while refused.now < .seconds(300) {
            if refused.joinTopic != nil { refused.answer(.refusal(Refusal(Rejection(.unknownStore, "no such store")))) }
            refused.wait()
        }
        #expect(refused.reconnections == [])
    }
}
