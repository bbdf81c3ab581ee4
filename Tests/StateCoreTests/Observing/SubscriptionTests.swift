import StateCore
import Testing

@Suite struct `A subscription` {
    /// What a callback holds on to.
    private final class Witness: Sendable {
        private let onEnd: @Sendable () -> Void

        init(onEnd: @escaping @Sendable () -> Void) {
            self.onEnd = onEnd
        }

        deinit { onEnd() }
    }

    @Test func `that was cancelled delivers nothing any more`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: false) { seen.record($0.revision) }
        core.dispatch(Append(1))
        subscription.cancel()
        core.dispatch(Append(2))
        subscription.cancel()
        #expect(seen.all == [1])
    }

    @Test func `ends when it is dropped`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        do {
            let subscription = core.observe { seen.record($0.revision) }
            withExtendedLifetime(subscription) { core.dispatch(Append(1)) }
        }
        core.dispatch(Append(2))
        #expect(seen.all == [0, 1])
    }

    @Test func `outlives its object once detached`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        core.observe(replay: false) { seen.record($0.revision) }.detach()
        core.dispatch(Append(1))
        #expect(seen.all == [1])
    }

    @Test func `can still be cancelled once detached`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: false) { seen.record($0.revision) }
        subscription.detach()
        subscription.cancel()
        core.dispatch(Append(1))
        #expect(seen.all.isEmpty)
    }

    @Test func `may be cancelled by its own observer`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = Box<Subscription>()
        subscription.set(
            core.observe(replay: false) { change in
                seen.record(change.revision)
                subscription.value?.cancel()
            }
        )
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(seen.all == [1])
    }

    @Test func `cancelled by an observer before it misses that very change`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let second = Box<Subscription>()
        let first = core.observe(replay: false) { _ in second.value?.cancel() }
        second.set(core.observe(replay: false) { seen.record($0.revision) })
        core.dispatch(Append(1))
        #expect(seen.all.isEmpty)
        first.cancel()
    }

    @Test func `cancelled while its registration waits never delivers, and is forgotten`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let ends = Recorder<Void>()
        let outer = core.observe(replay: false) { [weak core] change in
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

    @Test func `releases its callback when it ends`() {
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

    @Test func `calls its end once`() {
        let ends = Recorder<Void>()
        do {
            let subscription = Subscription { ends.record(()) }
            subscription.cancel()
            subscription.cancel()
        }
        #expect(ends.all.count == 1)
    }
}
