import StateCore
import Testing

@Suite struct `A disposer` {
    @Test func `ends all its subscriptions at once, and no others`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        for index in 0..<3 { core.observe(replay: false) { _ in seen.record(index) }.store(in: disposer) }
        let other = core.observe(replay: false) { _ in seen.record(7) }
        core.dispatch(Driven(miles: 1))
        disposer.dispose()
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [0, 1, 2, 7, 7])
        other.cancel()
    }

    @Test func `leaves the others going when one of its subscriptions ends`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        let first = core.observe(replay: false) { _ in seen.record(1) }
        disposer.add(first)
        core.observe(replay: false) { _ in seen.record(2) }.store(in: disposer)
        first.cancel()
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [2])
        disposer.dispose()
    }

    @Test func `ends its subscriptions when it is dropped, also detached ones`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        do {
            let disposer = Disposer()
            let detached = core.observe(replay: false) { _ in seen.record(1) }
            detached.detach()
            detached.store(in: disposer)
            core.observe(replay: false) { _ in seen.record(2) }.store(in: disposer)
            withExtendedLifetime(disposer) { core.dispatch(Driven(miles: 1)) }
        }
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [1, 2])
    }

    @Test func `that was disposed of ends what is added, at once`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        disposer.dispose()
        let late = core.observe(replay: false) { _ in seen.record(1) }
        late.store(in: disposer)
        core.dispatch(Driven(miles: 1))
        #expect(seen.all.isEmpty)
        withExtendedLifetime(late) {}
    }

    @Test func `may be told to dispose by one of its own observers`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let disposer = Disposer()
        core.observe(replay: false) { [weak disposer] _ in
            seen.record(1)
            disposer?.dispose()
        }.store(in: disposer)
        core.observe(replay: false) { _ in seen.record(2) }.store(in: disposer)
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [1])
    }

    @Test func `does not collect what has ended`() {
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
