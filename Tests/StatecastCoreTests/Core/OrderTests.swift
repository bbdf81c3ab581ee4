import Testing

@testable import StatecastCore

@Suite struct `The processing of one action` {
    @Test func `Middlewares, taps, reducer, observers, taps, effects and the awaiting task come in this order`()
        async
    {
        let steps = Recorder<String>()
        let started = Gate()
        // A cancellation handler runs on the thread that starts the cancelling effect, and thereby records its
        // position.
        let work = Effect.run(id: "work") { _ in
            await withTaskCancellationHandler {
                started.open()
                await cancellation()
            } onCancel: {
                steps.record("effect")
            }
        }
        let core = Core(
            Log(),
            reducer: Reducer<Log> { _, action -> Effect in
                guard action is Append else { return work }
                steps.record("reducer")
                return .cancel(id: "work")
            },
            middleware: ["outer", "inner"].map { name in
                Middleware { action, _, next in
                    guard action is Append else { return try next(action) }
                    steps.record("into \(name)")
                    defer { steps.record("out of \(name)") }
                    return try next(action)
                }
            },
            now: { .epoch }
        )
        core.dispatch(Perform("work"))
        await started.passed()
        let subscriptions = [
            core.tap(.after) { _ in steps.record("tap after") },
            core.observe(replay: .none) { _ in steps.record("observer 1") },
            core.tap(.before) { _ in steps.record("tap before") },
            core.observe(replay: .none) { _ in steps.record("observer 2") },
        ]
        core.submit(.awaited(Append(1), { _ in steps.record("awaiting one") }, depth: 0))
        #expect(
            steps.all == [
                "into outer", "into inner", "tap before", "reducer", "out of inner", "out of outer",
                "observer 1", "observer 2", "tap after", "effect", "awaiting one",
            ]
        )
        subscriptions.forEach { $0.cancel() }
    }

    @Test
    func `The processing of one action ends before that of the next action begins, wherever that one was dispatched`() {
        let steps = Recorder<String>()
        let target = Box<Core<Log>>()
        /// Dispatches the numbers 2, 3, ... from one position after the other.
        @Sendable func step(_ place: String, _ number: Int, answer: Int) {
            steps.record("\(place) \(number)")
            if number == 1 { target.value?.dispatch(Append(answer)) }
        }
        let core = Core(
            Log(),
            reducer: Reducer<Log> { log, action in
                guard let action = action as? Append else { return }
                step("reducer", action.number, answer: 4)
                log.entries.append(action.number)
            },
            middleware: [
                Middleware { action, _, next in
                    step("middleware", (action as? Append)?.number ?? 0, answer: 2)
                    return try next(action)
                }
            ],
            now: { .epoch }
        )
        target.set(core)
        let subscriptions = [
            core.tap(.before) { step("before", ($0.action as? Append)?.number ?? 0, answer: 3) },
            core.observe(replay: .none) { step("observer", $0.new.entries.last ?? 0, answer: 5) },
            core.observe(replay: .none) { steps.record("other observer \($0.new.entries.last ?? 0)") },
            core.tap(.after) { step("after", ($0.action as? Append)?.number ?? 0, answer: 6) },
        ]
        core.dispatch(Append(1))
        #expect(core.state.entries == Array(1...6))
        #expect(
            steps.all
                == (1...6).flatMap { number in
                    ["middleware", "before", "reducer", "observer", "other observer", "after"].map { "\($0) \(number)" }
                }
        )
        subscriptions.forEach { $0.cancel() }
        target.set(nil)
    }
}
