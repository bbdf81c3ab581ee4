import Dispatch
import StatecastCore
import Testing

@Suite struct `A tap` {
    @Test func `A tap before the reducer receives the old state and revision`() throws {
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

    @Test func `A tap after the reducer receives the new state and revision`() throws {
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

    @Test func `A tap without a moment runs after the reducer, for cores and scopes`() {
        let core = logCore()
        let seen = Recorder<[Int]>()
        let subscriptions = [
            core.tap { seen.record($0.state.entries) },
            core.scope(\.entries).tap { seen.record($0.state) },
            core.scope { $0.entries.count }.tap { tapped in seen.record([tapped.state]) },
        ]
        core.dispatch(Append(7))
        #expect(seen.all == [[7], [7], [1]])
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test(arguments: [TapMoment.before, .after])
    func `A tap has no replay`(moment: TapMoment) {
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
    func `A tap receives every action in order until it is cancelled`(moment: TapMoment) {
        let core = logCore()
        let seen = Recorder<Int>()
        let subscription = core.tap(moment) { seen.record(($0.action as? Append)?.number ?? 0) }
        for number in 1...5 { core.dispatch(Append(number)) }
        subscription.cancel()
        core.dispatch(Append(6))
        #expect(seen.all == Array(1...5))
        #expect(core.state.entries == Array(1...6))
    }

    @Test func `A tap receives neither a replaced state nor a rejected action`() {
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

    @Test func `A tap is called in the order of registration, even after one cancelled another`() {
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

    @Test func `A tap receives the context that the reducer receives`() {
        let core = Core(Log(), reducer: Log.reducer, now: { Timestamp(milliseconds: 7) })
        let seen = Recorder<ActionContext>()
        let subscription = core.tap(.before) { seen.record($0.context) }
        core.dispatch(Append(1))
        #expect(seen.all == [ActionContext(time: Timestamp(milliseconds: 7))])
        subscription.cancel()
    }

    @Test func `A tap that is cancelled while its registration is queued is released, and never called`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let ends = Recorder<Void>()
        let observer = core.observe(replay: .none) { [weak core] change in
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

    @Test func `A tap of a scope receives every action, with the part instead of the state`() {
        let core = Lorry.core()
        let seen = Recorder<String>()
        let note = { @Sendable (tapped: TappedAction<Int>) in
            seen.record("\(type(of: tapped.action).name) \(tapped.state) \(tapped.revision)")
        }
        let subscriptions = [
            core.scope(\.miles).tap(.before, note),
            core.scope { $0.tank }.scope { $0.fuel }.tap(.after, note),
        ]
        core.dispatch(Driven(miles: 5))
        core.dispatch(Refuelled(fuel: 8))
        #expect(seen.all == ["Driven 0 0", "Driven 0 1", "Refuelled 5 1", "Refuelled 8 2"])
        subscriptions.forEach { $0.cancel() }
        core.dispatch(Driven(miles: 6))
        #expect(seen.all.count == 4)
    }

    @Test func `A tap of one type of action receives only those, with the new state`() {
        let core = Lorry.core()
        let seen = Recorder<[Int]>()
        let subscription = core.tap(Driven.self) { action, lorry in seen.record([action.miles, lorry.miles]) }
        core.dispatch(Refuelled(fuel: 8))
        core.dispatch(Driven(miles: 5))
        #expect(seen.all == [[5, 5]])
        subscription.cancel()
    }

    @Test func `A tap on a queue runs there, in order`() async {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "tap")
        let seen = Arrivals<Int>()
        let subscription = core.tap(on: .queue(queue)) { tapped in
            dispatchPrecondition(condition: .onQueue(queue))
            seen.record(tapped.state.miles)
        }
        for miles in 1...100 { core.dispatch(Driven(miles: miles)) }
        #expect(await seen.next(100) == Array(1...100))
        subscription.cancel()
    }
}
