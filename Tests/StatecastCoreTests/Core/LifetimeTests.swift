import Testing

@testable import StatecastCore

@Suite struct `A core without references` {
    /// Creates a core, uses it, releases it, and returns whether it was deallocated.
    private func gone(_ make: () -> Core<Log>, using use: (Core<Log>) -> Void) -> Bool {
        weak var core: Core<Log>?
        func live() {
            let local = make()
            core = local
            use(local)
            withExtendedLifetime(local) {}
        }
        live()
        return core == nil
    }

    @Test func `A core without references is deallocated at once`() {
        #expect(gone(logCore) { $0.dispatch(Append(1)) })
    }

    @Test func `A core without references is deallocated while subscriptions and taps are held`() {
        let held = Recorder<Subscription>()
        let isGone = gone(logCore) { core in
            held.record(core.observe { _ in })
            held.record(core.tap(.before) { _ in })
            held.record(core.tap(.after) { _ in })
            core.observe { _ in }.detach()
            core.dispatch(Append(1))
        }
        #expect(isGone)
        #expect(held.all.count == 3)
        // Cancelling after the end does nothing.
        held.all.forEach { $0.cancel() }
    }

    @Test(arguments: [false, true])
    func `A core without references releases observers and taps, even if their subscriptions are held`(
        isDetached: Bool
    ) {
        let ends = Recorder<Void>()
        let held = Recorder<Subscription>()
        let isGone = gone(logCore) { core in
            let witnesses = (0..<2).map { _ in Witness { ends.record(()) } }
            held.record(core.observe { _ in withExtendedLifetime(witnesses[0]) {} })
            held.record(core.tap(.after) { _ in withExtendedLifetime(witnesses[1]) {} })
            if isDetached { held.all.forEach { $0.detach() } }
        }
        #expect(isGone)
        #expect(ends.all.count == 2)
        held.all.forEach { $0.cancel() }
    }

    @Test func `A core without references is deallocated although an observer holds its dispatcher`() {
        let isGone = gone(logCore) { core in
            let dispatcher = core.dispatcher
            let number = Box<Int>()
            core.observe { change in
                number.set(change.new.entries.count)
                if change.new.entries.count < 3 { dispatcher.dispatch(Append(7)) }
            }.detach()
            #expect(core.state.entries == [7, 7, 7])
        }
        #expect(isGone)
    }

    @Test func `A core is deallocated although a middleware holds its dispatcher, which then does nothing`() throws {
        let kept = Box<any ActionDispatcher>()
        let reduced = Recorder<Int>()
        let isGone = gone {
            Core(
                Log(),
                reducer: Reducer { _, action in reduced.record((action as? Append)?.number ?? 0) },
                middleware: [
                    Middleware { action, store, next in
                        kept.set(store.dispatcher)
                        return try next(action)
                    }
                ],
                now: { .epoch }
            )
        } using: { core in
            core.dispatch(Append(1))
            kept.value?.dispatch(Append(2))
        }
        #expect(isGone)
        let dispatcher = try #require(kept.value)
        dispatcher.dispatch(Append(3))
        #expect(reduced.all == [1, 2])
    }

    @Test func `A core without references is deallocated while effects run, and cancels them`() async {
        let started = Recorder<Void>()
        let ended = Recorder<Void>()
        let effect = Effect.run { _ in
            started.record(())
            await cancellation()
            ended.record(())
        }
        let core = Box(effectCore(["work": .merge(effect, effect, .sequence(effect, effect))]))
        core.value?.dispatch(Perform("work"))
        await started.reaching(3)
        weak let gone = core.value
        core.set(nil)
        #expect(gone == nil)
        await ended.reaching(3)
        // The effects after the cancelled work of the sequence do not start.
        #expect(started.all.count == 3)
    }

    @Test
    func `A core without references is deallocated while blocking work runs, which sees its cancellation`() async {
        let started = Gate()
        let goOn = Gate()
        let told = Recorder<Bool>()
        let effect = Effect.blocking { send in
            told.record(send.isCancelled)
            started.open()
            goOn.block()
            send(Append(1))
            told.record(send.isCancelled)
        }
        let core = Box(effectCore(["work": effect]))
        core.value?.dispatch(Perform("work"))
        await started.passed()
        weak let gone = core.value
        core.set(nil)
        #expect(gone == nil)
        goOn.open()
        let seen = await told.reaching(2)
        #expect(seen == [false, true])
    }

    @Test func `A core without references is deallocated while work sends, and drops the action`() async {
        let started = Gate()
        let goOn = Gate()
        let returned = Gate()
        let effect = Effect.run { send in
            started.open()
            await goOn.passed()
            await send(Append(1))
            returned.open()
        }
        let core = Box(effectCore(["work": effect]))
        core.value?.dispatch(Perform("work"))
        await started.passed()
        weak let gone = core.value
        core.set(nil)
        #expect(gone == nil)
        goOn.open()
        await returned.passed()
    }

    @Test func `A core without references is deallocated after another thread drained its queue, not before`() async {
        let ended = Gate()
        let reduced = Recorder<Int>()
        do {
            let witness = Witness { ended.open() }
            let target = Box<Core<Log>>()
            let core = Core(
                Log(),
                reducer: Reducer { _, action in
                    withExtendedLifetime(witness) {}
                    guard let number = (action as? Append)?.number else { return }
                    reduced.record(number)
                    if number == 1 {
                        for next in 2...100 { target.value?.dispatch(Append(next)) }
                    }
                },
                now: { .epoch },
                maxDrainedRequests: 2
            )
            target.set(core)
            core.dispatch(Append(1))
            target.set(nil)
        }
        await ended.passed()
        #expect(reduced.all == Array(1...100))
    }
}
