import StatecastCore
import Testing

@Suite struct `A callback` {
    @Test func `A callback may dispatch when it is released, even during its cancellation`() {
        let core = logCore()
        do {
            let witness = Witness { [weak core] in core?.dispatch(Append(2)) }
            let subscription = core.observe(replay: .none) { _ in withExtendedLifetime(witness) {} }
            core.dispatch(Append(1))
            withExtendedLifetime(subscription) {}
        }
        #expect(core.state.entries == [1, 2])
        core.dispatch(Append(3))
        #expect(core.state.entries == [1, 2, 3])
    }

    @Test func `A callback of a tap may dispatch when it is released`() {
        let core = logCore()
        do {
            let witness = Witness { [weak core] in core?.dispatch(Append(2)) }
            let subscription = core.tap(.before) { _ in withExtendedLifetime(witness) {} }
            core.dispatch(Append(1))
            withExtendedLifetime(subscription) {}
        }
        #expect(core.state.entries == [1, 2])
    }

    @Test func `A callback may release its own last subscription, and dispatch when that ends`() {
        let core = logCore()
        let held = Box<Subscription>()
        let seen = Recorder<[Int]>()
        do {
            let witness = Witness { [weak core] in core?.dispatch(Append(2)) }
            held.set(
                core.observe(replay: .none) { change in
                    withExtendedLifetime(witness) { seen.record(change.new.entries) }
                    held.set(nil)
                }
            )
        }
        core.dispatch(Append(1))
        #expect(seen.all == [[1]])
        #expect(core.state.entries == [1, 2])
    }

    @Test func `A callback may hold the last reference to an action that dispatches when it is released`() {
        struct Held: Action {
            var witness: Witness?

            init(_ witness: Witness) { self.witness = witness }
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws {}
        }
        let core = logCore()
        core.dispatch(Held(Witness { [weak core] in core?.dispatch(Append(1)) }))
        #expect(core.state.entries == [1])
        // The same for a queued action.
        let subscription = core.observe(replay: .none) { [weak core] change in
            guard change.action is Append, change.revision == 3 else { return }
            core?.dispatch(Held(Witness { core?.dispatch(Append(3)) }))
        }
        core.dispatch(Append(2))
        #expect(core.state.entries == [1, 2, 3])
        subscription.cancel()
    }

    @Test func `A callback may cancel later callbacks, which then miss the change`() {
        let core = logCore()
        let seen = Recorder<String>()
        let others = Recorder<Subscription>()
        let first = core.observe(replay: .none) { change in
            seen.record("first \(change.revision)")
            others.all.forEach { $0.cancel() }
        }
        for name in ["second", "third"] {
            others.record(core.observe(replay: .none) { seen.record("\(name) \($0.revision)") })
        }
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == ["first 1", "first 2"])
        first.cancel()
    }

    @Test func `A callback may cancel an earlier callback, which has received the change and receives no more`() {
        let core = logCore()
        let seen = Recorder<String>()
        let first = core.observe(replay: .none) { seen.record("first \($0.revision)") }
        let second = core.observe(replay: .none) { change in
            seen.record("second \(change.revision)")
            first.cancel()
        }
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == ["first 1", "second 1", "second 2"])
        second.cancel()
    }

    @Test func `A callback may add observers, which start with a replay after the change`() {
        let core = logCore()
        let seen = Recorder<String>()
        let added = Recorder<Subscription>()
        let first = core.observe(replay: .none) { [weak core] change in
            seen.record("first \(change.revision)")
            guard change.revision == 1, let core else { return }
            added.record(core.observe { seen.record("added \($0.revision)") })
            added.record(core.observe(replay: .none) { seen.record("silent \($0.revision)") })
        }
        core.dispatch(Append(1))
        #expect(seen.all == ["first 1", "added 1"])
        core.dispatch(Append(2))
        #expect(seen.all == ["first 1", "added 1", "first 2", "added 2", "silent 2"])
        first.cancel()
    }

    @Test func `A callback may read the state, which equals the received one`() {
        let core = logCore()
        let seen = Recorder<Bool>()
        let subscriptions = [
            core.observe { [weak core] change in seen.record(core?.state == change.new) },
            core.tap(.before) { [weak core] tapped in seen.record(core?.state == tapped.state) },
            core.tap(.after) { [weak core] tapped in seen.record(core?.state == tapped.state) },
        ]
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == Array(repeating: true, count: 7))
        subscriptions.forEach { $0.cancel() }
    }
}
