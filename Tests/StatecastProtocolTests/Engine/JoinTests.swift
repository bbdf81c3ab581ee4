import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Joins on the primary` {
    @Test func `a joiner at the head gets a welcome without updates`() throws {
        var bench = PrimaryBench()
        bench.advance(by: 3)
        let answer = bench.join(from: Fixture.position(3))
        let topic = PrimaryBench.join(1, Fixture.position(3))
        let welcome = try #require(answer.welcome(on: topic))
        #expect(welcome.head == Revision(3))
        #expect(welcome.offer == nil)
        #expect(welcome.lineage == Fixture.lineage)
        #expect(welcome.epoch == Fixture.epoch)
        #expect(welcome.stateVersion == 99)
        #expect(welcome.time == Fixture.time)
        #expect(answer.updates(on: topic).isEmpty)
    }

    @Test func `a joiner that missed few updates gets them unchanged`() {
        var bench = PrimaryBench(.with { $0.maxCatchUpUpdates = 3 })
        bench.advance(by: 5)
        let topic = PrimaryBench.join(1, Fixture.position(2))
        let updates = bench.join(from: Fixture.position(2)).updates(on: topic)
        #expect(updates.map(\.to.rawValue) == [3, 4, 5])
    }

    @Test func `a joiner that missed many updates gets them composed into one`() throws {
        var bench = PrimaryBench(.with { $0.maxCatchUpUpdates = 3 })
        bench.advance(by: 5)
        let topic = PrimaryBench.join(1, Fixture.position(1))
        let updates = bench.join(from: Fixture.position(1)).updates(on: topic)
        #expect(updates.map(\.from) == [Revision(1)])
        #expect(updates.map(\.to) == [Revision(5)])
        #expect(try updates.map(state) == [5])
    }

    /// The state after an update. A state of the bench is its revision.
    private func state(after update: Update) throws -> Value {
        var state = Value(update.from.rawValue)
        try Patch(decoding: update.patch).apply(to: &state)
        return state
    }

    @Test func `composed updates fit into half a frame, and are as large as that permits`() throws {
        let last: UInt64 = 150
        // Each with the head of a pair.
        let bytes = { (revisions: ClosedRange<UInt64>) in revisions.reduce(0) { $0 + Fixture.patch(to: $1).count + 1 } }
        let total = bytes(2...last)
        for (maxFrameBytes, count) in [(2 * total, 1), (2 * total - 1, 2), (total, 3)] {
            var bench = PrimaryBench(
                .with {
                    $0.maxCatchUpUpdates = 3
                    $0.maxFrameBytes = maxFrameBytes
                }
            )
            bench.advance(by: Int(last))
            let topic = PrimaryBench.join(1, Fixture.position(1))
            let updates = bench.join(from: Fixture.position(1)).updates(on: topic)
            #expect(updates.count == count)
            #expect(updates.map(\.from) == [Revision(1)] + updates.dropLast().map(\.to))
            #expect(updates.last?.to == Revision(last))
            for update in updates {
                let (first, end) = (update.from.rawValue + 1, update.to.rawValue)
                #expect(try state(after: update) == Value(end))
                #expect(bytes(first...end) <= maxFrameBytes / 2)
                #expect(end == last || bytes(first...(end + 1)) > maxFrameBytes / 2)
            }
        }
    }

    @Test func `a joiner that missed more than maxCatchUpComposed updates starts from a snapshot`() {
        var bench = PrimaryBench(.with { $0.maxCatchUpComposed = 4 })
        bench.advance(by: 5)
        #expect(bench.join(1, from: Fixture.position(1)).snapshotsOrdered == 0)
        #expect(bench.join(2, from: Fixture.position(0)).snapshotsOrdered == 1)
    }

    @Test func `a joiner whose missed updates were evicted starts from a snapshot`() {
        var bench = PrimaryBench(.with { $0.maxRingUpdates = 4 })
        bench.advance(by: 5)
        #expect(bench.join(1, from: Fixture.position(1)).welcome(on: PrimaryBench.join(1, Fixture.position(1))) != nil)
        #expect(bench.join(2, from: Fixture.position(0)).snapshotsOrdered == 1)
    }

    @Test func `the size of the kept updates is bounded`() {
        let bytes = Fixture.patch(to: 1).count
        var bench = PrimaryBench(.with { $0.maxRingBytes = 4 * bytes })
        bench.advance(by: 5)
        #expect(bench.join(1, from: Fixture.position(1)).snapshotsOrdered == 0)
        #expect(bench.join(2, from: Fixture.position(0)).snapshotsOrdered == 1)
    }

    @Test(arguments: [
        nil, Fixture.position(1, lineage: Fixture.otherLineage), Fixture.position(1, epoch: Epoch(2)),
        Fixture.position(1, epoch: Epoch(4)), Fixture.position(4), Fixture.position(.max),
    ])
    func `a joiner from a position that is not valid here starts from a snapshot`(position: Position?) throws {
        var bench = PrimaryBench()
        bench.advance(by: 3)
        #expect(bench.join(from: position) == [.encodeSnapshot])
        bench.snapshotEncoded([1, 2, 3], at: 3)
        let welcome = try #require(bench.turn().welcome(on: PrimaryBench.join(1, position)))
        let offer = Welcome.Offer(
            revision: Revision(3),
            bytes: 3,
            chunkBytes: bench.limits.maxChunkBytes,
            digest: 3
        )
        #expect(welcome.offer == offer)
    }

    @Test func `a position between two revisions of one batch is not valid`() {
        var bench = PrimaryBench()
        bench.push(1...4)
        bench.turnAndCommit()
        #expect(bench.join(from: Fixture.position(2)).snapshotsOrdered == 1)
    }

    @Test func `a snapshot is encoded once for many joiners, and each gets an answer on its own topic`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        let ordered = (1...5).reduce(into: [Answer]()) { $0 += bench.join($1) }
        #expect(ordered.snapshotsOrdered == 1)
        bench.snapshotEncoded([1], at: 1)
        let answer = bench.turn()
        for nonce in UInt64(1)...5 { #expect(answer.welcome(on: PrimaryBench.join(nonce))?.offer != nil) }
        #expect(bench.join(6).welcome(on: PrimaryBench.join(6))?.offer != nil, "later joiners share it")
    }

    @Test func `updates since an offered snapshot follow the welcome on the topic of the join`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        _ = bench.join()
        for number in UInt64(2)...3 { bench.reduce(number...number, of: Fixture.otherSession) }
        bench.commit()
        bench.snapshotEncoded([1], at: 1)
        let answer = bench.turn()
        #expect(answer.welcome(on: PrimaryBench.join())?.head == Revision(3))
        #expect(answer.updates(on: PrimaryBench.join()).map(\.to.rawValue) == [2, 3])
    }

    @Test func `joiners that waited for a snapshot get it however far the head moved`() throws {
        var bench = PrimaryBench(
            .with {
                $0.maxCatchUpComposed = 4; $0.maxCatchUpUpdates = 2
            }
        )
        _ = bench.join()
        bench.advance(by: 20)
        bench.snapshotEncoded([1], at: 0)
        let answer = bench.turn()
        #expect(answer.welcome(on: PrimaryBench.join())?.offer?.revision == Revision(0))
        #expect(answer.updates(on: PrimaryBench.join()).last?.to == Revision(20))
    }

    @Test func `a snapshot whose updates were evicted is encoded again`() {
        var bench = PrimaryBench(.with { $0.maxRingUpdates = 4 })
        _ = bench.join()
        bench.advance(by: 5)
        bench.snapshotEncoded([1], at: 0)
        #expect(bench.turn() == [.encodeSnapshot])
        bench.snapshotEncoded([1], at: 5)
        #expect(bench.turn().welcome(on: PrimaryBench.join())?.offer?.revision == Revision(5))
    }

    @Test func `a snapshot is not reused once the later patches exceed half its size`() {
        var bench = PrimaryBench()
        _ = bench.join(1)
        bench.snapshotEncoded(Array(repeating: 0, count: 9000), at: 0)
        _ = bench.turn()
        let patch = Fixture.patch(to: 1000).count
        bench.advance(by: 4500 / patch)
        #expect(bench.join(2).snapshotsOrdered == 0)
        bench.advance(by: 1500 / patch)
        #expect(bench.join(3).snapshotsOrdered == 1)
    }

    /// Otherwise a replica whose backlog overflows meanwhile would return with the snapshot's position, and get the
    /// same snapshot again, for ever.
    @Test func `a snapshot is not reused if a joiner at its position would get another one`() {
        // A state that is much smaller than it was when the snapshot was encoded.
        let history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: Summary(of: .unsigned(0)))
        var bench = PrimaryBench(history: history, .with { $0.maxChunkBytes = 64 })
        _ = bench.join(1)
        bench.snapshotEncoded(Array(repeating: 0, count: 9000), at: 0)
        _ = bench.turn()
        bench.advance(by: 400 / Fixture.patch(to: 1000).count)
        #expect(bench.join(2).snapshotsOrdered == 1)
    }

    @Test func `a turn answers maxJoinsPerTurn joins in order of arrival`() {
        var bench = PrimaryBench(.with { $0.maxJoinsPerTurn = 2 })
        bench.advance(by: 1)
        let position = Fixture.position(1)
        for nonce in UInt64(1)...3 { _ = bench.subscribed(to: PrimaryBench.join(nonce, position)) }
        #expect(bench.turn().topics == [PrimaryBench.join(1, position), PrimaryBench.join(2, position)])
        #expect(bench.hasWork)
        #expect(bench.turn().topics == [PrimaryBench.join(3, position)])
        #expect(!bench.hasWork)
    }

    @Test func `a turn stops answering joins after maxComposedPerTurn composed updates`() {
        var bench = PrimaryBench(
            .with {
                $0.maxCatchUpUpdates = 1; $0.maxComposedPerTurn = 8
            }
        )
        bench.advance(by: 4)
        for nonce in UInt64(1)...3 { _ = bench.subscribed(to: PrimaryBench.join(nonce, Fixture.position(0))) }
        #expect(Set(bench.turn().topics).count == 2)
        #expect(Set(bench.turn().topics).count == 1)
    }

    @Test func `maxWaitingJoins joins wait, one more is refused as busy`() throws {
        var bench = PrimaryBench(.with { $0.maxWaitingJoins = 3 })
        for nonce in UInt64(1)...3 { #expect(bench.subscribed(to: PrimaryBench.join(nonce)) == []) }
        let refused = bench.subscribed(to: PrimaryBench.join(4)).refusals(on: PrimaryBench.join(4))
        #expect(refused.map(\.reason.code) == [.busy])
        #expect(refused.first?.retryAfter == bench.limits.minRetryDelay)
        _ = bench.turn()
        #expect(bench.join(5).refusals(on: PrimaryBench.join(5)).count == 1, "those await their snapshot")
    }

    @Test func `a joiner that unsubscribes gets no answer, wherever it waits`() {
        var bench = PrimaryBench()
        let topics = (1...3).map { PrimaryBench.join($0) }
        _ = bench.subscribed(to: topics[0])
        #expect(bench.unsubscribed(from: topics[0]) == [.count(.joinAbandoned)])
        #expect(bench.turn() == [])
        _ = bench.join(2)
        #expect(bench.unsubscribed(from: topics[1]) == [.count(.joinAbandoned)])
        _ = bench.join(3)
        bench.snapshotEncoded([1], at: 0)
        #expect(bench.unsubscribed(from: topics[2]) == [.count(.joinAbandoned)])
        #expect(bench.turn() == [])
        #expect(bench.unsubscribed(from: topics[2]) == [])
    }

    @Test func `a join that is repeated while it waits gets one answer`() {
        var bench = PrimaryBench()
        _ = bench.subscribed(to: PrimaryBench.join())
        _ = bench.subscribed(to: PrimaryBench.join())
        bench.snapshotEncoded([1], at: 0)
        #expect(bench.turn().topics == [PrimaryBench.join()])
    }

    @Test func `a join that is repeated while its snapshot is encoded ends with its last subscriber`() {
        var bench = PrimaryBench()
        _ = bench.join(1)
        _ = bench.subscribed(to: PrimaryBench.join(1))
        #expect(bench.unsubscribed(from: PrimaryBench.join(1)) == [.count(.joinAbandoned)])
        bench.snapshotEncoded([1], at: 0)
        #expect(bench.turn() == [])
        #expect(bench.joinsWaiting == 0)
    }

    @Test func `subscriptions to the feed and the actions get no answer`() {
        var bench = PrimaryBench()
        for topic in [Topic.feed, .actions] {
            #expect(bench.subscribed(to: topic) == [])
            #expect(bench.unsubscribed(from: topic) == [])
        }
    }
}
