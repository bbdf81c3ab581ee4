import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A replica that pulls a snapshot` {
    /// A replica with an offer of six chunks of two bytes at revision 5, from a primary at the given head.
    private func pulling(head: UInt64 = 5, _ change: (inout Limits) -> Void = { _ in }) -> ReplicaBench {
        var bench = ReplicaBench(
            .with {
                $0.maxChunksAhead = 3; change(&$0)
            }
        )
        bench.welcome(head: head, offer: ReplicaBench.offer(5, bytes: 11, chunk: 2))
        return bench
    }

    private static let chunks: [[UInt8]] = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]

    @Test func `a replica requests maxChunksAhead chunks, then one for each that arrives`() {
        var bench = pulling()
        #expect(bench.chunksAsked == [0, 1, 2])
        bench.chunk(1, Self.chunks[1], of: 5)
        #expect(bench.chunksAsked == [0, 2, 3])
        bench.chunk(0, Self.chunks[0], of: 5)
        bench.chunk(2, Self.chunks[2], of: 5)
        #expect(bench.chunksAsked == [3, 4, 5])
    }

    @Test(arguments: 0..<20) func `chunks may arrive in any order`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bench = pulling()
        var directives: [ReplicaDirective] = []
        while let index = bench.chunksAsked.randomElement(using: &generator) {
            directives += bench.chunk(index, Self.chunks[Int(index)], of: 5)
        }
        #expect(directives.contains(.install(snapshot: Array(0..<11), Fixture.position(5), digest: 5)))
        #expect(bench.subscriptions == [.feed])
        #expect(bench.status == .live)
    }

    @Test func `chunks that were not requested, are duplicates, or have the wrong size are ignored`() {
        var bench = pulling()
        bench.chunk(0, Self.chunks[0], of: 5)
        let before = bench.machine
        for (index, bytes, revision) in [
            (UInt32(0), [0, 1], UInt64(5)), (4, [8, 9], 5), (.max, [0, 1], 5), (1, [2], 5), (1, [2, 3, 4], 5),
            (1, [], 5), (1, [2, 3], 6),
        ] as [(UInt32, [UInt8], UInt64)] { #expect(bench.chunk(index, bytes, of: revision) == []) }
        #expect(bench.chunk(1, [2, 3], of: 5, lineage: Fixture.otherLineage) == [])
        #expect(bench.machine == before)
    }

    @Test func `a chunk on the feed is ignored`() {
        var bench = pulling()
        #expect(bench.receive(.chunk(Chunk(bytes: [0, 1]))) == [])
    }

    @Test func `updates from the join and the feed that arrive meanwhile are applied after the snapshot`() {
        var bench = pulling(head: 7)
        bench.answer(.update(Fixture.update(5, 6)))
        bench.answer(.update(Fixture.update(6, 7)))
        #expect(bench.receive(Fixture.update(7, 8)) == [])
        var directives: [ReplicaDirective] = []
        while let index = bench.chunksAsked.first {
            directives += bench.chunk(index, Self.chunks[Int(index)], of: 5)
        }
        #expect(directives.installed == [5])
        #expect(directives.applied == [6, 7, 8])
        #expect(bench.status == .live)
        #expect(bench.subscriptions == [.feed])
    }

    @Test func `after a gap in the buffered updates a replica joins again from the last one that chained`() {
        var bench = pulling()
        bench.receive(Fixture.update(5, 6))
        bench.receive(Fixture.update(7, 8))
        bench.receive(Fixture.update(8, 9))
        while let index = bench.chunksAsked.first { bench.chunk(index, Self.chunks[Int(index)], of: 5) }
        #expect(bench.machine.position == Fixture.position(6))
        #expect(bench.subscriptions == [.feed])
        bench.wait()
        #expect(bench.joinsFrom == Fixture.position(6))
    }

    @Test func `a replica buffers maxBacklogBytes bytes of updates while it pulls a snapshot`() {
        let bytes = Fixture.patch(to: 6).count + MemoryLayout<Update>.size
        for (maxBytes, isHeld) in [(bytes, true), (bytes - 1, false)] {
            var bench = pulling { $0.maxBacklogBytes = maxBytes }
            bench.receive(Fixture.update(5, 6))
            var directives: [ReplicaDirective] = []
            while let index = bench.chunksAsked.first {
                directives += bench.chunk(index, Self.chunks[Int(index)], of: 5)
            }
            #expect(directives.contains(.count(.backlogOverflow)) == !isHeld)
            #expect(directives.installed == [5], "a finished snapshot is never thrown away")
            #expect(bench.machine.position?.revision == Revision(isHeld ? 6 : 5))
            #expect(bench.subscriptions.count == (isHeld ? 1 : 2))
            if !isHeld { #expect(bench.joinsFrom == Fixture.position(5)) }
        }
    }

    @Test func `when the snapshot is gone a replica joins again from nothing`() {
        var bench = pulling()
        let gone = Frame.refusal(Refusal(Rejection(.snapshotGone, "gone")))
        #expect(bench.receive(gone, on: .snapshot(Fixture.lineage, Revision(4), index: 0)) == [])
        bench.receive(gone, on: .snapshot(Fixture.lineage, Revision(5), index: 1))
        #expect(bench.chunksAsked == [])
        #expect(bench.subscriptions == [.feed], "it joins again after a random delay")
        bench.wait()
        #expect(bench.joinsFrom == .some(nil))
        #expect(bench.subscriptions.count == 2)
        bench.install(at: 6)
        #expect(bench.status == .live)
    }

    @Test func `when no chunk arrives for maxRetryDelay a replica joins again`() {
        var bench = pulling()
        bench.now = .seconds(9)
        bench.chunk(0, Self.chunks[0], of: 5)
        bench.wait(until: .seconds(18.9))
        #expect(bench.chunksAsked.count == 3)
        bench.wait(until: .seconds(19))
        #expect(bench.subscriptions == [.feed])
        bench.wait()
        #expect(bench.joinsFrom == .some(nil))
    }

    @Test func `another history ends the pull`() {
        var bench = pulling()
        bench.heartbeat(head: 1, lineage: Fixture.otherLineage)
        #expect(bench.subscriptions == [.feed])
        var later = pulling()
        later.heartbeat(head: 5, epoch: Epoch(4))
        #expect(later.subscriptions == [.feed])
        var earlier = pulling()
        earlier.heartbeat(head: 5, epoch: Epoch(2))
        #expect(earlier.chunksAsked.count == 3)
    }

    @Test func `an offer of maxSnapshotBytes bytes is accepted, a larger or empty one is incompatible`() {
        for (bytes, isAccepted) in [(4096, true), (4097, false), (0, false)] {
            var bench = ReplicaBench(.with { $0.maxSnapshotBytes = 4096 })
            bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: bytes, chunk: 1024))
            #expect(bench.chunksAsked.isEmpty != isAccepted)
            if case .incompatible = bench.status { #expect(!isAccepted) } else { #expect(isAccepted) }
            if !isAccepted { #expect(bench.subscriptions == [.feed]) }
        }
    }

    @Test(arguments: [(Int.max, 1), (1 << 29, 1), (5, 0), (Int.max, Int.max)])
    func `an implausible offer is incompatible and allocates no memory`(bytes: Int, chunk: Int) {
        var bench = ReplicaBench()
        bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: bytes, chunk: chunk))
        #expect(bench.subscriptions == [.feed])
    }

    @Test func `an offer in maxSnapshotChunks chunks is accepted, one in more is incompatible`() {
        for (bytes, isAccepted) in [(Limits.maxSnapshotChunks, true), (Limits.maxSnapshotChunks + 1, false)] {
            var bench = ReplicaBench()
            bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: bytes, chunk: 1))
            #expect(bench.chunksAsked.isEmpty != isAccepted)
            if case .incompatible = bench.status { #expect(!isAccepted) } else { #expect(isAccepted) }
        }
    }

    @Test func `an offer in one chunk of any size is accepted`() {
        var bench = ReplicaBench()
        bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: 3, chunk: .max))
        #expect(bench.chunk(0, [1, 2, 3], of: 5).installed == [5])
    }

    @Test func `a snapshot older than the shown state is counted as a rewind`() {
        var bench = ReplicaBench.live(at: 9)
        bench.receive(Fixture.update(11, 12))
        bench.wait()
        bench.welcome(head: 5, offer: ReplicaBench.offer(5, bytes: 1, chunk: 1))
        #expect(bench.chunk(0, [1], of: 5).contains(.count(.rewound)))
        #expect(bench.machine.position == Fixture.position(5))
    }

    @Test func `the old position stays until the snapshot is complete`() {
        var bench = ReplicaBench.live(at: 9)
        bench.receive(Fixture.update(11, 12))
        bench.wait()
        bench.welcome(head: 15, offer: ReplicaBench.offer(15, bytes: 2, chunk: 1))
        bench.chunk(0, [1], of: 15)
        #expect(bench.machine.position == Fixture.position(9))
    }
}
