import Dispatch
import StatecastCore
import Testing

@Suite struct `Removing duplicates` {
    @Test func `Removing duplicates is off by default for a core`() {
        let core = Lorry.core()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: .none) { seen.record($0.revision) }
        core.dispatch(Driven(miles: 0))
        #expect(seen.all == [1])
        subscription.cancel()
    }

    @Test func `Removing duplicates skips changes to an equal state, but never the replay`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.observe(removeDuplicates: ==) { seen.record($0.new.miles) }
        for miles in [0, 1, 1, 2] { core.dispatch(Driven(miles: miles)) }
        #expect(seen.all == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `Removing duplicates works with every delivery`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        let subscription = core.observe(on: .queue(.global()), removeDuplicates: ==) { seen.record($0.new.miles) }
        for miles in [0, 1, 1, 2] { core.dispatch(Driven(miles: miles)) }
        #expect(await seen.next(3) == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `Removing duplicates and all other observations are available for any source`() {
        func follow(_ source: some StateSource<Lorry>, _ seen: Recorder<Int>) -> Subscription {
            source.observe { seen.record($0.new.miles) }
        }
        let core = Lorry.core(miles: 7)
        let seen = Recorder<Int>()
        follow(core, seen).cancel()
        #expect(seen.all == [7])
    }
}

@Suite struct `An equality with a tolerance` {
    private let core = Lorry.core()
    private let seen = Recorder<[Int]>()
    private let near: @Sendable (Int, Int) -> Bool = { abs($0 - $1) < 5 }

    private func drive(_ miles: some Sequence<Int>) {
        for miles in miles { core.dispatch(Driven(miles: miles)) }
    }

    private func observe(_ scope: some StateSource<Int>) -> Subscription {
        scope.observe(replay: .current) { [seen] change in seen.record([change.old ?? -1, change.new]) }
    }

    @Test func `An equality with a tolerance delivers small steps once they add up, from the last delivered value`() {
        let subscription = observe(core.scope({ $0.miles }, removeDuplicates: near))
        drive(stride(from: 2, through: 12, by: 2))
        #expect(seen.all == [[-1, 0], [0, 6], [6, 12]])
        subscription.cancel()
    }

    @Test func `An equality with a tolerance also applies to writable parts, and to parts of parts`() {
        let subscriptions = [
            observe(core.scope(\.miles, removeDuplicates: near)),
            observe(core.scope { $0 }.scope({ $0.miles }, removeDuplicates: near)),
            observe(core.scope(\.self).scope(\.miles, removeDuplicates: near)),
            observe(core.scope(\.self).scope({ $0.miles }, removeDuplicates: near)),
            observe(core.scope({ $0.miles }, removeDuplicates: near).scope { $0 }),
        ]
        let all = subscriptions.count
        drive(stride(from: 2, through: 12, by: 2))
        let each = [[-1, 0], [0, 6], [6, 12]]
        #expect(seen.all == each.flatMap { Array(repeating: $0, count: all) })
        subscriptions.forEach { $0.cancel() }
    }

    @Test
    func `An equality with a tolerance replays the current value to new observers without affecting the others`() {
        let scope = core.scope({ $0.miles }, removeDuplicates: near)
        let inner = scope.scope { -$0 }
        let early = Recorder<Int>()
        let subscriptions = [scope, inner].map { part in part.observe { early.record($0.new) } }
        drive([2, 4])
        let late = [observe(scope), observe(inner)]
        drive([6, 9])
        #expect(early.all == [0, 0, 6, -6])
        #expect(seen.all == [[-1, 4], [-1, -4], [4, 9], [-4, -9]])
        (subscriptions + late).forEach { $0.cancel() }
    }
}
