import Statecast
import StatecastCore
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastSimulation

/// Situations that random runs reach rarely, each by a script.
@Suite(.timeLimit(.minutes(10))) struct ScenarioTests {
    static let seeds: ClosedRange<UInt64> = 1...5

    // MARK: Replicas

    @Test(arguments: seeds)
    func `A replica that joins during a burst buffers the updates that pass`(seed: UInt64) throws {
        var sizes = Sizes.standard
        (sizes.limits.maxChunkBytes, sizes.limits.maxChunksAhead) = (50, 1)
        let cluster = Cluster(seed: seed, sizes, keepsTrace: true)
        try scenario(cluster) {
            let store = cluster.stores[0]
            cluster.dispatch(to: store, every: .milliseconds(5))
            try cluster.wait("the burst has begun") { store.ownCount == 200 }
            let replica = cluster.addReplica()
            try cluster.wait("it pulls a snapshot") { replica.machine.phaseName == .pulling }
            // The requests of the next chunks arrive later.
            cluster.block(.up, of: replica.name, for: .milliseconds(300))
            try cluster.wait("it buffers updates") { cluster.count(.pulling, .update) > 0 }
            try cluster.wait("it is live, and the burst goes on") { replica.status == .live }
            #expect(replica.snapshotCount == 1)
            #expect(replica.count(.joining) == 1, "the buffered updates continue the snapshot")
            try cluster.convergeOrThrow()
        }
    }

    @Test(arguments: seeds.prefix(2))
    func `300 replicas of a primary that is stopped for 18 s connect anew without a storm, and are live soon after`(
        seed: UInt64
    ) throws {
        let cluster = Cluster(seed: seed)
        try scenario(cluster) {
            let store = cluster.stores[0]
            cluster.dispatch(to: store, every: .milliseconds(100))
            for _ in 0..<300 { cluster.addReplica(of: store) }
            let replicas = cluster.replicas
            try cluster.wait("all are live") { replicas.allSatisfy { $0.status == .live } }
            let stopped = cluster.world.now
            try #require(cluster.primary.process).pause(for: .seconds(18))
            try cluster.run(for: .seconds(18))
            #expect(replicas.allSatisfy { $0.status == .stale })
            try cluster.wait("all are live again", atMost: .seconds(10)) { replicas.allSatisfy { $0.status == .live } }
            let attempts = replicas.map { replica in
                replica.events.filter { $0.event == .reconnecting }.map { stopped.duration(to: $0.time) }
            }
            // At 4 to 7 s, and 8 to 11 s later.
            #expect(attempts.allSatisfy { (1...2).contains($0.count) })
            let perSecond = Dictionary(grouping: attempts.joined()) { Int($0 / .seconds(1)) }.mapValues(\.count)
            #expect(perSecond.values.max() ?? 0 < 150, "\(perSecond.sorted { $0.key < $1.key })")
            #expect(replicas.allSatisfy { $0.snapshotCount == 1 }, "updates suffice")
            try cluster.convergeOrThrow()
        }
    }

    @Test(arguments: seeds)
    func `A replica that pulls a snapshot from a primary that restarts pulls another one`(seed: UInt64) throws {
        var sizes = Sizes.standard
        (sizes.limits.maxFrameBytes, sizes.limits.maxChunkBytes, sizes.limits.maxChunksAhead) = (20_000, 200, 1)
        let cluster = Cluster(seed: seed, sizes, keepsTrace: true)
        try scenario(cluster) {
            let sender = try cluster.addOpenSender()
            _ = cluster.submit(.large, by: sender)
            try cluster.wait("the state is large") { sender.isDone }
            let epoch = try #require(cluster.stores[0].history.position).epoch
            let replica = cluster.addReplica()
            try cluster.wait("it has pulled a part") { cluster.count(.pulling, .chunk) == 10 }
            #expect(replica.machine.phaseName == .pulling)
            cluster.primary.process?.end()
            try cluster.convergeOrThrow()
            #expect(try #require(replica.position).epoch > epoch)
            #expect(replica.count(.joining) >= 2)
            #expect(replica.snapshotCount == 1)
        }
    }

    @Test(arguments: seeds)
    func `A replica catches up although more updates pass than are kept while it pulls`(seed: UInt64) throws {
        var sizes = Sizes.standard
        (sizes.limits.maxFrameBytes, sizes.limits.maxChunkBytes, sizes.limits.maxChunksAhead) = (20_000, 100, 2)
        (sizes.limits.maxRingUpdates, sizes.limits.maxBacklogBytes) = (20, 1500)
        // Without a journal, only another snapshot leads on.
        let durability: Durability? = seed.isMultiple(of: 2) ? nil : .full
        let stores = [Cluster.StoreSetup(durability: durability)]
        let cluster = Cluster(seed: seed, sizes, stores: stores, keepsTrace: true)
        try scenario(cluster) {
            let sender = try cluster.addOpenSender()
            _ = cluster.submit(.large, by: sender)
            try cluster.wait("the state is large") { sender.isDone }
            let replica = cluster.addReplica()
            try cluster.wait("it has pulled a part") { cluster.count(.pulling, .chunk) == 10 }
            let begin = try #require(cluster.stores[0].history.position).revision
            cluster.block(.up, of: replica.name, for: .seconds(6))
            cluster.dispatch(to: cluster.stores[0], every: .milliseconds(100))
            try cluster.wait("more updates pass than the primary keeps") {
                cluster.count(.pulling, .update) > 2 * sizes.limits.maxRingUpdates
            }
            #expect(replica.machine.phaseName == .pulling)
            #expect(replica.machine.backlogBytes == 0, "the backlog has overflowed")
            try cluster.wait("it is live, and updates go on") { replica.status == .live }
            #expect(replica.count(.backlogOverflow) == 1)
            #expect(try #require(replica.position).revision > begin.advanced(by: sizes.limits.maxRingUpdates))
            #expect(replica.snapshotCount == 2)
            try cluster.convergeOrThrow()
        }
    }

    @Test(arguments: seeds)
    func `A replica that was paused for an hour catches up`(seed: UInt64) throws {
        let cluster = Cluster(seed: seed, keepsTrace: true)
        try scenario(cluster) {
            let replica = try cluster.addLiveReplica()
            cluster.dispatch(to: cluster.stores[0], every: .seconds(10))
            try cluster.run(for: .seconds(30))
            let before = try #require(replica.position)
            replica.process.pause(for: .seconds(3600))
            try cluster.run(for: .seconds(3599))
            #expect(replica.position == before)
            let head = try #require(cluster.stores[0].history.position)
            #expect(head.revision > before.revision.advanced(by: 300))
            #expect(replica.count(.gap) == 0)
            // More was published than its queue holds.
            try cluster.wait("it notices the gap") { replica.count(.gap) > 0 }
            try cluster.wait("it has caught up") { replica.position.map { $0.revision >= head.revision } ?? false }
            try cluster.convergeOrThrow()
        }
    }

    // MARK: The primary

    @Test(arguments: seeds)
    func `A record that was stored and not published is published by the next primary`(seed: UInt64) throws {
        let cluster = Cluster(seed: seed, keepsTrace: true)
        try scenario(cluster) {
            let (store, sender) = (cluster.stores[0], try cluster.addOpenSender())
            let disk = try #require(store.disk)
            _ = try cluster.addLiveReplica()
            let action = cluster.submit(.change, by: sender)
            // The output before the report.
            cluster.primary.process?.end(afterOutputs: 1)
            try cluster.wait("the primary ends") { !cluster.primary.isServing }
            let head = try #require(disk.written.head)
            #expect(head > (try #require(store.history.position).revision))
            #expect(store.history.application(of: action) == nil)
            #expect(sender.outcomes[action] == nil)
            try cluster.convergeOrThrow()
            #expect(store.history.application(of: action)?.revision == head)
            #expect(try #require(sender.outcomes[action]).get().revision == head)
            #expect(cluster.primary.startCount == 2)
        }
    }

    @Test(arguments: seeds)
    func `A full disk rolls back three batches, which are applied once later`(seed: UInt64) throws {
        let cluster = Cluster(seed: seed, keepsTrace: true)
        try scenario(cluster) {
            let disk = try #require(cluster.stores[0].disk)
            let history = cluster.stores[0].history
            _ = try cluster.addLiveReplica()
            var senders: [SenderProcess] = []
            for _ in 0..<3 { senders.append(try cluster.addOpenSender()) }
            let before = try #require(history.position)
            disk.block(until: cluster.world.now.advanced(by: .seconds(5)))
            disk.fill(until: cluster.world.now.advanced(by: .seconds(10)))
            var actions: [WorkID] = []
            for sender in senders {
                actions.append(cluster.submit(.work, by: sender))
                try cluster.run(for: .milliseconds(500))
            }
            try cluster.wait("the commit finds no room") { !disk.refusedCounts.isEmpty }
            #expect(disk.refusedCounts == [3])
            try cluster.wait("the senders know it") {
                senders.allSatisfy { cluster.hasNoted("\($0.name) is waiting") }
            }
            #expect(history.position == before)
            #expect(actions.allSatisfy { history.application(of: $0) == nil })
            try cluster.convergeOrThrow()
            #expect(senders.allSatisfy { $0.outcomeCounts == ["applied": 1] })
            #expect(actions.allSatisfy { history.application(of: $0) != nil })
            #expect(cluster.primary.startCount == 1)
        }
    }

    @Test(arguments: seeds)
    func `An action that traps is rejected at the third start`(seed: UInt64) throws {
        let stores = [Cluster.StoreSetup(durability: .normal)]
        let cluster = Cluster(seed: seed, stores: stores, keepsTrace: true)
        try scenario(cluster) {
            let disk = try #require(cluster.stores[0].disk)
            _ = try cluster.addLiveReplica()
            let (sender, other) = (try cluster.addOpenSender(), try cluster.addOpenSender())
            sender.submit(5)
            try cluster.wait("they are stored") { sender.isDone && disk.written.head == Revision(5) }
            sender.submit(2)
            let trap = cluster.submit(.trap, by: sender)
            sender.submit(3)
            try cluster.wait("the primary crashes") { cluster.primary.startCount == 2 }
            other.submit(5)
            try cluster.convergeOrThrow()
            #expect(cluster.primary.startCount == 3)
            #expect(sender.outcomeCounts == ["applied": 10, "crashed-reducer": 1])
            #expect(try rejection(of: trap, by: sender)?.code == .crashedReducer)
            #expect(other.outcomeCounts == ["applied": 5])
        }
    }

    @Test(arguments: seeds)
    func `An action that traps is rejected at the fourth start if receipts are lost`(seed: UInt64) throws {
        let stores = [Cluster.StoreSetup(durability: .normal)]
        let cluster = Cluster(seed: seed, stores: stores, keepsTrace: true)
        try scenario(cluster) {
            let disk = try #require(cluster.stores[0].disk)
            _ = try cluster.addLiveReplica()
            let (sender, other) = (try cluster.addOpenSender(), try cluster.addOpenSender())
            // What the primary acknowledges is not on the disk when the power fails.
            disk.holdSync(until: cluster.world.now.advanced(by: .seconds(3600)))
            for sender in [sender, other] { sender.submit(5) }
            try cluster.wait("they have receipts") { sender.isDone && other.isDone }
            let session = sender.machine.checkpoint.session
            sender.submit(2)
            let trap = cluster.submit(.trap, by: sender)
            sender.submit(3)
            try cluster.wait("the primary crashes") { !cluster.primary.isServing }
            #expect(cluster.stores[0].cutPower() && disk.written.head == Revision(0))
            // In the session that replaces the lost one, the action has another number: the first crash does not count.
            try cluster.wait("it is rejected", atMost: .seconds(200)) { sender.outcomes[trap] != nil }
            #expect(sender.machine.checkpoint.session != session)
            #expect(cluster.primary.startCount == 4)
            other.submit(5)
            try cluster.convergeOrThrow()
            #expect(cluster.primary.startCount == 4)
            #expect(sender.outcomeCounts == ["applied": 10, "crashed-reducer": 1])
            #expect(try rejection(of: trap, by: sender)?.code == .crashedReducer)
            #expect(other.outcomeCounts == ["applied": 10])
        }
    }

    private func rejection(of action: WorkID, by sender: SenderProcess) throws -> Rejection? {
        if case .failure(let reason) = try #require(sender.outcomes[action]) { reason } else { nil }
    }

    /// The next primary cannot know whether such a session was evicted.
    @Test(arguments: seeds)
    func `Actions of a session that was opened after lost records have unknown outcomes`(seed: UInt64) throws {
        let stores = [Cluster.StoreSetup(durability: .normal)]
        let cluster = Cluster(seed: seed, stores: stores, keepsTrace: true)
        try scenario(cluster) {
            let disk = try #require(cluster.stores[0].disk)
            let other = try cluster.addOpenSender()
            disk.holdSync(until: cluster.world.now.advanced(by: .seconds(3600)))
            other.submit(5)
            try cluster.wait("they are published") { other.isDone }
            let sender = try cluster.addOpenSender()
            let action = cluster.submit(.trap, by: sender)
            try cluster.wait("the primary crashes") { !cluster.primary.isServing }
            #expect(cluster.stores[0].cutPower() && disk.written.head == Revision(0))
            try cluster.convergeOrThrow()
            #expect(try rejection(of: action, by: sender)?.code == .outcomeUnknown)
            #expect(cluster.primary.startCount == 2)
            sender.submit(5)
            try cluster.convergeOrThrow()
            #expect(sender.outcomeCounts == ["applied": 5, "outcome-unknown": 1])
        }
    }

    @Test(arguments: seeds)
    func `A store with a stuck journal does not stop another one`(seed: UInt64) throws {
        var sizes = Sizes.standard
        (sizes.limits.maxUncommittedRecords, sizes.limits.maxHeldBytes) = (4, 4000)
        let stores = [Cluster.StoreSetup(durability: .full), Cluster.StoreSetup(durability: .full, build: .table)]
        let cluster = Cluster(seed: seed, sizes, stores: stores, keepsTrace: true)
        try scenario(cluster) {
            let (stuck, other) = (cluster.stores[0], cluster.stores[1])
            var senders: [SenderProcess] = []
            for _ in 0..<8 { senders.append(try cluster.addOpenSender(of: stuck)) }
            let lucky = try cluster.addOpenSender(of: other)
            cluster.addReplica(of: stuck)
            cluster.addReplica(of: other)
            let before = stuck.history.position
            stuck.disk?.block(until: cluster.world.now.advanced(by: .seconds(60)))
            for _ in 0..<40 {
                for sender in senders { sender.submit(4) }
                lucky.submit(1)
                try cluster.wait("the other store applies it", atMost: .seconds(5)) { lucky.isDone }
                try cluster.run(for: .milliseconds(200))
            }
            #expect(stuck.history.position == before)
            #expect(senders.allSatisfy { $0.outcomes.isEmpty })
            #expect(cluster.hasNoted("overloaded"), "the stuck store holds as much as it may")
            #expect(lucky.outcomeCounts == ["applied": 40])
            try cluster.convergeOrThrow()
            #expect(senders.allSatisfy { $0.outcomeCounts == ["applied": 160] })
        }
    }

    @Test func `A primary that stops reduces what its own process submitted to each of its stores`() throws {
        let full = Cluster.StoreSetup(durability: .full)
        let cluster = Cluster(seed: 1, stores: [full, full], keepsTrace: true)
        try scenario(cluster) {
            for store in cluster.stores { cluster.submitOwn(SplitMix64(seed: 2), to: store, isAwaited: true) }
            let defined = try cluster.stores.map { try #require(cluster.primary.defined($0)) }
            cluster.primary.stop()
            #expect(defined.allSatisfy { $0.openRequests.isEmpty })
            for store in cluster.stores {
                #expect(try #require(store.disk?.written.head) > Revision(0))
            }
            try cluster.convergeOrThrow()
        }
    }

    // MARK: Rights

    /// Primaries of odd seeds have keys.
    @Test(arguments: [1, 3, 5] as [UInt64])
    func `The rights of a user at the arrival of a frame decide about its actions for good`(seed: UInt64) throws {
        let cluster = Cluster(seed: seed, keepsTrace: true)
        try scenario(cluster) {
            let disk = try #require(cluster.stores[0].disk)
            let (sender, other) = (try cluster.addOpenSender(), try cluster.addOpenSender())
            for sender in [sender, other] { _ = cluster.submit(.change, by: sender) }
            try cluster.wait("they are connected") { sender.isDone && other.isDone }
            cluster.changeRights(of: other.user, to: [WorkAction.name])
            try cluster.wait("the primary reads it") { cluster.world.rights.areRead }
            for sender in [sender, other] {
                cluster.block(.down, of: sender.name, for: .seconds(60))
                _ = cluster.submit(.guarded, by: sender)
                _ = cluster.submit(.change, by: sender)
            }
            try cluster.wait("two more are applied") { disk.written.head == Revision(4) }
            // The next primary has the rejections from the journal, although one user has the right then.
            cluster.restoreRights()
            cluster.primary.process?.end()
            try cluster.wait("they have receipts", atMost: .seconds(120)) { sender.isDone && other.isDone }
            for sender in [sender, other] {
                #expect(sender.outcomeCounts == ["not-permitted": 1, "applied": 2])
                _ = cluster.submit(.guarded, by: sender)
            }
            try cluster.wait("they have further ones") { sender.isDone && other.isDone }
            #expect(sender.outcomeCounts == ["not-permitted": 2, "applied": 2])
            #expect(other.outcomeCounts == ["not-permitted": 1, "applied": 3])
            cluster.block(.up, of: other.name, for: .seconds(60))
            other.submit(1)
            try cluster.wait("it is pushed") { other.machine.pendingCount == 1 && other.machine.nextFrame == nil }
            cluster.changeRights(of: other.user, to: [])
            try cluster.wait("it is refused", atMost: .seconds(120)) { other.machine.phaseName == .refused }
            other.submit(1)
            try cluster.wait("both have outcomes") { other.outcomesMissing == 0 }
            #expect(other.outcomeCounts == ["not-permitted": 2, "applied": 3, "outcome-unknown": 1])
            cluster.restoreRights()
            try cluster.wait("it is open") { other.machine.phaseName == .open }
            other.submit(1)
            try cluster.convergeOrThrow()
            #expect(other.outcomeCounts == ["not-permitted": 2, "applied": 4, "outcome-unknown": 1])
        }
    }

    // MARK: Senders

    @Test(arguments: seeds)
    func `A sender that ends before it saves its receipts has the same ones after that`(seed: UInt64) throws {
        let cluster = Cluster(seed: seed, keepsTrace: true)
        try scenario(cluster) {
            let sender = cluster.addSender(isSaved: true)
            sender.submit(5)
            try cluster.wait("it has its receipts") { sender.outcomesMissing == 0 }
            let saved = try #require(sender.file).session.actions
            #expect(saved.count == 5)
            #expect(saved.allSatisfy { $0.outcome == nil })
            let next = cluster.restart(sender)
            #expect(next.outcomesMissing == 5)
            try cluster.convergeOrThrow()
            #expect(next.outcomes == sender.outcomes)
            #expect(next.outcomeCounts == ["applied": 5])
            #expect(next.serial == 5)
        }
    }

    @Test(arguments: seeds)
    func `An evicted session whose receipts are lost has unknown outcomes`(seed: UInt64) throws {
        var sizes = Sizes.standard
        sizes.limits.maxSessions = 2
        sizes.evictsUsedSessions = true
        let cluster = Cluster(seed: seed, sizes, keepsTrace: true)
        try scenario(cluster) {
            let history = cluster.stores[0].history
            var senders: [SenderProcess] = []
            for _ in 0..<3 { senders.append(try cluster.addOpenSender()) }
            let evicted = senders[0]
            cluster.block(.down, of: evicted.name, for: .seconds(3600))
            let action = cluster.submit(.change, by: evicted)
            try cluster.wait("its action is applied") { history.application(of: action) != nil }
            evicted.socket.breakConnection(noticedAfter: .zero)
            for sender in senders[1...] { sender.submit(1) }
            try cluster.wait("two other sessions are known") { senders[1...].allSatisfy { $0.isDone } }
            #expect(evicted.outcomes.isEmpty)
            try cluster.convergeOrThrow()
            #expect(evicted.outcomeCounts == ["outcome-unknown": 1])
            #expect(cluster.hasNoted("\(evicted.name) receives refusal"))
            // Actions after it are applied in another session.
            evicted.submit(2)
            try cluster.convergeOrThrow()
            #expect(evicted.outcomeCounts == ["outcome-unknown": 1, "applied": 2])
        }
    }

    @Test(arguments: seeds)
    func `An evicted session whose actions did not arrive sends them again in another one`(seed: UInt64) throws {
        var sizes = Sizes.standard
        sizes.limits.maxSessions = 2
        sizes.evictsUsedSessions = true
        let cluster = Cluster(seed: seed, sizes, keepsTrace: true)
        try scenario(cluster) {
            let history = cluster.stores[0].history
            var senders: [SenderProcess] = []
            for _ in 0..<3 { senders.append(try cluster.addOpenSender()) }
            let evicted = senders[0]
            evicted.submit(1)
            try cluster.wait("its session is known") { evicted.isDone }
            let session = evicted.machine.checkpoint.session
            cluster.block(.up, of: evicted.name, for: .milliseconds(450))
            let action = cluster.submit(.change, by: evicted)
            for sender in senders[1...] { sender.submit(1) }
            try cluster.wait("two other sessions are known") { senders[1...].allSatisfy { $0.isDone } }
            #expect(history.application(of: action) == nil)
            #expect(evicted.machine.checkpoint.session == session)
            try cluster.convergeOrThrow()
            #expect(evicted.machine.checkpoint.session != session)
            #expect(evicted.outcomeCounts == ["applied": 2])
        }
    }
}
