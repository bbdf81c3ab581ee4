import StatecastCore
import Testing

@Suite struct `The observers of a scope` {
    /// A scope that counts its work.
    private struct Counted {
        let core = Lorry.core()
        let mappings = Tally()
        let comparisons = Tally()
        let scope: Scope<Core<Lorry>, Lorry.Tank>

        init() {
            scope = core.scope { [mappings] in
                mappings.counting($0.tank)
            } removeDuplicates: { [comparisons] in
                comparisons.counting($0 == $1)
            }
        }
    }

    @Test func `The observers of a scope cost nothing if there are none`() {
        let counted = Counted()
        let nested = counted.scope.scope { counted.mappings.counting($0.fuel) }
        counted.core.dispatch(Refuelled(fuel: 1))
        #expect(counted.mappings.count == 0)
        counted.scope.observe(replay: .none) { _ in }.cancel()
        nested.observe(replay: .none) { _ in }.cancel()
        // The part was mapped once at registration, to compare the next change with.
        let mappingsBefore = counted.mappings.count
        counted.core.dispatch(Refuelled(fuel: 2))
        #expect(counted.mappings.count == mappingsBefore)
        #expect(counted.comparisons.count == 0)
    }

    @Test func `The observers of a scope do not map a part of a part that stayed equal`() {
        let counted = Counted()
        let inner = Tally()
        let seen = Recorder<Int>()
        let fuel = counted.scope.scope { inner.counting($0.fuel) }
        let subscription = fuel.observe { seen.record($0.new) }
        let before = inner.count
        counted.core.dispatch(Driven(miles: 1))
        counted.core.dispatch(Driven(miles: 2))
        #expect(inner.count == before)
        counted.core.dispatch(Refuelled(fuel: 1))
        #expect(inner.count == before + 1)
        #expect(seen.all == [0, 1])
        // The enclosing part is mapped once for the replay and once for each change.
        #expect(counted.mappings.count == 4)
        subscription.cancel()
    }

    @Test func `The observers of a scope and those of the core are notified in the order of registration`() {
        let core = Lorry.core()
        let order = Recorder<String>()
        let tank = core.scope { $0.tank }
        let subscriptions = [
            core.observe(replay: .none) { _ in order.record("core 1") },
            tank.observe(replay: .none) { _ in order.record("tank 1") },
            tank.scope(\.fuel).observe(replay: .none) { _ in order.record("fuel") },
            core.observe(replay: .none) { _ in order.record("core 2") },
            tank.observe(replay: .none) { _ in order.record("tank 2") },
        ]
        core.dispatch(Refuelled(fuel: 1))
        #expect(order.all == ["core 1", "tank 1", "fuel", "core 2", "tank 2"])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `The observers of a scope that register late receive the same changes`() {
        let core = Lorry.core()
        let scope = core.scope(\.miles)
        let seen = Recorder<[Int]>()
        let first = scope.observe { _ in }
        core.dispatch(Driven(miles: 1))
        core.dispatch(Refuelled(fuel: 1))
        let second = scope.observe { seen.record([$0.old ?? -1, $0.new]) }
        core.dispatch(Driven(miles: 2))
        #expect(seen.all == [[-1, 1], [1, 2]])
        first.cancel()
        second.cancel()
    }

    @Test func `The observers of a scope that register and cancel on other threads see no gap`() async {
        let core = Lorry.core()
        let scope = core.scope(\.miles)
        let nested = scope.scope { $0 }
        let gaps = Recorder<[Int]>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<1_000 { scope.update { $0 += 1 } }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let last = Box<Int>()
                        let subscription = nested.observe { change in
                            if last.value != change.old { gaps.record([last.value ?? -1, change.old ?? -1]) }
                            last.set(change.new)
                        }
                        await Task.yield()
                        subscription.cancel()
                    }
                }
            }
        }
        #expect(gaps.all.isEmpty)
    }

    @Test func `The observers of a scope release the part when the last one is cancelled`() {
        let core = Lorry.core()
        let scope = core.scope { $0.cargo }
        let nested = scope.scope { [$0] }
        weak let cargo = core.state.cargo
        let subscriptions = [nested.observe { _ in }, scope.observe { _ in }]
        core.dispatch(Driven(miles: 1))
        subscriptions.forEach { $0.cancel() }
        core.dispatch(Unloaded())
        #expect(cargo == nil)
        withExtendedLifetime((scope, nested)) {}
    }

    @Test func `The observers of a scope of a source whose revisions restart receive the new history`() {
        let source = ManualSource<Int>()
        let seen = Recorder<Int>()
        let scope = source.scope { $0 }
        let subscriptions = (0..<2).map { _ in scope.observe { seen.record($0.new) } }
        source.deliver(Change(replay: 1, revision: 1))
        // Another history each time, at the same revision.
        source.deliver(Change(old: 1, oldRevision: 1, new: 2, revision: 1, action: nil))
        source.deliver(Change(old: 2, oldRevision: 1, new: 3, revision: 1, action: nil))
        #expect(seen.all == [1, 1, 2, 2, 3, 3])
        subscriptions.forEach { $0.cancel() }
    }
}
