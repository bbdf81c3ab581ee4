import CounterApp
import Statecast
import Testing

/// A node whose start fails says so to all who wait for it.
@Suite(.timeLimit(.minutes(10))) struct `A node that cannot start` {
    private func replica() throws -> Replica<Counter> {
        var configuration = ReplicaConfiguration.quick
        // libzmq has no such queue, and says so when the socket is made.
        configuration.receiveHighWaterMark = 0
        return try Replica(store: "counter", from: "tcp://127.0.0.1:7", configuration: configuration)
    }

    private func sender() throws -> ActionSender {
        var configuration = SenderConfiguration.quick
        configuration.limits.frameBytesMax = -1
        return try ActionSender(store: "counter", from: "tcp://127.0.0.1:7", configuration: configuration)
    }

    @Test func `ends what follows a replica, with the reason`() async throws {
        let replica = try replica()
        let (changes, told) = AsyncStream.makeStream(of: Change<Counter>.self)
        let subscription = replica.observe { [token = Held { told.finish() }] _ in token.touch() }
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(1))
        for _ in 0..<2 {
            let failure = await #expect(throws: StatecastError.self) { try await replica.reached(position) }
            #expect(failure?.code == .endpoint)
            #expect(failure?.message.contains("receiveHighWaterMark") == true)
        }
        for await _ in replica.states {}
        for await _ in replica.changes() {}
        for await _ in changes {}
        var last: ReplicaStatus?
        for await status in replica.statuses { last = status }
        guard case .refused(let reason) = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(reason.message.contains("receiveHighWaterMark"))
        let failure = await #expect(throws: StatecastError.self) { try await replica.run() }
        #expect(failure?.code == .endpoint)
        withExtendedLifetime(subscription) {}
    }

    @Test func `ends what waits for a sender, with the reason`() async throws {
        let sender = try sender()
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterIncreaseRequested()) }
        #expect(rejection?.code == .notSent)
        #expect(rejection?.message.contains("messageBytesMax") == true)
        for await _ in sender.statuses {}
        let failure = await #expect(throws: StatecastError.self) { try await sender.run() }
        #expect(failure?.code == .endpoint)
        await #expect(throws: StatecastError.self) { try await sender.actions() }
    }
}
