import CounterApp
import Foundation
import Statecast
import StatecastProtocol
import Testing

/// Timeouts, cancellations and closed nodes.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct PatienceTests {
    /// An endpoint without a listener. Not a port: another test's primary may get it.
    private func deserted() -> String {
        "ipc://\(FileManager.default.temporaryDirectory.path)/statecast-\(UUID().uuidString)"
    }

    @Test func `an action that was not sent times out as not-sent`() async throws {
        let sender = try ActionSender(store: "counter", from: deserted()).started()
        let rejection = await #expect(throws: Rejection.self) {
            try await sender.send(CounterIncreaseRequested(), timeout: .milliseconds(1))
        }
        #expect(rejection?.code == .notSent)
    }

    @Test func `an action without a receipt times out as outcome-unknown, with its session and number`()
        async throws
    {
        try await withCounter { cluster in
            let secret = SessionSecret.random()
            let peer = try await RawPeer(cluster.address)
            let watermark = try await peer.watermark(of: secret.session)
            // The endpoint for actions never answers.
            let hole = try await RawHole()
            var configuration = SenderConfiguration.quick
            configuration.actions = hole.endpoint
            let sender = try ActionSender(store: "counter", from: cluster.address.publish, configuration: configuration)
                .started()
            let pending = Task { try await sender.send(CounterIncreaseRequested()) }
            let pushed = try await hole.next()
            guard let frame = try? Message.decodeActions(pushed) else {
                Issue.record("not a frame of actions")
                return
            }
            #expect(frame.header.lineage == watermark.lineage)
            pending.cancel()
            let rejection = await #expect(throws: Rejection.self) { try await pending.value }
            #expect(rejection?.code == .outcomeUnknown)
            #expect(rejection?.message.contains("action 1 of session \(frame.header.session)") == true)
        }
    }

    @Test func `waiting for room in a full outbox ends with a timeout, a cancellation and the close`()
        async throws
    {
        var configuration = SenderConfiguration.quick
        configuration.maxPending = 2
        let sender = try ActionSender(
            store: "counter",
            from: deserted(),
            configuration: configuration
        ).started()
        for _ in 0..<2 { _ = try await sender.submit(CounterIncreaseRequested()) }
        let late = await #expect(throws: Rejection.self) {
            try await sender.send(CounterIncreaseRequested(), timeout: .milliseconds(1))
        }
        #expect(late?.code == .notSent)
        let cancelled = Task { try await sender.send(CounterIncreaseRequested()) }
        cancelled.cancel()
        let rejection = await #expect(throws: Rejection.self) { try await cancelled.value }
        #expect(rejection?.code == .notSent)
        let waiting = Task { try await sender.send(CounterIncreaseRequested()) }
        await sender.close()
        await #expect(throws: Rejection.self) { try await waiting.value }
    }

    @Test func `waiting for a node that never runs ends with a cancellation, and what was sent is withdrawn`()
        async throws
    {
        let primary = try Primary.diary()
        let replica = try Replica<Diary>(store: "diary", from: deserted())
        let sender = try ActionSender(store: "diary", from: deserted())
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(1))
        func cancelled<Value: Sendable>(
            _ wait: @escaping @Sendable () async throws -> Value
        ) async throws -> any Error {
            let task = Task { try await wait() }
            // Whether the cancellation comes before the wait or after it begins.
            await Task.yield()
            task.cancel()
            return try #require(await #expect(throws: (any Error).self) { try await task.value })
        }
        for _ in 1...100 {
            let unsent = try await cancelled { try await primary.send(Written(line: "withdrawn")) }
            #expect((unsent as? Rejection)?.code == .notSent, "\(unsent)")
            let sent = try await cancelled { try await sender.send(Written(line: "withdrawn")) }
            #expect((sent as? Rejection)?.code == .notSent, "\(sent)")
            #expect(try await cancelled { try await primary.address } is CancellationError)
            #expect(try await cancelled { try await replica.reached(position) } is CancellationError)
            #expect(try await cancelled { try await sender.actions() } is CancellationError)
        }
        primary.dispatch(Written(line: "kept"))
        try await primary.start()
        try await primary.send(Written(line: "last"))
        #expect(primary.state.lines == ["kept", "last"])
        await primary.stop()
    }

    @Test func `cancelling one request for the list of actions leaves the others waiting`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            let (first, second) = (Task { try await sender.actions() }, Task { try await sender.actions() })
            first.cancel()
            #expect(try await second.value.count == 3)
        }
    }

    @Test func `closing a sender resolves its actions`() async throws {
        let sender = try ActionSender(store: "counter", from: deserted()).started()
        let pending = try await sender.submit(CounterIncreaseRequested())
        await sender.close()
        await #expect(throws: Rejection.self) { try await pending.receipt() }
        let late = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
        #expect(late?.code == .notSent)
    }

    @Test func `closing a replica ends its sequences and waiting tasks`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            let first = try await replica.first { _ in true }
            let waiting = Task { try await replica.reached(first.position.moved(to: Revision(1000))) }
            await replica.close()
            await #expect(throws: StatecastError.self) { try await waiting.value }
            for await _ in replica.snapshots {}
            for await _ in replica.statuses {}
        }
    }

    @Test func `a live replica is stale while its primary is silent, and live afterwards`()
        async throws
    {
        let first = try await CounterPrimary.start()
        let replica = try first.replica()
        await replica.waits { $0 == .live }
        await first.primary.stop()
        await replica.waits { $0 == .stale }
        let second = try await first.restart()
        await replica.waits { $0 == .live }
        #expect(replica.primaryTime != nil)
        await second.primary.stop()
    }
}
