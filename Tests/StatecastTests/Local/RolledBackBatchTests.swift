import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// A batch that cannot be published as a whole: its actions are reduced again, each alone.
@Suite(.timeLimit(.minutes(10))) struct `A batch that is rolled back` {
    private static let large = Written(line: String(repeating: "x", count: 10_000))

    private func bench(
        _ middleware: Middleware<Diary>,
        isDurableAtOnce: Bool = true,
        effect: @escaping @Sendable (_ line: String, _ diary: Diary) -> Effect = { _, _ in .none }
    ) throws -> StoreBench<Diary> {
        let bench = try StoreBench(
            middleware: [middleware],
            isDurableAtOnce: isDurableAtOnce,
            limits: .quick { $0.maxFrameBytes = 4096 },
            effect: effect
        )
        bench.store.begin()
        return bench
    }

    @Test func `A batch that is rolled back keeps the order of a dispatcher that a middleware has stored`() throws {
        let kept = Latest<any ActionDispatcher>()
        let keeping = Middleware<Diary> { action, store, next in
            if kept.value == nil { kept.set(store.dispatcher) }
            return try next(action)
        }
        let bench = try bench(keeping)
        try bench.push(Self.large, Written(line: "a"))
        bench.runTurns()
        kept.value?.dispatch(Written(line: "later"))
        bench.runTurns()
        #expect(bench.lines == ["a", "later"])
    }

    @Test func `A batch that is rolled back reduces a result whose cancellation was rolled back`() async throws {
        let bench = try bench(.policy { _, _ in }, isDurableAtOnce: false) { line, _ in
            switch line.prefix(1) {
            case "a": .run(id: "work") { send in await send(Written(line: "result")) }
            case "x": .cancel(id: "work")
            default: .none
            }
        }
        try bench.push(Written(line: "a"))
        bench.turn()
        bench.commit()
        await bench.woken()
        try bench.push(Self.large)
        bench.turn()
        #expect(bench.store.hasWork)
        bench.turn()
        #expect(bench.lines == ["a", "result"])
    }

    @Test func `A batch that is rolled back drops a result that only the second pass cancels`() async throws {
        let strict = Middleware<Diary>.policy { action, store in
            if (action as? Written)?.line == "stop", store.state.lines.count > 1 { throw Rejection(.refused, "late") }
        }
        let bench = try bench(strict, isDurableAtOnce: false) { line, _ in
            switch line {
            case "a": .run(id: "work") { send in await send(Written(line: "result")) }
            case "stop": .cancel(id: "work")
            default: .none
            }
        }
        try bench.push(Written(line: "a"))
        bench.turn()
        bench.commit()
        await bench.woken()
        try bench.push(Self.large, Written(line: "stop"))
        bench.turn()
        #expect(bench.lines == ["a", "stop"])
        bench.commit()
        #expect(!bench.store.hasWork)
    }
}

/// A result that waits while a cancellation of its effect is reduced and not durable yet.
@Suite(.timeLimit(.minutes(10))) struct `A result that arrives after its cancellation` {
    /// A bench whose effect has sent its result, which waits in the mailbox.
    private func bench(_ stop: Effect) async throws -> StoreBench<Diary> {
        let bench = try StoreBench(isDurableAtOnce: false) { line, _ in
            switch line {
            case "ask": .run(id: "work") { send in await send(Written(line: "result")) }
            case "stop": stop
            default: .none
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.turn()
        bench.commit()
        await bench.woken()
        return bench
    }

    @Test(arguments: [Effect.cancel(id: "work"), .merge(.dispatch(Written(line: "stopped")), .cancel(id: "work"))])
    func `A result that arrives after its cancellation is reduced neither before that is durable nor after`(
        stop: Effect
    ) async throws {
        let bench = try await bench(stop)
        try bench.push(Written(line: "stop"))
        bench.turn()
        bench.mailbox.dispatch(Written(line: "behind"))
        bench.turn()
        #expect(bench.lines == ["ask", "stop"])
        #expect(!bench.store.hasWork, "nothing to do before a record is durable")
        bench.storeRecords()
        await bench.turns { bench.lines.count >= 3 }
        #expect(bench.lines.prefix(3) == ["ask", "stop", "behind"])
        #expect(!bench.lines.contains("result"))
    }

    @Test func `A result is reduced at once if another effect is cancelled`() async throws {
        let bench = try await bench(.cancel(id: "other work"))
        try bench.push(Written(line: "stop"))
        bench.turn()
        #expect(bench.lines == ["ask", "stop", "result"])
    }
}
