import Testing

@testable import StatecastCore

@Suite struct `Effects that end` {
    @Test func `Effects that end are removed, at any number`() async {
        let count = 300
        let counted = Gate()
        let forgotten = Gate()
        let running = Box<Int>()
        let target = Box<Core<Log>>()
        let core = Core(
            Log(),
            reducer: Reducer<Log> { _, action -> Effect in
                // The next effect of a sequence starts after the work before is removed.
                guard action is Perform else { return .none }
                return .sequence(
                    .merge(
                        (0..<count).map { number in
                            switch number % 3 {
                            case 0: .run { _ in await (number == 0 ? counted.passed() : Task.yield()) }
                            case 1: .run(id: number % 7) { send in await send(Append(number)) }
                            default: number < 60 ? .blocking { _ in } : .run { _ in }
                            }
                        }
                    ),
                    .dispatch(Append(-1))
                )
            },
            now: { .epoch }
        )
        target.set(core)
        let subscription = core.observe(replay: .none) { change in
            guard change.action as? Append == Append(-1) else { return }
            running.set(target.value?.effects.runningCount)
            forgotten.open()
        }
        core.dispatch(Perform("all"))
        #expect(core.effects.runningCount > 0)
        counted.open()
        await forgotten.passed()
        #expect(running.value == 0)
        target.set(nil)
        subscription.cancel()
    }

    @Test func `Effects that end are cancelled and removed when the core is stopped, and send no more`() async {
        let started = Recorder<Void>()
        let goOn = Gate()
        let returned = Recorder<Bool>()
        let core = effectCore([
            "it": .merge(
                .run { send in
                    started.record(())
                    await goOn.passed()
                    await send(Append(1))
                    returned.record(Task.isCancelled)
                },
                .blocking { send in
                    started.record(())
                    goOn.block()
                    send(Append(2))
                    returned.record(send.isCancelled)
                }
            )
        ])
        core.dispatch(Perform("it"))
        await started.reaching(2)
        core.stop()
        #expect(core.effects.runningCount == 0)
        core.start()
        goOn.open()
        let all = await returned.reaching(2)
        #expect(all == [true, true])
        #expect(core.state.entries.isEmpty)
    }

    @Test func `Effects that end leave no queued action that is reduced after a stop`() {
        let core = effectCore([
            "it": .merge(.dispatch(Append(1)), .sequence(.dispatch(Append(2)), .dispatch(Append(3))))
        ])
        let subscription = core.observe(replay: .none) { [weak core] change in
            guard change.action is Perform else { return }
            core?.stop()
            core?.start()
            core?.dispatch(Append(9))
        }
        core.dispatch(Perform("it"))
        #expect(core.state.entries == [9])
        subscription.cancel()
    }

    @Test func `Effects that end of a released runner are cancelled`() async {
        let started = Gate()
        let ended = Gate()
        do {
            let runner = EffectRunner { $0.complete() }
            let work = Effect.run { _ in
                started.open()
                await cancellation()
                ended.open()
            }
            runner.start(work, key: IdempotencyKey(revision: 1, index: 0))
            await started.passed()
            #expect(runner.runningCount == 1)
        }
        await ended.passed()
    }
}
