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

    @Test
    func `A batch that is rolled back does not let an action pass a policy on a state that is rolled back`() throws {
        let oneForEach = Middleware<Diary>.policy { action, store in
            guard (action as? Written)?.line == "withdrawn", store.state.lines.isEmpty else { return }
            throw Rejection(.refused, "there is nothing to withdraw")
        }
        let bench = try bench(oneForEach)
        try bench.push(Self.large, Written(line: "withdrawn"))
        bench.runTurns()
        #expect(bench.lines == [])
        #expect(bench.receipts[2] == .rejected(Rejection(.refused, "there is nothing to withdraw")))
    }

    @Test func `A batch that is rolled back lets an action pass that only the rolled-back state forbade`() throws {
        let onlyFirst = Middleware<Diary>.policy { _, store in
            if !store.state.lines.isEmpty { throw Rejection(.refused, "not the first") }
        }
        let bench = try bench(onlyFirst)
        try bench.push(Self.large, Written(line: "a"), Written(line: "b"))
        bench.runTurns()
        #expect(bench.lines == ["a"])
        #expect(bench.receipts[3] == .rejected(Rejection(.refused, "not the first")))
    }

    @Test func `A batch that is rolled back passes original actions through middlewares, and dispatches once`() throws {
        let passes = EventLog()
        let doubling = Middleware<Diary> { action, store, next in
            guard let written = action as? Written, written.line.last != "!" else { return try next(action) }
            let letter = written.line.prefix(1)
            passes.add(String(letter))
            store.dispatch(Written(line: "\(letter) again!"))
            return try next(Written(line: written.line + "!"))
        }
        let bench = try bench(doubling)
        try bench.push(Written(line: "a"), Self.large, Written(line: "b"))
        bench.runTurns()
        #expect(passes.events == ["a", "x", "b", "a", "x", "b", "x", "b"])
        #expect(bench.lines == ["a!", "b!", "a again!", "b again!"])
    }

    @Test func `A rolled-back batch keeps actions that a middleware dispatched for one that it rejected`() throws {
        let noting = Middleware<Diary> { action, store, next in
            guard (action as? Written)?.line == "a" else { return try next(action) }
            store.dispatch(Written(line: "a was refused"))
            throw Rejection(.refused, "not a")
        }
        let bench = try bench(noting)
        try bench.push(Self.large, Written(line: "a"))
        bench.runTurns()
        #expect(bench.lines == ["a was refused"])
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
