import CounterApp
import Foundation
import MetricsTestKit
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastZeroMQ
import Testing

import enum CoreMetrics.MetricsSystem

@testable import Statecast

/// The metrics of the nodes. Other suites report metrics, too, so each test has a store name of its own.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct MetricsTests {
    /// Created once per process: swift-metrics accepts no second factory.
    private static let reported: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()

    private let metrics = MetricsTests.reported

    @Test func `each event of a node is counted under its label`() throws {
        let store = MeasuredStore(name: "metrics-events", metrics: metrics)
        let name = try StoreName(store.name)
        let (primary, replica) = (PrimaryMetrics(store: name), ReplicaMetrics(store: name))
        let sender = SenderMetrics(store: name)
        var counts = OutcomeCounts()
        counts.add(2, rejectedAs: nil)
        for code in ["refused", "step-1", "step-2"] { counts.add(rejectedAs: Rejection.Code(rawValue: code)) }
        for event: StoreEvent in [
            .refused(.busy), .duplicates(3), .outOfOrder, .otherLineage, .joined, .joinAbandoned, .chunkPublished,
            .sessionOpened, .published(counts, patchBytes: 70), .published(counts, patchBytes: nil),
            .reduced(waited: .milliseconds(3)),
        ] { primary.count(event) }
        for event: ReplicaEvent in [
            .joining, .reconnecting, .gap, .rewound, .snapshot(bytes: 9), .diverged, .backlogOverflow, .refused(.busy),
        ] { replica.count(event) }
        for event: SenderEvent in [
            .asked, .reconnecting, .actionsReconnecting, .rewound, .framePushed(actions: 5), .lineageChanged,
            .outcomesLost, .refused(.busy),
        ] { sender.count(event) }
        sender.resolved(counts)
        let expected: [(String, Rejection.Code?, Int64)] = [
            ("primary_requests_refused_total", .busy, 1), ("primary_actions_duplicate_total", nil, 3),
            ("primary_frames_out_of_order_total", nil, 1), ("primary_frames_other_lineage_total", nil, 1),
            ("primary_joins_total", nil, 1), ("primary_joins_abandoned_total", nil, 1),
            ("primary_chunks_total", nil, 1), ("primary_sessions_opened_total", nil, 1),
            ("primary_actions_applied_total", nil, 4), ("primary_batches_total", nil, 2),
            // A middleware's own codes are counted together.
            ("primary_actions_rejected_total", .refused, 2), ("primary_actions_rejected_total", .policy, 4),
            ("replica_joins_total", nil, 1), ("replica_reconnects_total", nil, 1), ("replica_gaps_total", nil, 1),
            ("replica_rewound_total", nil, 1), ("replica_snapshots_total", nil, 1),
            ("replica_snapshot_bytes_total", nil, 9), ("replica_diverged_total", nil, 1),
            ("replica_backlog_overflows_total", nil, 1), ("replica_joins_refused_total", .busy, 1),
            ("debug_sender_watermarks_asked_total", nil, 1), ("sender_reconnects_total", nil, 2),
            ("sender_rewound_total", nil, 1), ("sender_frames_total", nil, 1), ("sender_actions_pushed_total", nil, 5),
            ("sender_lineages_changed_total", nil, 1), ("sender_outcomes_lost_total", nil, 1),
            ("sender_requests_refused_total", .busy, 1), ("sender_actions_applied_total", nil, 2),
            ("sender_actions_rejected_total", .refused, 1), ("sender_actions_rejected_total", .policy, 2),
        ]
        for (label, code, total) in expected { #expect(store.total(label, code) == total, "\(label)") }
        #expect(store.values("primary_batch_actions") == [5, 5] && store.values("primary_patch_bytes") == [70])
        #expect(store.nanoseconds("primary_wait_duration_seconds") == [3_000_000])
    }

    // MARK: The primary

    @Test func `a primary counts applied actions, rejected ones by code, sessions and batches`() async throws {
        try await withStore("metrics-actions") { store in
            let sender = try store.sender()
            for _ in 0..<3 { try await sender.send(CounterIncreaseRequested()) }
            for name in ["NoSuchAction", "NoOtherAction"] {
                await #expect(throws: Rejection.self) { try await sender.send(named: name, payload: [:]) }
            }
            await #expect(throws: Rejection.self) { try await sender.send(named: "StepChangeRequested", payload: [:]) }

            await store.stopPrimary()
            #expect(store.total("primary_actions_applied_total") == 3)
            #expect(store.total("primary_actions_rejected_total", .unknownAction) == 2)
            #expect(store.total("primary_actions_rejected_total", .undecodable) == 1)
            #expect(store.total("primary_actions_rejected_total") == 3)
            #expect(store.total("primary_sessions_opened_total") == 1)
            // Each was sent after the receipt of the one before, so no two share a batch.
            #expect(store.total("primary_batches_total") == 6)
            #expect(store.values("primary_batch_actions") == [1, 1, 1, 1, 1, 1])
            let (turns, reductions) = (
                store.nanoseconds("primary_turn_duration_seconds"), store.nanoseconds("primary_reduce_duration_seconds")
            )
            #expect(turns.count == 6 && zip(turns, reductions).allSatisfy { $0 >= $1 && $1 > 0 })
            #expect(store.nanoseconds("primary_wait_duration_seconds").count == 6)
            #expect(store.nanoseconds("sender_receipt_duration_seconds").count == 3, "of each action with a receipt")
            // Only applied actions have changed the state.
            #expect(store.values("primary_patch_bytes").count == 3)
        }
    }

    /// In a process of its own: all nodes of a process share the gauges.
    @Test func `connections, refused connections, and access lists that cannot be used are counted`() async {
        await #expect(processExitsWith: .success) {
            let metrics = TestMetrics()
            MetricsSystem.bootstrap(metrics)
            func reaches(_ value: Double, _ label: String, _ socket: String? = nil) async throws {
                let dimensions = socket.map { [("socket", $0)] } ?? []
                while try metrics.expectGauge("statecast_primary_" + label, dimensions).lastValue != value {
                    await Task.yield()
                }
            }
            let keys = NodeKeys.generate()
            let lines = ["\(keys.publicKey) member follow=* send=*/*"]
            let cluster = try SecuredCounter(lines)
            try await cluster.node.start()
            let sockets = ["publish", "receipts", "actions"]
            for socket in sockets { try await reaches(0, "connections", socket) }
            let replica = try await cluster.replica(cluster.security(keys))
            let sender = try await cluster.sender(cluster.security(keys))
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            for socket in sockets { try await reaches(1, "connections", socket) }
            await replica.close()
            await sender.close()
            for socket in sockets { try await reaches(0, "connections", socket) }
            let (stranger, sendsOnly) = (NodeKeys.generate(), NodeKeys.generate())
            try await cluster.permit(lines + ["\(sendsOnly.publicKey) agent send=*/*"])
            for (count, keys) in zip(Int64(1)..., [stranger, sendsOnly]) {
                let refused = try await cluster.replica(cluster.security(keys))
                try await cluster.refused(keys.publicKey, at: "publish")
                await refused.close()
                // It may have tried again.
                let label = "statecast_primary_peers_refused_total"
                #expect(try metrics.expectCounter(label, [("socket", "publish")]).totalValue >= count)
            }
            try await reaches(0, "access_lists_invalid")
            try await cluster.permit(["wrong"])
            try await reaches(1, "access_lists_invalid")
            try await cluster.permit(lines)
            try await reaches(0, "access_lists_invalid")
            await cluster.node.stop()
        }
    }

    /// In a process of its own, since other tests count the same.
    @Test func `what a peer may not do is counted, and so is what the primary does about it`() async {
        await #expect(processExitsWith: .success) {
            let metrics = TestMetrics()
            MetricsSystem.bootstrap(metrics)
            func reaches(_ label: String, _ dimensions: [(String, String)] = []) async throws {
                while metrics.counterTotal(label: "statecast_primary_\(label)_total", dimensions: dimensions) == 0 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            let notPermitted = ("code", "not-permitted")
            let (member, pair) = (NodeKeys.generate(), CurveKeyPair.generate())
            let cluster = try SecuredCounter([
                "\(member.publicKey) member follow=* send=counter/CounterIncreaseRequested",
                "\(pair.publicKey) other follow=* send=counter/*",
            ]) { $0.limits.maxSubscriptions = 50 }
            try await cluster.node.start()
            let sender = try await cluster.sender(cluster.security(member))
            let session = try await sender.send(CounterIncreaseRequested()).session
            await #expect(throws: Rejection.self) { try await sender.send(StepChangeRequested(step: 2)) }
            try await reaches("actions_rejected", [("store", "counter"), notPermitted])
            let other = try await cluster.peer(pair, sends: true)
            try await other.subscribe("sc2/counter/receipts/\(session)")
            try await reaches("requests_refused", [("store", "counter"), notPermitted])
            try await other.subscribe("sc2/counter/feed")
            try await reaches("messages_dropped", [notPermitted])
            let stranger = try await cluster.peer(.generate(), sends: true)
            for socket in ["receipts", "actions"] { try await reaches("peers_refused", [("socket", socket)]) }
            for number in 0..<60 { try await other.subscribe("sc2/nowhere\(number)/feed") }
            try await reaches("users_banned")
            try await reaches("sockets_renewed", [("socket", "receipts")])
            await cluster.node.stop()
            withExtendedLifetime(stranger) {}
        }
    }

    @Test func `a node that shares its journals reports whether it leads, and until when`() throws {
        func value(_ label: String) throws -> Double? {
            try metrics.expectGauge("statecast_primary_" + label).lastValue
        }
        let gauges = [NodeMetric.primaryLeading: 1, .primaryLeaseSeconds: 1.5, .primaryStandbyLagRecords: 7]
        PrimaryPhase.serving.report([], gauges).recordGauges()
        #expect(try (value("leading"), value("lease_seconds"), value("standby_lag_records")) == (1, 1.5, 7))
        let store = MeasuredStore(name: "metrics-unknown", metrics: metrics)
        JournalMetrics(store: try StoreName(store.name)).failed(JournalFailure(.unknown, "test"))
        #expect(store.total("journal_commits_unknown_total") == 1)
    }

    // MARK: The journal

    @Test func `a journal reports its commits, and counts a record that waited for room once`()
        async throws
    {
        let journal = FaultyJournal()
        var configuration = PrimaryConfiguration.quick
        configuration.journal.snapshotRecords = 3
        let store = MeasuredStore(name: "metrics-journal", metrics: metrics)
        let primary = try Primary.counter(configuration, store: store.name, journal: journal)
        try await primary.start()
        try await primary.send(CounterIncreaseRequested())
        journal.fail(FaultyJournal.full)
        primary.dispatch(CounterIncreaseRequested())
        await #expect(throws: Rejection.self) { try await primary.send(CounterIncreaseRequested()) }
        #expect(store.total("primary_actions_applied_total") == 1)
        #expect(store.total("journal_full_total") >= 1)
        journal.fail(nil)
        try await primary.sendOnceThereIsRoom(CounterIncreaseRequested())
        await primary.stop()

        #expect(store.total("primary_actions_applied_total") == 3)
        let batches = store.total("primary_batches_total")
        #expect(Int64(store.values("journal_commit_records").reduce(0, +)) == batches)
        #expect(store.total("journal_commits_total") == Int64(store.values("journal_commit_records").count))
        #expect(store.total("journal_bytes_total") > 20 * batches)
        #expect(
            store.nanoseconds("journal_commit_duration_seconds").count == store.values("journal_commit_records").count
        )
    }

    @Test func `a journal counts its snapshots, and those that could not be stored`() async throws {
        for isFull in [false, true] {
            let store = MeasuredStore(name: "metrics-snapshots-\(isFull)", metrics: metrics)
            var configuration = PrimaryConfiguration.anyPorts
            configuration.journal.snapshotRecords = 1
            let journal = FaultyJournal(takesSnapshots: !isFull)
            let primary = try Primary.counter(configuration, store: store.name, journal: journal)
            try await primary.start()
            let outcome = "journal_snapshots_" + (isFull ? "failed_total" : "total")
            while store.total(outcome) == 0 { try await primary.send(CounterIncreaseRequested()) }
            await primary.stop()
            #expect((store.total("journal_snapshots_total") == 0) == isFull)
            #expect((store.total("journal_snapshots_failed_total") == 0) == !isFull)
            #expect((store.total("journal_snapshot_bytes_total") == 0) == isFull)
        }
    }

    // MARK: Effects

    @Test func `work of effects that throws is counted, unless it was cancelled`() async throws {
        let store = MeasuredStore(name: "metrics-effects", metrics: metrics)
        let failures = AsyncStream<Void>.makeStream()
        let metrics = PrimaryMetrics(store: try StoreName(store.name))
        let effects = EffectRunner(onFailure: { metrics.effectFailed() }) {
            $0.complete()
            failures.continuation.yield()
        }
        let key = IdempotencyKey(revision: 0, index: 0)
        let fails: @Sendable (any Error) -> any Action = { _ in CounterIncreaseRequested() }
        effects.start(.run({ _ in throw CancellationError() }, catch: fails), key: key)
        effects.start(.blocking({ _ in throw CancellationError() }, catch: fails), key: key)
        let endless = Effect.run(id: 1, { _ in try await Task.sleep(for: .seconds(600)) }, catch: fails)
        effects.start(endless, key: key)
        effects.start(.cancel(id: 1), key: key)
        var iterator = failures.stream.makeAsyncIterator()
        for _ in 0..<3 { _ = await iterator.next() }
        #expect(store.total("primary_effects_failed_total") == 2)
        #expect(effects.runningCount <= 3)
    }

    // MARK: The replica

    @Test func `joins, snapshots and updates are counted on both sides`() async throws {
        try await withStore("metrics-joins") { store in
            let sender = try store.sender()
            try await sender.send(CounterIncreaseRequested())
            let replica = try store.replica()
            await replica.waits { $0 == .live }
            for _ in 0..<3 { try await replica.reached(try await sender.send(CounterIncreaseRequested())) }

            await store.stopPrimary()
            #expect(store.total("replica_joins_total") == 1)
            #expect(store.total("primary_joins_total") == 1)
            #expect(store.total("replica_snapshots_total") == 1)
            #expect(store.total("replica_snapshot_bytes_total") > 0)
            #expect(store.total("primary_chunks_total") == 1)
            #expect(store.total("replica_updates_total") == 3)
            #expect(
                store.total("replica_patch_bytes_total")
                    == Int64(store.values("primary_patch_bytes").suffix(3).reduce(0, +))
            )
            #expect(store.total("replica_gaps_total") == 0)
            #expect(store.values("primary_joins_waiting").last == 0)
        }
    }

    @Test func `the lag of a replica falls to zero`() async throws {
        try await withStore("metrics-lag") { store in
            let (sender, replica) = (try store.sender(), try store.replica())
            for _ in 0..<3 { try await replica.reached(try await sender.send(CounterIncreaseRequested())) }
            for (label, value) in [("live", 1.0), ("lag_revisions", 0), ("lag_seconds", 0)] {
                try await store.reaches("replica_" + label, value)
            }
            #expect(store.values("debug_replica_queue_steps").min() ?? 0 >= 1)
        }
    }

    private func position(_ revision: UInt64, _ lineage: UInt64 = 1) -> Position {
        Position(lineage: Lineage(bits: lineage), epoch: Epoch(1), revision: Revision(revision))
    }
    private func update(to position: Position) -> Frame {
        .update(
            Update(
                lineage: position.lineage,
                epoch: position.epoch,
                from: position.revision.previous,
                to: position.revision,
                patch: []
            )
        )
    }

    @Test func `the lag is the number of revisions from the shown state to the head, within one history`() throws {
        let lag = ReplicaLag()
        var revisions: Double? { lag.gauges(isLive: true)[.replicaLagRevisions] }
        lag.received(update(to: position(7)))
        #expect(revisions == nil, "nothing is shown yet")
        lag.shown(position(4))
        #expect(revisions == 3)
        lag.received(update(to: position(9)))
        lag.received(update(to: position(8)))
        #expect(revisions == 5)
        lag.shown(position(9))
        #expect(revisions == 0)
        lag.received(update(to: position(100, 2)))
        #expect(revisions == nil, "another history")
        lag.shown(position(100, 2))
        #expect(revisions == 0)
    }

    @Test func `the lag in seconds begins when the replica no longer shows the present state`() {
        let lag = ReplicaLag()
        lag.received(update(to: position(1)))
        lag.shown(position(1))
        let start = ContinuousClock.now
        func seconds(_ time: Int, isLive: Bool) -> Double? {
            let now = start + .seconds(time)
            lag.sample(isLive: isLive, at: now)
            return lag.gauges(isLive: isLive, at: now)[.replicaLagSeconds]
        }
        #expect(seconds(5, isLive: true) == 0)
        #expect(seconds(7, isLive: false) == 2)
        #expect(seconds(9, isLive: false) == 4)
        #expect(seconds(10, isLive: true) == 0)
        // A stream of updates: the shown state is always one before the newest.
        for (time, revision) in zip(11..., [2, 3, 4] as [UInt64]) {
            lag.received(update(to: position(revision)))
            #expect(seconds(time, isLive: true) == 1)
            lag.shown(position(revision))
        }
        lag.received(update(to: position(6)))
        #expect(seconds(14, isLive: true) == 1)
        #expect(seconds(15, isLive: true) == 2, "it shows none of the last second")
    }

    // MARK: The sender

    @Test func `a sender counts its receipts and its rejections by code, and reports its outbox`() async throws {
        try await withStore("metrics-sender") { store in
            let sender = try store.sender()
            var pending: [PendingReceipt] = []
            for _ in 0..<20 { pending.append(try await sender.submit(CounterIncreaseRequested())) }
            for receipt in pending { _ = try await receipt.receipt() }
            await #expect(throws: Rejection.self) { try await sender.send(named: "NoSuchAction", payload: [:]) }

            // A caller is resumed before its action is counted.
            while store.total("sender_actions_rejected_total", .unknownAction) == 0 { await Task.yield() }
            try await store.reaches("sender_open", 1)
            try await store.reaches("sender_outbox_actions", 0)
            #expect(store.total("sender_actions_applied_total") == 20)
            #expect(store.total("sender_actions_rejected_total", .unknownAction) == 1)
            #expect(store.total("sender_actions_pushed_total") == 21)
            #expect(store.total("sender_frames_total") <= 21)
            #expect(store.total("debug_sender_watermarks_asked_total") >= 1)
        }
    }

    @Test func `a peer that repeatedly subscribes to another sender's receipts does not make that sender push again`()
        async throws
    {
        try await withStore("metrics-reader") { store in
            let sender = try store.sender()
            let topic = store.receipts(of: try await sender.send(CounterIncreaseRequested()).session)
            let peer = try await RawPeer(store.address)
            for _ in 0..<50 {
                var pending: [PendingReceipt] = []
                for _ in 0..<100 { pending.append(try await sender.submit(CounterIncreaseRequested())) }
                try await peer.subscribe(topic)
                while true { if case .watermark = try await peer.next(on: topic) { break } }
                try await peer.unsubscribe(topic)
                for receipt in pending { _ = try await receipt.receipt() }
            }
            await store.stopPrimary()
            #expect(store.total("primary_actions_applied_total") == 5001)
            #expect(store.total("primary_actions_duplicate_total") == 0)
        }
    }

    @Test func `a sender counts actions that it gave up by their outcome`() async throws {
        let hole = try await RawHole()
        try await withStore("metrics-given-up") { store in
            let sender = try store.sender(pushingTo: hole.endpoint)
            let left = try await sender.submit(CounterIncreaseRequested())
            _ = try await hole.next()
            await sender.close()
            _ = try await left.outcome()
            #expect(store.total("sender_actions_rejected_total", .outcomeUnknown) == 1)
            #expect(store.total("sender_actions_rejected_total", .notSent) == 0)
        }
    }

    // MARK: Support

    /// Runs the body beside a counter under a name of its own.
    private func withStore(_ name: String, _ body: (MeasuredStore) async throws -> Void) async throws {
        var configuration = PrimaryConfiguration.anyPorts
        configuration.limits = .unhurried
        let node = try PrimaryNode(configuration: configuration)
        _ = try Primary(store: name, state: Counter(), actions: Counter.actions, on: node, reducer: Counter.reducer)
        try await body(MeasuredStore(name: name, address: try await node.start(), node: node, metrics: metrics))
        await node.stop()
    }
}

extension Rejection.Code {
    fileprivate static let policy = Self(rawValue: "policy")
}

extension Limits {
    /// Long retry delays, so that requests are not repeated on a busy machine and can be counted.
    fileprivate static var unhurried: Limits {
        var limits = Limits()
        limits.heartbeatInterval = .seconds(30)
        limits.minRetryDelay = .seconds(60)
        limits.maxRetryDelay = .seconds(120)
        return limits
    }
}

/// The metrics of a store. Labels are without their prefix.
private struct MeasuredStore {
    let name: String
    var address = PrimaryAddress(publish: "", storeEndpoints: [:], actions: "", receipts: nil)
    var node: PrimaryNode?
    let metrics: TestMetrics

    private static let prefix = "statecast_"

    /// A primary counts an action after it has published its receipt: all is counted when it has stopped.
    func stopPrimary() async { await node?.stop() }

    func total(_ label: String, _ code: Rejection.Code? = nil) -> Int64 {
        let dimensions = [("store", name)] + (code.map { [("code", $0.rawValue)] } ?? [])
        return metrics.counterTotal(label: Self.prefix + label, dimensions: dimensions)
    }

    /// Everything that was recorded, in order.
    func values(_ label: String) -> [Double] {
        metrics.recorders(label: Self.prefix + label, dimensions: [("store", name)]).flatMap(\.values)
    }

    func nanoseconds(_ label: String) -> [Int64] {
        metrics.timers(label: Self.prefix + label, dimensions: [("store", name)]).flatMap(\.values)
    }

    /// Returns once a gauge shows a value; ends with the test's time limit.
    func reaches(_ label: String, _ value: Double) async throws {
        while values(label).last != value {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func receipts(of session: SessionID) -> String { "sc2/\(name)/receipts/\(session)" }

    func replica(from endpoint: String? = nil) throws -> Replica<Counter> {
        var configuration = ReplicaConfiguration()
        configuration.limits = .unhurried
        return try Replica<Counter>(store: name, from: endpoint ?? address.publish, configuration: configuration)
            .started()
    }

    func sender(pushingTo actions: String? = nil) throws -> ActionSender {
        var configuration = SenderConfiguration()
        configuration.limits = .unhurried
        configuration.actions = actions
        return try ActionSender(store: name, from: address.publish, configuration: configuration).started()
    }
}

@Suite struct DocumentedMetricsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    @Test func `the documented metrics are those that exist`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/MONITORING.md"), encoding: .utf8)
        let documented = page.matches(of: /(?m)^\| `(statecast_[a-z_]+)` \| [a-z]+ \| (.*) \|$/).map {
            [String($0.1), String($0.2)]
        }
        let expected = NodeMetric.allCases.map { [$0.label, $0.help] }
        #expect(documented.difference(from: expected).isEmpty)
        for line in page.matches(of: /(?m)^\| `(\w+)` \| (\w+) \|/) where line.1.hasPrefix("statecast_") {
            #expect(line.1.hasSuffix("_total") == (line.2 == "counter"), "\(line.1)")
        }
    }
}
