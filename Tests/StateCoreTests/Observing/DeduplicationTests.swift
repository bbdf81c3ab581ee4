import Dispatch
import StateCore
import Testing

@Suite struct `Removing duplicates` {
    @Test func `is not done at the root unless asked for`() {
        let core = Lorry.core()
        let seen = Recorder<UInt64>()
        let subscription = core.observe(replay: false) { seen.record($0.revision) }
        core.dispatch(Driven(miles: 0))
        #expect(seen.all == [1])
        subscription.cancel()
    }

    @Test func `leaves out changes to an equal state, but never the replay`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.observe(removeDuplicates: ==) { seen.record($0.new.miles) }
        for miles in [0, 1, 1, 2] { core.dispatch(Driven(miles: miles)) }
        #expect(seen.all == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `goes by one's own equality`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.observe(replay: false, removeDuplicates: { $0.miles / 10 == $1.miles / 10 }) {
            seen.record($0.new.miles)
        }
        for miles in [3, 9, 11, 12, 25] { core.dispatch(Driven(miles: miles)) }
        #expect(seen.all == [11, 25])
        subscription.cancel()
    }

    @Test func `tells small steps, none of which makes a difference, once they add up`() {
        let core = Lorry.core()
        let seen = Recorder<[Int]>()
        let subscriptions = [true, false].map { replay in
            core.observe(replay: replay, removeDuplicates: { abs($0.miles - $1.miles) < 5 }) { change in
                seen.record([change.old?.miles ?? -1, change.new.miles])
            }
        }
        for miles in stride(from: 2, through: 12, by: 2) { core.dispatch(Driven(miles: miles)) }
        #expect(seen.all == [[-1, 0], [0, 6], [0, 6], [6, 12], [6, 12]])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `goes together with delivery elsewhere`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        let subscription = core.observe(on: .queue(.global()), removeDuplicates: ==) { seen.record($0.new.miles) }
        for miles in [0, 1, 1, 2] { core.dispatch(Driven(miles: miles)) }
        #expect(await seen.next(3) == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `and all else is there for any source`() {
        func follow(_ source: some StateSource<Lorry>, _ seen: Recorder<Int>) -> Subscription {
            source.observe { seen.record($0.new.miles) }
        }
        let core = Lorry.core(miles: 7)
        let seen = Recorder<Int>()
        follow(core, seen).cancel()
        #expect(seen.all == [7])
    }
}
