import StateCore
import Testing

@Suite struct `An equality with a tolerance` {
    private let core = Lorry.core()
    private let seen = Recorder<[Int]>()
    private let near: @Sendable (Int, Int) -> Bool = { abs($0 - $1) < 5 }

    private func drive(_ miles: some Sequence<Int>) {
        for miles in miles { core.dispatch(Driven(miles: miles)) }
    }

    private func observe(_ scope: some StateSource<Int>) -> Subscription {
        scope.observe(replay: true) { [seen] change in seen.record([change.old ?? -1, change.new]) }
    }

    @Test func `tells small steps once they add up, from the value told last`() {
        let subscription = observe(core.scope({ $0.miles }, removeDuplicates: near))
        drive(stride(from: 2, through: 12, by: 2))
        #expect(seen.all == [[-1, 0], [0, 6], [6, 12]])
        subscription.cancel()
    }

    @Test func `does so for parts that can be written, and for parts of parts`() {
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

    @Test func `shows who comes in between the value as it is, and is not put off by that`() {
        let scope = core.scope({ $0.miles }, removeDuplicates: near)
        let inner = scope.scope { -$0 }
        let subscriptions = [scope.observe { _ in }, inner.observe { _ in }]
        drive([2, 4])
        let late = [observe(scope), observe(inner)]
        #expect(seen.all == [[-1, 4], [-1, -4]])
        drive([6])
        #expect(seen.all.dropFirst(2).map(\.last) == [6, -6])
        (subscriptions + late).forEach { $0.cancel() }
    }
}
