import StatecastCore
import Testing

@Suite struct `A scope` {
    @Test func `A scope delivers its current part and its changes`() {
        let core = Lorry.core(miles: 1)
        let seen = Recorder<Int>()
        let scope = core.scope(\.miles)
        let subscription = scope.observe { seen.record($0.new) }
        core.dispatch(Driven(miles: 42))
        #expect(seen.all == [1, 42])
        #expect(scope.state == 42)
        subscription.cancel()
    }

    @Test func `A scope delivers the old part, the action and the revisions of its source`() throws {
        let core = Lorry.core()
        let seen = Recorder<Change<Int>>()
        let subscription = core.scope(\.miles).observe { seen.record($0) }
        core.dispatch(Refuelled(fuel: 5))
        core.dispatch(Driven(miles: 42))
        #expect(seen.all.map(\.revision) == [0, 2])
        let change = try #require(seen.all.last)
        #expect(change.old == 0)
        #expect(change.oldRevision == 1)
        #expect(change.action as? Driven == Driven(miles: 42))
        subscription.cancel()
    }

    @Test func `A scope without a replay starts with the next change`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.scope(\.miles).observe(replay: .none) { seen.record($0.new) }
        #expect(seen.all.isEmpty)
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [1])
        subscription.cancel()
    }

    @Test func `A scope forwards actions to its source`() {
        let core = Lorry.core()
        let (ofCore, ofScope) = (Recorder<Int>(), Recorder<Int>())
        let scope = core.scope { $0.tank }
        let first = core.observe { ofCore.record($0.new.tank.fuel) }
        let second = scope.observe { ofScope.record($0.new.fuel) }
        scope.dispatch(Refuelled(fuel: 1))
        core.dispatch(Refuelled(fuel: 42))
        #expect(ofCore.all == [0, 1, 42])
        #expect(ofScope.all == [0, 1, 42])
        first.cancel()
        second.cancel()
    }

    @Test func `A scope delivers nothing when its part stays equal, however it was created`() {
        let core = Lorry.core()
        let makings: [@Sendable (Recorder<Int>) -> Subscription] = [
            { seen in core.scope(\.tank.fuel).observe { seen.record($0.new) } },
            { seen in core.scope { $0.tank.fuel }.observe { seen.record($0.new) } },
            { seen in core.scope(\.tank).scope(\.fuel).observe { seen.record($0.new) } },
            { seen in core.scope(\.tank).scope { $0.fuel }.observe { seen.record($0.new) } },
            { seen in core.scope { $0.tank }.scope { $0.fuel }.observe { seen.record($0.new) } },
        ]
        for making in makings {
            core.dispatch(Refuelled(fuel: 0))
            let seen = Recorder<Int>()
            let subscription = making(seen)
            core.dispatch(Driven(miles: 1))
            core.dispatch(Refuelled(fuel: 0))
            core.dispatch(Refuelled(fuel: 1))
            core.dispatch(Refuelled(fuel: 1))
            #expect(seen.all == [0, 1])
            subscription.cancel()
        }
    }

    @Test func `A scope delivers each change if its equality returns false`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.scope({ $0.miles }, removeDuplicates: { _, _ in false }).observe { seen.record($0.new) }
        core.dispatch(Refuelled(fuel: 1))
        core.dispatch(Driven(miles: 0))
        #expect(seen.all == [0, 0, 0])
        subscription.cancel()
    }

    @Test func `A scope uses a custom equality, even for values that are not equatable`() {
        struct Gauge: Sendable {
            var level: Int
        }
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let gauge = core.scope {
            Gauge(level: $0.tank.fuel)
        } removeDuplicates: {
            $0.level / 10 == $1.level / 10
        }
        let subscription = gauge.observe { seen.record($0.new.level) }
        for fuel in [9, 10, 19, 31] { core.dispatch(Refuelled(fuel: fuel)) }
        #expect(seen.all == [0, 10, 31])
        subscription.cancel()
    }

    @Test func `A scope of a scope is a scope of the same source`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let outer: Scope<Core<Lorry>, Lorry.Tank> = core.scope { $0.tank }
        let inner: Scope<Core<Lorry>, Int> = outer.scope(\.fuel)
        let subscription = inner.observe { seen.record($0.new) }
        inner.dispatch(Refuelled(fuel: 42))
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [0, 42])
        #expect(inner.state == 42)
        subscription.cancel()
    }

    @Test func `A scope continues as long as its subscription and the core exist, even nested twice`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscriptions = [
            core.scope(\.miles).observe { seen.record($0.new) },
            core.scope { $0.tank }.scope { $0.fuel }.scope { -$0 }.observe { seen.record($0.new) },
        ]
        core.dispatch(Driven(miles: 1))
        core.dispatch(Refuelled(fuel: 2))
        #expect(seen.all == [0, 0, 1, -2])
        subscriptions.forEach { $0.cancel() }
        core.dispatch(Driven(miles: 3))
        #expect(seen.all == [0, 0, 1, -2])
    }

    @Test func `A scope retains its core, its subscriptions do not`() {
        weak var core: Core<Lorry>?
        let subscription: Subscription
        do {
            let scope: WritableScope<Lorry, Int>
            do {
                let local = Lorry.core()
                core = local
                scope = local.scope(\.tank).scope(\.fuel)
            }
            #expect(core != nil)
            subscription = scope.observe { _ in }
            #expect(core != nil)
            withExtendedLifetime(scope) {}
        }
        #expect(core == nil)
        subscription.cancel()
    }

    @Test func `A scope may be cancelled by its own observer`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = Box<Subscription>()
        subscription.set(
            core.scope(\.miles).observe(replay: .none) { change in
                seen.record(change.new)
                subscription.value?.cancel()
            }
        )
        core.dispatch(Driven(miles: 1))
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [1])
    }
}
