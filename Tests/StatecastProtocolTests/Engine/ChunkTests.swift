import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Chunks of snapshots on the primary` {
    /// A primary with a snapshot of ten bytes at revision 0, in chunks of four.
    private func bench(_ change: (inout Limits) -> Void = { _ in }) -> PrimaryBench {
        var bench = PrimaryBench(
            .with {
                $0.maxChunkBytes = 4; change(&$0)
            }
        )
        _ = bench.join()
        bench.snapshotEncoded(Array(0..<10), at: 0)
        _ = bench.turn()
        return bench
    }

    private func topic(_ index: UInt32, _ revision: UInt64 = 0, lineage: Lineage = Fixture.lineage) -> Topic {
        .snapshot(lineage, Revision(revision), index: index)
    }

    @Test func `each chunk has maxChunkBytes bytes, the last one the rest`() {
        var bench = bench()
        for index in UInt32(0)..<3 { #expect(bench.subscribed(to: topic(index)) == []) }
        let answer = bench.turn()
        #expect(answer.frames(on: topic(0)) == [.chunk(Chunk(bytes: [0, 1, 2, 3]))])
        #expect(answer.frames(on: topic(1)) == [.chunk(Chunk(bytes: [4, 5, 6, 7]))])
        #expect(answer.frames(on: topic(2)) == [.chunk(Chunk(bytes: [8, 9]))])
    }

    @Test func `a chunk that many request in one turn is published once`() {
        var bench = bench()
        for _ in 0..<3 { _ = bench.subscribed(to: topic(1)) }
        #expect(bench.turn().topics == [topic(1)])
        _ = bench.subscribed(to: topic(1))
        #expect(bench.turn().topics == [topic(1)], "a later request is answered, too")
    }

    @Test func `a withdrawn request gets no answer`() {
        var bench = bench()
        _ = bench.subscribed(to: topic(1))
        _ = bench.unsubscribed(from: topic(1))
        #expect(bench.turn() == [])
    }

    @Test func `chunks that do not exist are refused at once`() {
        var bench = bench()
        for topic in [topic(3), topic(.max), topic(0, 1), topic(0, lineage: Fixture.otherLineage)] {
            #expect(bench.subscribed(to: topic).refusals(on: topic).map(\.reason.code) == [.snapshotGone])
        }
    }

    @Test func `a turn publishes chunks until they reach maxChunkBytesPerTurn bytes`() {
        var bench = bench { $0.maxChunkBytesPerTurn = 5 }
        for index in UInt32(0)..<3 { _ = bench.subscribed(to: topic(index)) }
        #expect(bench.turn().topics == [topic(0), topic(1)])
        #expect(bench.hasWork)
        #expect(bench.turn().topics == [topic(2)])
    }

    @Test func `a snapshot is cached for snapshotRetention after its last use`() {
        var bench = bench()
        #expect(bench.nextDeadline <= .seconds(120))
        bench.now = .seconds(100)
        _ = bench.subscribed(to: topic(0))
        _ = bench.turn()
        _ = bench.tick(at: .seconds(219.9))
        #expect(bench.subscribed(to: topic(0)) == [])
        _ = bench.tick(at: .seconds(220))
        #expect(bench.subscribed(to: topic(0)).refusals(on: topic(0)).count == 1)
    }

    @Test func `maxSnapshots snapshots are cached, the oldest is evicted first`() {
        var bench = bench { $0.maxSnapshots = 2 }
        bench.advance(by: 2)
        bench.snapshotEncoded([1], at: 1)
        #expect(bench.subscribed(to: topic(0)) == [])
        bench.snapshotEncoded([1], at: 2)
        #expect(bench.subscribed(to: topic(0)).refusals(on: topic(0)).count == 1)
        #expect(bench.subscribed(to: topic(0, 1)) == [])
    }

    @Test func `a request whose snapshot is evicted while it waits is refused`() {
        var bench = bench()
        _ = bench.subscribed(to: topic(0))
        _ = bench.tick(at: .seconds(120))
        #expect(bench.turn().refusals(on: topic(0)).map(\.reason.code) == [.snapshotGone])
    }
}
