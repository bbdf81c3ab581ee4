import StateCore
import Testing

@Suite struct `A tap` {
    @Test func `before the reducer sees the state and the revision before`() throws {
        let core = logCore()
        core.dispatch(Append(1))
        let seen = Recorder<TappedAction<Log>>()
        let subscription = core.tap(.before) { seen.record($0) }
        core.dispatch(Append(2))
        let tapped = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(tapped.action as? Append == Append(2))
        #expect(tapped.state.entries == [1])
        #expect(tapped.revision == 1)
        subscription.cancel()
    }

    @Test func `after the reducer sees the state and the revision after`() throws {
        let core = logCore()
        core.dispatch(Append(1))
        let seen = Recorder<TappedAction<Log>>()
        let subscription = core.tap(.after) { seen.record($0) }
        core.dispatch(Append(2))
        let tapped = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(tapped.action as? Append == Append(2))
        #expect(tapped.state.entries == [1, 2])
        #expect(tapped.revision == 2)
        subscription.cancel()
    }

    @Test(arguments: [TapMoment.before, .after])
    func `has no replay`(moment: TapMoment) {
        let core = logCore()
        core.dispatch(Append(1))
        let seen = Recorder<UInt64>()
        let subscription = core.tap(moment) { seen.record($0.revision) }
        #expect(seen.all.isEmpty)
        core.dispatch(Append(2))
        #expect(seen.all.count == 1)
        subscription.cancel()
    }

    @Test(arguments: [TapMoment.before, .after])
    func `sees every action in order until it is cancelled`(moment: TapMoment) {
        let core = logCore()
        let seen = Recorder<Int>()
        let subscription = core.tap(moment) { seen.record(($0.action as? Append)?.number ?? 0) }
        for number in 1...5 { core.dispatch(Append(number)) }
        subscription.cancel()
        core.dispatch(Append(6))
        #expect(seen.all == Array(1...5))
        #expect(core.state.entries == Array(1...6))
    }

    @Test func `sees neither a replaced state nor an action that was kept back`() {
        let core = Core(
            Log(),
            reducer: Log.reducer,
            middleware: [Middleware { action, _, next in action is Append ? try next(action) : nil }],
            now: { .epoch }
        )
        let seen = Recorder<UInt64>()
        let subscriptions = [TapMoment.before, .after].map { core.tap($0) { seen.record($0.revision) } }
        core.replace(Log(entries: [7]))
        core.dispatch(Perform("nothing"))
        #expect(seen.all.isEmpty)
        core.dispatch(Append(1))
        #expect(seen.all == [1, 2])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `is told in the order of registration, also after one was cancelled by another`() {
        let core = logCore()
        let order = Recorder<Int>()
        let third = Box<Subscription>()
        let subscriptions = (0..<5).map { index in
            let subscription = core.tap(.after) { _ in
                order.record(index)
                if index == 1 { third.value?.cancel() }
            }
            if index == 3 { third.set(subscription) }
            return subscription
        }
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(order.all == [0, 1, 2, 4, 0, 1, 2, 4])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `is told the context that the reducer is given`() {
        let core = Core(Log(), reducer: Log.reducer, now: { Timestamp(milliseconds: 7) })
        let seen = Recorder<ActionContext>()
        let subscription = core.tap(.before) { seen.record($0.context) }
        core.dispatch(Append(1))
        #expect(seen.all == [ActionContext(time: Timestamp(milliseconds: 7))])
        subscription.cancel()
    }

    @Test func `cancelled while its registration waits is never told, and forgotten`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let ends = Recorder<Void>()
        let observer = core.observe(replay: false) { [weak core] change in
            guard change.revision == 1 else { return }
            let witness = Witness { ends.record(()) }
            core?.tap(.before) { tapped in
                withExtendedLifetime(witness) { seen.record(tapped.revision) }
            }.cancel()
        }
        core.dispatch(Append(1))
        #expect(ends.all.count == 1)
        core.dispatch(Append(2))
        #expect(seen.all.isEmpty)
        observer.cancel()
    }
}
