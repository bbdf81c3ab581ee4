import StatecastCore
import Testing

@Suite struct `A writable scope` {
    @Test func `A writable scope replaces its part of the core's state, as a change without an action`() throws {
        let core = Lorry.core()
        let seen = Recorder<Change<Lorry>>()
        let subscription = core.observe(replay: .none) { seen.record($0) }
        let miles = core.scope(\.miles)
        miles.replace(42)
        #expect(core.state.miles == 42)
        #expect(miles.state == 42)
        let change = try #require(seen.all.first)
        #expect(change.old?.miles == 0)
        #expect(change.action == nil)
        subscription.cancel()
    }

    @Test func `A writable scope is created from a key path to a variable, even nested`() {
        let core = Lorry.core()
        let tank = core.scope(\.tank)
        let fuel = tank.scope(\.fuel)
        let seen = Recorder<Int>()
        let subscription = fuel.observe { seen.record($0.new) }
        fuel.update { $0 += 1 }
        tank.update { $0.fuel += 1 }
        fuel.dispatch(Refuelled(fuel: 42))
        #expect(seen.all == [0, 1, 2, 42])
        #expect(core.state.tank.fuel == 42)
        subscription.cancel()
    }

    @Test func `A writable scope may be of a computed variable, and of an element of a collection`() {
        struct Depot: Equatable, Sendable {
            var lorries = [Lorry(), Lorry()]
            var miles: Int {
                get { lorries[1].miles }
                set { lorries[1].miles = newValue }
            }
        }
        let core = Core(Depot()) { depot, action in
            if let action = action as? Driven { depot.miles = action.miles }
        }
        let seen = Recorder<Int>()
        let subscriptions = [
            core.scope(\.miles).observe { seen.record($0.new) },
            core.scope(\.lorries[1].miles).observe { seen.record(-$0.new) },
        ]
        core.dispatch(Driven(miles: 1))
        core.scope(\.miles).replace(2)
        #expect(seen.all == [0, 0, 1, -1, 2, -2])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `A writable scope is not created from a key path to a constant or a transform`() {
        let core = Lorry.core()
        let tank = core.scope(\.tank)
        let size: Scope<Core<Lorry>, Int> = tank.scope(\.size)
        let full: Scope<Core<Lorry>, Bool> = tank.scope { $0.fuel == $0.size }
        #expect(size.state == 100)
        #expect(full.state == false)
    }

    @Test func `A writable scope may have a custom equality`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let miles = core.scope(\.miles, removeDuplicates: { $0 / 10 == $1 / 10 })
        let subscription = miles.observe { seen.record($0.new) }
        for value in [9, 10, 19] { miles.replace(value) }
        #expect(seen.all == [0, 10])
        #expect(miles.state == 19)
        subscription.cancel()
    }

    @Test func `A writable scope loses no update of any thread`() async {
        let core = Lorry.core()
        let miles = core.scope(\.miles)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 { miles.update { $0 += 1 } }
                }
            }
        }
        // After all updates: other threads may still drain them.
        let seen = Arrivals<Int>()
        let subscription = miles.observe { seen.record($0.new) }
        #expect(await seen.next() == 4_000)
        subscription.cancel()
    }

    @Test func `A writable scope written by an observer changes in queue order`() {
        let core = Lorry.core()
        let seen = Recorder<[Int]>()
        let fuel = core.scope(\.tank).scope(\.fuel)
        let first = core.scope(\.miles).observe(replay: .none) { [weak core] change in
            core?.scope(\.tank).scope(\.fuel).update { $0 += change.new }
        }
        let second = core.observe(replay: .none) { seen.record([$0.new.miles, $0.new.tank.fuel]) }
        core.dispatch(Driven(miles: 7))
        #expect(seen.all == [[7, 0], [7, 7]])
        #expect(fuel.state == 7)
        first.cancel()
        second.cancel()
    }
}
