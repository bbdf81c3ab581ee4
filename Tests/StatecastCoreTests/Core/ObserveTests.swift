import StatecastCore
import Testing

@Suite struct `Observing` {
    @Test func `Observing starts with a replay of the current state`() throws {
        let core = logCore()
        core.dispatch(Append(1))
        let seen = Recorder<Change<Log>>()
        let subscription = core.observe { seen.record($0) }
        let replay = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(replay.new.entries == [1])
        #expect(replay.old == nil)
        #expect(replay.action == nil)
        #expect(replay.revision == 1)
        subscription.cancel()
    }

    @Test func `Observing without a replay starts with the next action`() {
        let core = logCore()
        core.dispatch(Append(1))
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        #expect(seen.all.isEmpty)
        core.dispatch(Append(2))
        #expect(seen.all == [[1, 2]])
        subscription.cancel()
    }

    @Test func `Observing delivers the old state, the new one, the action and the revision`() throws {
        let core = logCore()
        let seen = Recorder<Change<Log>>()
        let subscription = core.observe(replay: .none) { seen.record($0) }
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        let change = try #require(seen.all.last)
        #expect(change.old?.entries == [1])
        #expect(change.new.entries == [1, 2])
        #expect(change.action as? Append == Append(2))
        #expect(seen.all.map(\.revision) == [1, 2])
        subscription.cancel()
    }

    @Test func `Observing delivers every action, including one that changes nothing`() {
        struct Unknown: Action {}
        let core = logCore()
        let seen = Recorder<Bool>()
        let subscription = core.observe(replay: .none) { seen.record($0.old == $0.new) }
        core.dispatch(Unknown())
        #expect(seen.all == [true])
        subscription.cancel()
    }

    @Test func `Observing follows the order of registration, even after a cancellation`() {
        let core = logCore()
        let order = Recorder<Int>()
        let subscriptions = (0..<20).map { index in
            core.observe(replay: .none) { _ in order.record(index) }
        }
        subscriptions[7].cancel()
        core.dispatch(Append(1))
        #expect(order.all == (0..<20).filter { $0 != 7 })
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `Observing from an observer replays earlier actions, and misses no later one`() {
        let core = logCore()
        let inner = Recorder<[Int]>()
        let subscription = Box<Subscription>()
        let outer = core.observe(replay: .none) { [weak core] change in
            guard change.new.entries.count == 1, let core else { return }
            core.dispatch(Append(2))
            subscription.set(core.observe { inner.record($0.new.entries) })
            core.dispatch(Append(3))
        }
        core.dispatch(Append(1))
        #expect(inner.all == [[1, 2], [1, 2, 3]])
        outer.cancel()
    }
}
