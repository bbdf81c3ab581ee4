import StatecastCore
import Testing

@Suite struct `Reducing` {
    private struct Pair: Sendable {
        var changed = Array(repeating: 0, count: 1_000)
        var unchanged = Array(repeating: 0, count: 1_000)
    }

    /// The addresses of the state's buffers, which a copy changes as long as the original exists.
    private struct Places: Hashable {
        var changed: UInt
        var unchanged: UInt
    }

    private func pairCore(
        middleware: [Middleware<Pair>] = [],
        noting places: Recorder<Places>
    ) -> Core<Pair> {
        Core(
            Pair(),
            reducer: Reducer { pair, _ in
                pair.changed[0] += 1
                places.record(
                    Places(
                        changed: pair.changed.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) },
                        unchanged: pair.unchanged.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
                    )
                )
            },
            middleware: middleware,
            now: { .epoch }
        )
    }

    @Test func `Reducing copies no collection of a state without observers`() {
        let places = Recorder<Places>()
        let core = pairCore(noting: places)
        for _ in 0..<3 { core.dispatch(Append(1)) }
        #expect(places.all.count == 3)
        #expect(Set(places.all).count == 1)
        #expect(core.state.changed[0] == 3)
    }

    @Test func `Reducing copies no collection for taps and middlewares that retain no state`() {
        let places = Recorder<Places>()
        let sums = Recorder<Int>()
        let core = pairCore(
            middleware: [
                Middleware { action, store, next in
                    sums.record(store.state.changed[0])
                    let value = try next(action)
                    sums.record(store.state.changed[0])
                    return value
                }
            ],
            noting: places
        )
        let subscriptions = [TapMoment.before, .after].map { core.tap($0) { sums.record($0.state.changed[0]) } }
        for _ in 0..<2 { core.dispatch(Append(1)) }
        #expect(sums.all == [0, 0, 1, 1, 1, 1, 2, 2])
        #expect(Set(places.all).count == 1)
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `Reducing copies no collection for scopes of another part, or for observers without old states`() {
        let places = Recorder<Places>()
        let core = pairCore(noting: places)
        let sums = Recorder<Int>()
        let subscriptions = [
            core.scope(\.unchanged).observe { sums.record($0.new.count) },
            core.scope { $0.unchanged.count }.observe(replay: .none) { sums.record($0.new) },
            core.observe(oldState: .omitted) { change in
                #expect(change.old == nil)
                sums.record(change.new.changed[0])
            },
        ]
        for _ in 0..<3 { core.dispatch(Append(1)) }
        #expect(sums.all == [1_000, 0, 1, 2, 3])
        #expect(Set(places.all).count == 1)
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `Reducing keeps the old state from the first observer on that needs it`() {
        let core = pairCore(noting: Recorder())
        let seen = Recorder<[Int?]>()
        let following = core.observe(oldState: .omitted) { seen.record([$0.old?.changed[0]]) }
        let observing = core.observe(replay: .none) { seen.record([$0.old?.changed[0], $0.new.changed[0]]) }
        core.dispatch(Append(1))
        observing.cancel()
        core.dispatch(Append(1))
        #expect(seen.all == [[nil], [0], [0, 1], [nil]])
        following.cancel()
    }

    @Test func `Reducing copies no collection after the observers are cancelled`() {
        let places = Recorder<Places>()
        let core = pairCore(noting: places)
        core.observe { _ in }.cancel()
        for _ in 0..<3 { core.dispatch(Append(1)) }
        #expect(Set(places.all).count == 1)
    }

    @Test func `Reducing copies only the changed collections for an observer, which receives both states`() {
        let places = Recorder<Places>()
        let core = pairCore(noting: places)
        let seen = Recorder<[Int?]>()
        let held = Recorder<Change<Pair>>()
        let subscription = core.observe(replay: .none) { change in
            seen.record([change.old?.changed[0], change.new.changed[0]])
            held.record(change)
        }
        for _ in 0..<3 { core.dispatch(Append(1)) }
        #expect(seen.all == [[0, 1], [1, 2], [2, 3]])
        #expect(Set(places.all.map(\.unchanged)).count == 1)
        // All of them are retained, so no two have the same address.
        #expect(Set(places.all.map(\.changed)).count == 3)
        subscription.cancel()
    }
}
