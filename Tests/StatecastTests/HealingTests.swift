import CounterApp
import Logging
import Statecast
import StatecastProtocol
import Testing

/// Losses are detected and repaired.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct HealingTests {
    @Test func `a replica that lags misses updates, and catches up`() async throws {
        try await Gatekeeper.exclusively { gate in
            try await withBlob {
                $0.publishHighWaterMark = 10
            } _: { address in
                let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
                var configuration = ReplicaConfiguration.quick
                configuration.receiveHighWaterMark = 1
                configuration.limits.maxBacklogBytes = 1
                let replica = try Replica<Blob>(
                    store: "blob",
                    from: address.publish,
                    configuration: configuration,
                    logger: Logger(label: "test"),
                    content: GatedContent(TypedContent<Blob>(), gate: gate)
                ).started()
                try await replica.reached(try await sender.send(BlobWritten(letters: 1)))
                gate.close()
                // Too large for the replica's loop, which would be blocked, too.
                var last = try await sender.send(BlobWritten(letters: 20_000))
                // More bytes than the sockets' buffers hold, in more messages than the high-water marks allow.
                for _ in 0..<500 { last = try await sender.send(BlobWritten(letters: 100_000)) }
                let shownBefore = replica.snapshot?.revision
                gate.open()
                try await replica.reached(last)
                #expect(shownBefore != last.revision)
                #expect(replica.snapshot?.state.writes == 502)
                #expect(gate.passes < 500, "no update was missed, so nothing had to heal")
            }
        }
    }

    @Test func `a subscriber that stops reading does not delay the others`() async throws {
        try await withBlob { address in
            let stalled = try await RawPeer(address)
            try await stalled.subscribe("sc2/blob/feed")
            _ = try await stalled.next(on: "sc2/blob/feed")
            await stalled.stall()
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: .quick).started()
            for _ in 0..<2000 { _ = try await sender.submit(BlobWritten(letters: 10_000)) }
            try await replica.reached(try await sender.send(BlobWritten(letters: 1)))
            #expect(replica.snapshot?.state.writes == 2001)
        }
    }

    @Test func `a primary that restarts begins a new history, and replicas and senders continue`() async throws {
        let first = try await CounterPrimary.start()
        let (replica, sender) = (try first.replica(), try first.sender())
        for _ in 0..<10 { try await replica.reached(try await sender.send(CounterIncreaseRequested())) }
        let before = try #require(replica.snapshot)
        let second = try await first.restart()
        let receipt = try await sender.sendKnown(CounterIncreaseRequested())
        try await replica.reached(receipt)
        let after = try #require(replica.snapshot)
        #expect(before.state.counter == 10)
        #expect(after.state.counter == 1)
        #expect(after.position.lineage != before.position.lineage)
        #expect(await second.primary.revision == Revision(1))
        await #expect(throws: StatecastError.self) { try await replica.reached(before.position) }
    }

    @Test func `across restarts under load every receipt is true, and unknown outcomes are reported`()
        async throws
    {
        var cluster = try await CounterPrimary.start()
        let sender = try cluster.sender()
        let replica = try cluster.replica()
        var pending: [PendingReceipt] = []
        for round in 0..<3 {
            for _ in 0..<500 { pending.append(try await sender.submit(CounterIncreaseRequested())) }
            // Some are in flight, some are applied, some are not sent yet.
            _ = try await pending[round * 500 + 100].outcome()
            cluster = try await cluster.restart()
        }
        let last = try await sender.sendKnown(CounterIncreaseRequested())
        var applied: [Lineage: [Revision]] = [:]
        for receipt in pending {
            let outcome = try await receipt.outcome()
            switch outcome.result {
            case .success(let receipt): applied[receipt.position.lineage, default: []].append(receipt.revision)
            case .failure(let rejection): #expect(rejection.code == .outcomeUnknown)
            }
        }
        for revisions in applied.values {
            #expect(revisions == revisions.sorted(), "receipts come in the order of the actions")
            #expect(Set(revisions).count == revisions.count, "no two actions are one change")
        }
        try await replica.reached(last)
        let state = try #require(replica.snapshot)
        #expect(UInt64(state.state.counter) == state.revision.rawValue)
        #expect(UInt64(applied[last.position.lineage, default: []].count) + 1 <= last.revision.rawValue)
    }

    @Test func `ten thousand actions arrive once and in order, and replicas show rising revisions only`()
        async throws
    {
        try await withCounter { cluster in
            let replicas = [try cluster.replica(), try cluster.replica()]
            let followers = replicas.map { replica in
                Task {
                    var revisions: [Revision] = []
                    for await snapshot in replica.snapshots {
                        revisions.append(snapshot.revision)
                        #expect(UInt64(snapshot.state.counter) == snapshot.revision.rawValue)
                        if snapshot.revision == Revision(10_000) { break }
                    }
                    return revisions
                }
            }
            let sender = try cluster.sender()
            var pending: [PendingReceipt] = []
            for _ in 0..<10_000 { pending.append(try await sender.submit(CounterIncreaseRequested())) }
            for (index, receipt) in pending.enumerated() {
                let receipt = try await receipt.receipt()
                #expect(receipt.number == ActionNumber(UInt64(index + 1)))
                #expect(receipt.revision == Revision(UInt64(index + 1)))
            }
            for follower in followers {
                let revisions = await follower.value
                #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 < $1 })
            }
            #expect(replicas.allSatisfy { $0.snapshot?.state.counter == 10_000 })
        }
    }

    @Test func `two senders and two replicas with interleaved actions converge to the same state`() async throws {
        try await withCounter { cluster in
            let replicas = [try cluster.replica(), try cluster.replica()]
            try await withThrowingTaskGroup(of: Receipt.self) { group in
                for step in [3, 5] {
                    let sender = try cluster.sender()
                    group.addTask {
                        for _ in 0..<200 {
                            _ = try await sender.submit(StepChangeRequested(step: step))
                            _ = try await sender.submit(CounterIncreaseRequested())
                        }
                        return try await sender.send(CounterDecreaseRequested())
                    }
                }
                for try await receipt in group {
                    for replica in replicas { try await replica.reached(receipt) }
                }
            }
            let states = replicas.map { $0.snapshot?.state }
            #expect(states[0] == states[1])
            #expect(replicas.map { $0.snapshot?.revision } == [Revision(802), Revision(802)])
        }
    }

    @Test func `a state of many chunks is pulled while it changes`() async throws {
        try await withBlob {
            $0.limits.maxChunkBytes = 1000
        } _: { address in
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            for index in 0..<300 { _ = try await sender.submit(PartAdded(name: "part \(index)", letters: 1000)) }
            _ = try await sender.send(BlobWritten(letters: 1))
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: .quick).started()
            var last = try await sender.send(BlobWritten(letters: 2))
            for _ in 0..<200 { last = try await sender.send(BlobWritten(letters: 3)) }
            try await replica.reached(last)
            #expect(replica.snapshot?.state.parts.count == 300)
            #expect(replica.snapshot?.state.writes == 202)
        }
    }

    @Test func `a state that no replica would accept is not reached`() async throws {
        try await withBlob {
            $0.limits.maxSnapshotBytes = 1000
        } _: { address in
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            _ = try await sender.send(BlobWritten(letters: 900))
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(BlobWritten(letters: 1000)) }
            #expect(rejection?.code == .tooLarge)
            #expect(rejection?.message.contains("more than the 1000 bytes that a replica accepts") == true)
            var configuration = ReplicaConfiguration.quick
            configuration.limits.maxSnapshotBytes = 1000
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: configuration)
                .started()
            try await replica.reached(try await sender.send(BlobWritten(letters: 10)))
            #expect(replica.snapshot?.state.text.count == 10)
        }
    }

    @Test func `a replica whose types do not fit rejects waiting tasks`() async throws {
        try await withBlob { address in
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            let receipt = try await sender.send(BlobWritten(letters: 1))
            let replica = try Replica<Counter>(store: "blob", from: address.publish, configuration: .quick).started()
            let rejection = await #expect(throws: Rejection.self) { try await replica.reached(receipt) }
            #expect(rejection?.code == .incompatible)
            #expect(replica.snapshot == nil)
        }
    }

    @Test func `a change too large for a frame is rejected alone, and rolled back`() async throws {
        try await withBlob {
            $0.limits.maxFrameBytes = 8192
        } _: { address in
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: .quick).started()
            var outcomes: [Result<Receipt, Rejection>] = []
            var pending: [PendingReceipt] = []
            for letters in [10, 20, 100_000] { pending.append(try await sender.submit(BlobWritten(letters: letters))) }
            for receipt in pending { outcomes.append(try await receipt.outcome().result) }
            #expect(outcomes.map { (try? $0.get()) != nil } == [true, true, false])
            guard case .failure(let rejection) = outcomes[2], case .success(let last) = outcomes[1] else { return }
            #expect(rejection.code == .tooLarge)
            try await replica.reached(last)
            #expect(replica.snapshot?.state.writes == 2)
            #expect(replica.snapshot?.state.text.count == 20)
            #expect(last.revision == Revision(2))
        }
    }
}
