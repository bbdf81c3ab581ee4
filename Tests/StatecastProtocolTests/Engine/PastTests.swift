import StatecastCore
import StatecastProtocol
import Testing

/// Joiners that were disconnected for longer than updates are kept in memory.
@Suite struct `A joiner whose updates are only in the journal` {
    private static let position = Fixture.position(2)
    private static let topic = PrimaryBench.join(1, position)

    /// A primary that has published ten updates and keeps four in memory.
    private static func bench() -> PrimaryBench {
        var bench = PrimaryBench(.with { $0.maxRingUpdates = 4 })
        bench.advance(by: 10)
        return bench
    }

    private static func updates(_ revisions: ClosedRange<UInt64>) -> [Update] {
        revisions.map { revision in
            Update(
                lineage: Fixture.lineage,
                epoch: Fixture.epoch,
                from: Revision(revision - 1),
                to: Revision(revision),
                patch: Fixture.patch(to: revision)
            )
        }
    }

    @Test func `A joiner gets missed updates from the journal, and the later ones from memory`() throws {
        var bench = Self.bench()
        let directives = bench.join(from: Self.position)
        #expect(
            directives == [.readPast(after: Revision(2), through: Revision(8), maxBytes: 1 << 20)],
            "\(directives)"
        )
        #expect(bench.joinsWaiting == 1)
        // Half of the updates in memory may be dropped during the read.
        bench.advance(by: 2)
        bench.pastRead(Self.updates(3...8), after: Revision(2))
        #expect(bench.hasWork)
        let answer = bench.turn()
        #expect(try #require(answer.welcome(on: Self.topic)).offer == nil)
        #expect(answer.updates(on: Self.topic).map(\.to.rawValue) == Array(3...12))
        #expect(bench.joinsWaiting == 0)
    }

    @Test func `A joiner starts from a snapshot if memory drops more updates while the journal is read`() {
        var bench = Self.bench()
        bench.join(from: Self.position)
        bench.advance(by: 3)
        bench.pastRead(Self.updates(3...8), after: Revision(2))
        #expect(bench.turn().snapshotsOrdered == 1)
    }

    @Test(arguments: [nil, [], updates(3...5)])
    func `A joiner starts from a snapshot if the journal's updates do not reach those in memory`(past: [Update]?) {
        var bench = Self.bench()
        bench.join(from: Self.position)
        bench.pastRead(past, after: Revision(2))
        #expect(bench.turn().snapshotsOrdered == 1)
    }

    @Test
    func `A joiner whose updates are only in the journal shares one read with all joiners at the same revision`() {
        var bench = Self.bench()
        bench.join(1, from: Self.position)
        #expect(bench.join(2, from: Self.position) == [])
        #expect(bench.join(3, from: Self.position) == [])
        _ = bench.unsubscribed(from: PrimaryBench.join(2, Self.position))
        bench.pastRead(Self.updates(3...6), after: Revision(2))
        let answer = bench.turn()
        #expect(answer.welcome(on: PrimaryBench.join(1, Self.position)) != nil)
        #expect(answer.welcome(on: PrimaryBench.join(2, Self.position)) == nil)
        #expect(answer.welcome(on: PrimaryBench.join(3, Self.position)) != nil)
    }

    @Test func `A joiner whose updates are only in the journal causes one read even if it leaves and asks again`() {
        var bench = Self.bench()
        bench.join(1, from: Self.position)
        for nonce: UInt64 in 2...5 {
            _ = bench.unsubscribed(from: PrimaryBench.join(nonce - 1, Self.position))
            bench.turn()
            #expect(bench.joinsWaiting == 0)
            #expect(bench.join(nonce, from: Self.position) == [])
        }
        bench.pastRead(Self.updates(3...6), after: Revision(2))
        #expect(bench.turn().welcome(on: PrimaryBench.join(5, Self.position)) != nil)
    }

    @Test func `A joiner starts from a snapshot while a read for another one runs, even if that one has left`() {
        var bench = Self.bench()
        bench.join(1, from: Self.position)
        _ = bench.unsubscribed(from: PrimaryBench.join(1, Self.position))
        #expect(bench.join(2, from: Fixture.position(3)).snapshotsOrdered == 1)
        bench.pastRead(Self.updates(3...6), after: Revision(2))
        #expect(bench.turn().isEmpty)
        #expect(bench.join(3, from: Fixture.position(3)).count == 1)
    }

    @Test func `A joiner that missed more than maxCatchUpComposed updates in the journal starts from a snapshot`() {
        for (most, offers) in [(8, 0), (7, 1)] {
            var bench = PrimaryBench(
                .with {
                    $0.maxRingUpdates = 4
                    $0.maxCatchUpComposed = most
                }
            )
            bench.advance(by: 10)
            bench.join(from: Self.position)
            bench.pastRead(Self.updates(3...6), after: Revision(2))
            #expect(bench.turn().snapshotsOrdered == offers, "\(most)")
        }
    }

    @Test func `A joiner whose updates are only in the journal starts from a snapshot without a journal`() {
        var bench = PrimaryBench(.with { $0.maxRingUpdates = 4 }, hasJournal: false)
        bench.advance(by: 10)
        #expect(bench.join(from: Self.position).snapshotsOrdered == 1)
    }

    @Test
    func `A joiner whose updates are only in the journal gets no answer after it left, also if it had joined twice`() {
        var bench = Self.bench()
        _ = bench.join(from: Self.position)
        bench.pastRead(Self.updates(3...6), after: Revision(2))
        _ = bench.subscribed(to: Self.topic)
        #expect(bench.unsubscribed(from: Self.topic) == [.count(.joinAbandoned)])
        #expect(bench.turn() == [])
    }
}
