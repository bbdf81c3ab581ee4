import StatecastCore
import Testing

@Suite struct `A middleware` {
    private struct Trouble: Error, CustomStringConvertible {
        var description: String { "trouble" }
    }

    private func core(_ middleware: Middleware<Log>..., warnings: Recorder<RuntimeWarning>? = nil) -> Core<Log> {
        Core(
            Log(),
            reducer: Log.reducer,
            middleware: middleware,
            now: { Timestamp(milliseconds: 7) },
            warn: { warnings?.record($0) }
        )
    }

    @Test func `A middleware lets actions pass`() async throws {
        let core = core(Middleware { action, _, next in try next(action) })
        core.dispatch(Append(1))
        let reply = try await core.send(Append(2))
        #expect(core.state.entries == [1, 2])
        #expect(reply.revision == 2)
        #expect(reply.value == nil)
    }

    @Test func `A middleware changes actions for all inner middlewares and the reducer`() {
        let core = core(
            Middleware { action, _, next in try next((action as? Append).map { Append($0.number * 10) } ?? action) }
        )
        let seen = Recorder<Append?>()
        let subscriptions = [
            core.tap(.before) { seen.record($0.action as? Append) },
            core.observe(replay: .none) { seen.record($0.action as? Append) },
        ]
        core.dispatch(Append(1))
        #expect(core.state.entries == [10])
        #expect(seen.all == [Append(10), Append(10)])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `A middleware swallows actions: they are not delivered, and awaiting them throws`() async {
        let warnings = Recorder<RuntimeWarning>()
        let core = core(Middleware { _, _, _ in nil }, warnings: warnings)
        let seen = Recorder<UInt64>()
        let subscriptions = [
            core.tap(.before) { seen.record($0.revision) },
            core.tap(.after) { seen.record($0.revision) },
            core.observe(replay: .none) { seen.record($0.revision) },
        ]
        core.dispatch(Append(1))
        let rejection = await #expect(throws: Rejection.self) { try await core.send(Append(2)) }
        #expect(rejection?.code == .swallowed)
        #expect(rejection?.message == "a middleware neither passed Append on nor answered it")
        #expect(core.state.entries.isEmpty)
        #expect(seen.all.isEmpty)
        #expect(warnings.all.isEmpty)
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `A middleware rejects actions with a custom code and reason`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let odd = Rejection(Rejection.Code(rawValue: "odd"), "only even numbers, not 1")
        let core = core(
            .policy { action, _ in if (action as? Append)?.number == 1 { throw odd } },
            warnings: warnings
        )
        await #expect(throws: odd) { try await core.send(Append(1)) }
        core.dispatch(Append(1))
        try await core.send(Append(2))
        #expect(core.state.entries == [2])
        #expect(warnings.all.isEmpty)
    }

    @Test func `A middleware may reject with the core's own code without a warning`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let closed = Rejection(.stopped, "closed for the night")
        let core = core(.policy { _, _ in throw closed }, warnings: warnings)
        core.dispatch(Append(1))
        await #expect(throws: closed) { try await core.send(Append(1)) }
        #expect(warnings.all.isEmpty)
    }

    @Test func `A middleware refuses with any other error that it throws`() async {
        let core = core(.policy { _, _ in throw Trouble() })
        await #expect(throws: Rejection(.refused, "Append: trouble")) { try await core.send(Append(1)) }
        #expect(core.state.entries.isEmpty)
    }

    @Test func `A middleware dispatches more actions, which are reduced after the action and the queued ones`() {
        let core = core(
            Middleware { action, store, next in
                if (action as? Append)?.number == 1 { store.dispatch(Append(3)) }
                return try next(action)
            }
        )
        let subscription = core.observe(replay: .none) { [weak core] change in
            if change.new.entries == [1] { core?.dispatch(Append(4)) }
        }
        core.dispatch(Append(1))
        #expect(core.state.entries == [1, 3, 4])
        subscription.cancel()
    }

    @Test func `A middleware answers with a value, with or without passing the action on`() async throws {
        let core = core(
            Middleware { action, _, next in (try next(action) as? Int).map { $0 + 1 } },
            Middleware { action, store, next in
                guard let number = (action as? Append)?.number, number > 10 else {
                    _ = try next(action)
                    return store.state.entries.count
                }
                return number
            }
        )
        let reduced = try await core.send(Append(5))
        #expect(reduced.value as? Int == 2)
        #expect(reduced.revision == 1)
        let answered = try await core.send(Append(11))
        #expect(answered.value as? Int == 12)
        #expect(answered.revision == 1)
        #expect(core.state.entries == [5])
    }

    @Test func `A middleware runs inside those before it`() {
        let steps = Recorder<String>()
        let named = { @Sendable (name: String) in
            Middleware<Log> { action, _, next in
                steps.record("into \(name)")
                defer { steps.record("out of \(name)") }
                return try next(action)
            }
        }
        let core = core(named("a"), named("b"), named("c"))
        core.dispatch(Append(1))
        #expect(steps.all == ["into a", "into b", "into c", "out of c", "out of b", "out of a"])
    }

    @Test func `A middleware rejects an action before the inner middlewares`() {
        let seen = Recorder<Int>()
        let core = core(
            .policy { action, _ in if (action as? Append)?.number == 1 { throw Rejection(.refused, "one") } },
            .policy { action, _ in seen.record((action as? Append)?.number ?? 0) }
        )
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == [2])
    }

    @Test func `A middleware may answer after an inner middleware rejected the action`() async throws {
        let core = core(
            Middleware { action, _, next in (try? next(action)) ?? "never mind" },
            .policy { _, _ in throw Rejection(.refused, "no") }
        )
        let reply = try await core.send(Append(1))
        #expect(reply.value as? String == "never mind")
        #expect(core.state.entries.isEmpty)
    }

    @Test func `A middleware reads the state before and after, and the context`() {
        let seen = Recorder<[Int]>()
        let contexts = Recorder<ActionContext>()
        let core = core(
            Middleware { action, store, next in
                seen.record(store.state.entries)
                contexts.record(store.context)
                defer { seen.record(store.state.entries) }
                return try next(action)
            }
        )
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == [[], [1], [1], [1, 2]])
        #expect(contexts.all == Array(repeating: ActionContext(time: Timestamp(milliseconds: 7)), count: 2))
    }

    @Test
    func `A middleware that calls next twice raises a warning, and the inner middlewares run once`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let inside = Recorder<Int>()
        let core = core(
            Middleware { action, _, next in
                _ = try next(action)
                return try next(Append(2))
            },
            .policy { action, _ in inside.record((action as? Append)?.number ?? 0) },
            warnings: warnings
        )
        let reply = try await core.send(Append(1))
        #expect(reply.revision == 1)
        #expect(core.state.entries == [1])
        #expect(inside.all == [1])
        #expect(warnings.all == [.nextCalledTwice(action: "Append")])
    }

    @Test func `A middleware that throws after next raises a warning, and the action counts as applied`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let core = core(
            Middleware { action, _, next in
                _ = try next(action)
                throw Trouble()
            },
            warnings: warnings
        )
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        let reply = try await core.send(Append(1))
        #expect(reply.revision == 1)
        #expect(seen.all == [[1]])
        #expect(warnings.all == [.rejectedTooLate(action: "Append", error: "trouble")])
        subscription.cancel()
    }

    @Test func `A middleware may keep the dispatcher, to dispatch later`() async throws {
        let kept = Box<any ActionDispatcher>()
        let core = core(
            Middleware { action, store, next in
                kept.set(store.dispatcher)
                return try next(action)
            }
        )
        core.dispatch(Append(1))
        try #require(kept.value).dispatch(Append(2))
        #expect(core.state.entries == [1, 2])
    }
}
