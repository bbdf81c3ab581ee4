import SyncProtocol
import Testing

@Suite struct `A cluster with all kinds of faults` {
    /// Limits so small that every bound is reached.
    static let limits = Limits.with {
        $0.windowActionsMax = 8
        $0.windowBytesMax = 60
        $0.frameBytesMin = 12
        $0.frameBytesTarget = 30
        $0.frameBytesMax += ModelState.patchBytesMax - $0.patchBytesMax
        $0.uncommittedRecordsMax = 4
        $0.heldBytesMax = 600
        $0.catchUpUpdatesMax = 3
        $0.catchUpComposedMax = 20
        $0.ringUpdatesMax = 40
        $0.chunkBytesMax = 24
        $0.chunksAheadMax = 2
        $0.backlogBytesMax = 900
        $0.joinsPerTurnMax = 1
        $0.joinsWaitingMax = 2
        $0.chunkBytesPerTurnMax = 48
        $0.snapshotsMax = 2
        $0.snapshotRetention = .seconds(5)
    }

    private func run(
        _ seed: UInt64,
        steps: Int = 1200,
        restarts: Bool,
        mayForgetSessions: Bool = false,
        sendersAreSaved: Bool = false,
        limits: Limits = limits
    ) throws {
        var cluster = try Cluster(seed: seed, sendersAreSaved: sendersAreSaved, limits: limits)
        for _ in 0..<steps { try cluster.step(restarts: restarts) }
        let isAtRest = try cluster.quiesce()
        #expect(isAtRest, "seed \(seed) does not become quiescent")
        let violations = try cluster.violations(mayForgetSessions: mayForgetSessions)
        #expect(violations == [], "seed \(seed)")
    }

    @Test func `every fault occurs`() throws {
        var (ofPrimary, ofReplicas, ofSenders): (Set<StoreEvent>, Set<ReplicaEvent>, Set<SenderEvent>) = ([], [], [])
        var faults: Set<Cluster.Fault> = []
        var cancelledCount = 0
        for seed in UInt64(1000)..<1050 {
            var cluster = try Cluster(seed: seed, limits: Self.limits)
            for _ in 0..<1200 { try cluster.step(restarts: true) }
            ofPrimary.formUnion(cluster.events)
            faults.formUnion(cluster.faults)
            cancelledCount += cluster.cancelledCount
            for replica in cluster.replicas { ofReplicas.formUnion(replica.events) }
            for sender in cluster.senders { ofSenders.formUnion(sender.events) }
        }
        #expect(
            ofPrimary.isSuperset(of: [
                .duplicates(1), .outOfOrder, .otherLineage, .joined, .joinAbandoned, .chunkPublished, .sessionOpened,
                .refused(.busy), .refused(.snapshotGone),
            ])
        )
        #expect(ofPrimary.isSuperset(of: [.refused(.storageFull), .refused(.overloaded)]))
        #expect(faults == [.splitFrame, .halving, .fullDisk(rollsBack: true), .fullDisk(rollsBack: false)])
        #expect(cancelledCount > 0, "actions of cancelled effects are dropped")
        #expect(ofReplicas.isSuperset(of: [.joining, .gap, .backlogOverflow, .refused(.busy)]))
        #expect(ofReplicas.isDisjoint(with: [.diverged]))
        #expect(ofSenders.isSuperset(of: [.asked, .rewound, .lineageChanged]))
    }

    @Test(arguments: seeds(0..<150))
    func `with one primary every action has one correct outcome, and all replicas agree`(seed: UInt64) throws {
        try run(seed, restarts: false)
    }

    @Test(arguments: seeds(1000..<1150))
    func `across fresh primaries no action is applied twice, and only sent actions may be unknown`(
        seed: UInt64
    ) throws {
        try run(seed, restarts: true)
    }

    @Test(arguments: seeds(2000..<2100))
    func `with fewer sessions than senders no action is applied twice`(seed: UInt64) throws {
        var limits = Self.limits
        limits.sessionsMax = 2
        try run(seed, restarts: true, mayForgetSessions: true, limits: limits)
    }

    @Test(arguments: seeds(3000..<3150))
    func `with resumed senders every action has one correct outcome`(seed: UInt64) throws {
        try run(seed, restarts: false, sendersAreSaved: true)
    }

    @Test(arguments: seeds(4000..<4150))
    func `with fresh primaries and resumed senders no action is applied twice`(seed: UInt64) throws {
        try run(seed, restarts: true, sendersAreSaved: true)
    }

    @Test(arguments: seeds(5000..<5100))
    func `with fewer sessions than resumed senders no action is applied twice`(seed: UInt64) throws {
        var limits = Self.limits
        limits.sessionsMax = 2
        try run(seed, restarts: true, mayForgetSessions: true, sendersAreSaved: true, limits: limits)
    }
}
