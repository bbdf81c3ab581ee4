import Testing

@testable import StatecastCore

@Suite struct `The result of an effect` {
    /// Adds up.
    private struct Add: Action {
        var amount = 1
    }

    @Test func `The result of an effect is an ordinary action: observers receive it, with its own revision`() async {
        let core = effectCore(["it": .run { send in await send(Append(1)) }])
        let seen = Recorder<Change<Log>>()
        let subscription = core.observe(replay: .none) { seen.record($0) }
        core.dispatch(Perform("it"))
        let changes = await seen.reaching(2)
        #expect(changes.map(\.revision) == [1, 2])
        #expect(changes[1].action as? Append == Append(1))
        #expect(changes[1].new.entries == [1])
        subscription.cancel()
    }

    @Test func `The result of an effect is reduced against the state at that time`() async {
        let goOn = Gate()
        let started = Gate()
        let core = effectCore([
            "it": .run { send in
                started.open()
                await goOn.passed()
                await send(Append(3))
            }
        ])
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Perform("it"))
        await started.passed()
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        goOn.open()
        let last = await seen.reaching(4).last
        #expect(last == [1, 2, 3])
        subscription.cancel()
    }

    @Test(arguments: [false, true])
    func `The result of an effect is never lost among concurrent senders`(isBlocking: Bool) async {
        struct Begin: Action {}
        let count = isBlocking ? 32 : 1_000
        let adding: Effect =
            isBlocking
            ? .blocking { send in send(Add()) }
            : .run { send in
                await Task.yield()
                await send(Add())
            }
        let total = Recorder<Int>()
        let core = Core(
            0,
            reducer: Reducer<Int> { sum, action -> Effect in
                guard let action = action as? Add else { return .merge(Array(repeating: adding, count: count)) }
                sum += action.amount
                return .none
            },
            now: { .epoch }
        )
        let subscription = core.observe(replay: .none) { total.record($0.new) }
        core.dispatch(Begin())
        let totals = await total.reaching(count + 1)
        #expect(totals == Array(0...count))
        #expect(core.state == count)
        subscription.cancel()
    }

    @Test(arguments: [false, true])
    func `The result of an effect keeps its order in a stream, and the sender waits for each`(isBlocking: Bool) async {
        let applied = Recorder<Bool>()
        let target = Box<Core<Log>>()
        let isApplied = { @Sendable (number: Int) in target.value?.state.entries.last == number }
        let ended = Gate()
        let stream: Effect =
            isBlocking
            ? .blocking { send in
                for number in 1...500 {
                    send(Append(number))
                    applied.record(isApplied(number))
                }
                ended.open()
            }
            : .run { send in
                for number in 1...500 {
                    await send(Append(number))
                    applied.record(isApplied(number))
                }
                ended.open()
            }
        let core = effectCore(["stream": stream])
        target.set(core)
        core.dispatch(Perform("stream"))
        await ended.passed()
        #expect(core.state.entries == Array(1...500))
        #expect(applied.all == Array(repeating: true, count: 500))
        target.set(nil)
    }

    @Test func `The result of an effect may start more effects`() async {
        let done = Gate()
        let core = Core(
            Log(),
            reducer: Reducer<Log> { log, action -> Effect in
                guard let action = action as? Append else { return .none }
                log.entries.append(action.number)
                if action.number == 5 { done.open() }
                return action.number < 5 ? .run { send in await send(Append(action.number + 1)) } : .none
            },
            now: { .epoch }
        )
        core.dispatch(Append(1))
        await done.passed()
        #expect(core.state.entries == [1, 2, 3, 4, 5])
    }

    @Test func `The result of an effect passes the middlewares, and the sender continues if they reject it`() async {
        let effect = Effect.sequence(
            .run { send in
                await send(Append(1))
                await send(Append(2))
            },
            .blocking { send in
                send(Append(3))
                send(Append(4))
            },
            .dispatch(Append(5)),
            .dispatch(Append(6))
        )
        let done = Gate()
        let core = Core(
            Log(),
            reducer: Reducer<Log> { log, action -> Effect in
                guard let action = action as? Append else { return effect }
                log.entries.append(action.number)
                if action.number == 6 { done.open() }
                return .none
            },
            middleware: [
                .policy { action, _ in
                    if (action as? Append)?.number.isMultiple(of: 2) == false { throw Rejection(.refused, "odd") }
                }
            ],
            now: { .epoch }
        )
        core.dispatch(Perform("it"))
        await done.passed()
        #expect(core.state.entries == [2, 4, 6])
    }
}
