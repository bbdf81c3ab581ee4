import CounterApp
import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// Middlewares on a primary, seen from its store.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `Middlewares on a primary` {
    @Test func `Middlewares on a primary may change an action, and see the state before and after`() throws {
        let events = EventLog()
        let upper = Middleware<Diary> { action, store, next in
            guard let written = action as? Written else { return try next(action) }
            events.add("\(store.state.lines.count)")
            let value = try next(Written(line: written.line.uppercased()))
            events.add("\(store.state.lines.count)")
            return value
        }
        let bench = try StoreBench(middleware: [upper]) { _, _ in .none }
        bench.store.begin()
        try bench.push(Written(line: "a"), Written(line: "b"))
        bench.runTurns()
        #expect(bench.lines == ["A", "B"])
        #expect(events.events == ["0", "1", "1", "2"])
        #expect(bench.receipts == [1: .applied(Revision(1)), 2: .applied(Revision(2))])
    }

    @Test func `Middlewares on a primary that swallow an action reject it, even if they return a value`() throws {
        let keeping = Middleware<Diary> { action, store, next in
            switch (action as? Written)?.line {
            case "keep": nil
            case "answer": 7
            default: try next(action)
            }
        }
        let bench = try StoreBench(middleware: [keeping]) { _, _ in .none }
        bench.store.begin()
        try bench.push(Written(line: "keep"), Written(line: "answer"), Written(line: "a"))
        bench.runTurns()
        let swallowed = Outcome.rejected(.swallowed(Written(line: "")))
        #expect(bench.receipts == [1: swallowed, 2: swallowed, 3: .applied(Revision(1))])
    }

    @Test func `Middlewares dispatch actions of the primary's own process, once, after those that wait`() throws {
        let sessions = EventLog()
        let doubling = Middleware<Diary> { action, store, next in
            guard let written = action as? Written else { return try next(action) }
            sessions.add(store.context.session ?? "own")
            if written.line.count == 1 { store.dispatch(Written(line: "\(written.line) again")) }
            return try next(action)
        }
        let bench = try StoreBench(middleware: [doubling]) { _, _ in .none }
        bench.store.begin()
        try bench.push(Written(line: "a"), Written(line: "b"))
        bench.runTurns()
        #expect(bench.lines == ["a", "b", "a again", "b again"])
        let session = "\(StoreBench<Diary>.session)"
        #expect(sessions.events == [session, session, "own", "own"])
    }

    @Test func `Middlewares on a primary run one inside the other, the first one outermost`() throws {
        func adding(_ letter: String) -> Middleware<Diary> {
            Middleware { action, _, next in
                try next((action as? Written).map { Written(line: $0.line + letter) } ?? action)
            }
        }
        let bench = try StoreBench(middleware: [adding("x"), adding("y")]) { _, _ in .none }
        bench.store.begin()
        try bench.push(Written(line: "a"))
        bench.runTurns()
        #expect(bench.lines == ["axy"])
    }
}

/// Rejections by a policy of the primary reach the sender in another process.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct PolicyTests {
    private static func start(
        _ middleware: Middleware<Counter>...
    ) async throws -> (primary: Primary<Counter>, address: PrimaryAddress) {
        let primary = try Primary.counter(middleware: middleware)
        return (primary, try await primary.start())
    }

    private static func sender(_ address: PrimaryAddress) throws -> ActionSender {
        try ActionSender(store: Counter.storeName, from: address.publish, configuration: .quick).started()
    }

    @Test func `an action that a policy rejects is rejected with its code and message, and the next one is reduced`()
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
                // Only the session that arrives first is accepted.
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

    @Test func `a swallowed action is rejected`() async throws {
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
            .started()
        try await replica.reached(try await Self.sender(address).send(StepChangeRequested(step: 1000)))
        #expect(replica.snapshot?.state.step == 10)
        await primary.stop()
    }

    @Test func `a policy that rejects as busy is final: the sender does not retry`() async throws {
        let (primary, address) = try await Self.start(.policy { _, _ in throw Rejection(.busy, "come back later") })
        let rejection = await #expect(throws: Rejection.self) {
            try await Self.sender(address).send(CounterIncreaseRequested())
        }
        #expect(rejection == Rejection(.refused, "busy: come back later"))
        await primary.stop()
    }
}
