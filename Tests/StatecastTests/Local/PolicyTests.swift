import CounterApp
import Statecast
import Testing

/// What a policy of the primary says reaches the sender in another process.
@Suite(.timeLimit(.minutes(10))) struct PolicyTests {
    private static func start(
        _ middleware: Middleware<Counter>...
    ) async throws -> (primary: Primary<Counter>, address: PrimaryAddress) {
        var configuration = PrimaryConfiguration.anyPorts
        configuration.limits = .quick
        let primary = try Primary(
            store: Counter.storeName,
            state: Counter(),
            actions: Counter.actions,
            middleware: middleware,
            configuration: configuration,
            reducer: Counter.reducer
        )
        return (primary, try await primary.start())
    }

    private static func sender(_ address: PrimaryAddress) throws -> ActionSender {
        try ActionSender(store: Counter.storeName, from: address.publish, configuration: .quick)
    }

    @Test func `an action that a policy refuses is rejected with its code and message, and the next one goes on`()
        async throws
    {
        let (primary, address) = try await Self.start(
            .policy { action, _ in
                guard let action = action as? StepChangeRequested, action.step > 100 else { return }
                throw Rejection(Rejection.Code(rawValue: "over-quota"), "a step is at most 100, not \(action.step)")
            }
        )
        let sender = try Self.sender(address)
        let refused = try await sender.submit(StepChangeRequested(step: 101))
        let outcome = try await refused.outcome()
        let rejection = Rejection(Rejection.Code(rawValue: "over-quota"), "a step is at most 100, not 101")
        #expect(outcome.result == .failure(rejection))
        #expect(outcome.number == ActionNumber(1))
        let receipt = try await sender.send(StepChangeRequested(step: 100))
        #expect((receipt.number, receipt.revision) == (ActionNumber(2), Revision(1)))
        await primary.stop()
    }

    @Test func `a policy sees who sent an action`() async throws {
        let welcome = EventLog()
        let (primary, address) = try await Self.start(
            .policy { _, store in
                guard let session = store.context.session else { return }
                // The first one to come is the only one from then on.
                if welcome.events.isEmpty { welcome.add(session) }
                guard welcome.events.first == session else { throw Rejection(.refused, "\(session) came late") }
            }
        )
        let (first, second) = (try Self.sender(address), try Self.sender(address))
        let receipt = try await first.send(CounterIncreaseRequested())
        #expect(welcome.events == ["\(receipt.session)"])
        let pending = try await second.submit(CounterIncreaseRequested())
        let outcome = try await pending.outcome()
        let session = try #require(outcome.session)
        #expect(outcome.result == .failure(Rejection(.refused, "\(session) came late")))
        try await first.send(CounterIncreaseRequested())
        // The primary's own process has no session.
        try await primary.send(CounterIncreaseRequested())
        #expect(await primary.revision == Revision(3))
        await primary.stop()
    }

    @Test func `a swallowed action is a rejection, never a silence`() async throws {
        let (primary, address) = try await Self.start(
            Middleware { action, _, next in action is CounterDecreaseRequested ? nil : try next(action) }
        )
        let sender = try Self.sender(address)
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(CounterDecreaseRequested()) }
        #expect(rejection?.code == .swallowed)
        #expect(rejection?.message.contains("CounterDecreaseRequested") == true)
        let own = await #expect(throws: Rejection.self) { try await primary.send(CounterDecreaseRequested()) }
        #expect(own == rejection)
        #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
        await primary.stop()
    }

    @Test func `an action that a middleware changes is applied as changed`() async throws {
        let (primary, address) = try await Self.start(
            Middleware { action, _, next in
                try next((action as? StepChangeRequested).map { StepChangeRequested(step: min($0.step, 10)) } ?? action)
            }
        )
        let replica = try Replica<Counter>(store: Counter.storeName, from: address.publish, configuration: .quick)
        try await replica.reached(try await Self.sender(address).send(StepChangeRequested(step: 1000)))
        #expect(replica.snapshot?.state.step == 10)
        await primary.stop()
    }

    @Test func `a policy that says busy is final: the sender does not ask for ever`() async throws {
        let (primary, address) = try await Self.start(.policy { _, _ in throw Rejection(.busy, "come back later") })
        let rejection = await #expect(throws: Rejection.self) {
            try await Self.sender(address).send(CounterIncreaseRequested())
        }
        #expect(rejection == Rejection(.refused, "busy: come back later"))
        await primary.stop()
    }
}
