import StatecastCore
import Testing

@Suite struct `A subscription` {
    @Test func `A subscription that is cancelled delivers nothing`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: .none) { seen.record($0.revision) }
        core.dispatch(Append(1))
        subscription.cancel()
        core.dispatch(Append(2))
        subscription.cancel()
        #expect(seen.all == [1])
    }

    @Test func `A subscription ends when it is dropped`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        do {
            let subscription = core.observe { seen.record($0.revision) }
            withExtendedLifetime(subscription) { core.dispatch(Append(1)) }
        }
        core.dispatch(Append(2))
        #expect(seen.all == [0, 1])
    }

    @Test func `A subscription outlives its object after it is detached`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        core.observe(replay: .none) { seen.record($0.revision) }.detach()
        core.dispatch(Append(1))
        #expect(seen.all == [1])
    }

    @Test func `A subscription can still be cancelled after it is detached`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: .none) { seen.record($0.revision) }
        subscription.detach()
        subscription.cancel()
        core.dispatch(Append(1))
        #expect(seen.all.isEmpty)
    }

    @Test func `A subscription cancelled while its registration is queued never delivers, and is released`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let ends = Recorder<Void>()
        let outer = core.observe(replay: .none) { [weak core] change in
            guard change.revision == 1 else { return }
            let witness = Witness { ends.record(()) }
            core?.observe { change in
                withExtendedLifetime(witness) { seen.record(change.revision) }
            }.cancel()
        }
        core.dispatch(Append(1))
        #expect(ends.all.count == 1)
        core.dispatch(Append(2))
        #expect(seen.all.isEmpty)
        outer.cancel()
    }

    @Test func `A subscription releases its callback when it ends`() {
        let core = logCore()
        let ends = Recorder<Void>()
        let subscription: Subscription
        do {
            let witness = Witness { ends.record(()) }
            subscription = core.observe { _ in withExtendedLifetime(witness) {} }
        }
        #expect(ends.all.isEmpty)
        subscription.cancel()
        #expect(ends.all.count == 1)
        withExtendedLifetime(core) {}
    }

    @Test func `A subscription calls its cancellation handler once`() {
        let ends = Recorder<Void>()
        do {
            let subscription = Subscription { ends.record(()) }
            subscription.cancel()
            subscription.cancel()
        }
        #expect(ends.all.count == 1)
    }
}

@Suite struct `A disposer` {
    @Test func `A disposer cancels all its subscriptions at once, and no others`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        for index in 0..<3 { core.observe(replay: .none) { _ in seen.record(index) }.store(in: disposer) }
        let other = core.observe(replay: .none) { _ in seen.record(7) }
        core.dispatch(Driven(miles: 1))
        disposer.dispose()
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [0, 1, 2, 7, 7])
        other.cancel()
    }

    @Test func `A disposer does not affect the others when one of its subscriptions ends`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        let first = core.observe(replay: .none) { _ in seen.record(1) }
        disposer.add(first)
        core.observe(replay: .none) { _ in seen.record(2) }.store(in: disposer)
        first.cancel()
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [2])
        disposer.dispose()
    }

    @Test func `A disposer cancels its subscriptions when it is dropped, including detached ones`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        do {
            let disposer = Disposer()
            let detached = core.observe(replay: .none) { _ in seen.record(1) }
            detached.detach()
            detached.store(in: disposer)
            core.observe(replay: .none) { _ in seen.record(2) }.store(in: disposer)
            withExtendedLifetime(disposer) { core.dispatch(Driven(miles: 1)) }
        }
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [1, 2])
    }

    @Test func `A disposer that is disposed cancels added subscriptions at once`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        disposer.dispose()
        let late = core.observe(replay: .none) { _ in seen.record(1) }
        late.store(in: disposer)
        core.dispatch(Driven(miles: 1))
        #expect(seen.all.isEmpty)
        withExtendedLifetime(late) {}
    }

    @Test func `A disposer may be disposed by one of its own observers`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        core.observe(replay: .none) { [weak disposer] _ in
            seen.record(1)
            disposer?.dispose()
        }.store(in: disposer)
        core.observe(replay: .none) { _ in seen.record(2) }.store(in: disposer)
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [1])
    }

    @Test func `A disposer does not accumulate cancelled subscriptions`() {
        let disposer = Disposer()
        weak var first: Subscription?
        for index in 0..<100 {
            let subscription = Subscription {}
            if index == 0 { first = subscription }
            subscription.cancel()
            disposer.add(subscription)
        }
        #expect(first == nil)
        withExtendedLifetime(disposer) {}
    }
}
