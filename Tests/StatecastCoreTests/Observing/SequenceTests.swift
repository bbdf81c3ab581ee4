import StatecastCore
import Testing

@Suite struct `A sequence of states` {
    @Test func `A sequence of states starts with the current state and continues with the following ones`() async {
        let core = Lorry.core()
        var states = core.states.makeAsyncIterator()
        #expect(await states.next(isolation: #isolation)?.miles == 0)
        core.dispatch(Driven(miles: 1))
        #expect(await states.next(isolation: #isolation)?.miles == 1)
    }

    @Test func `A sequence of states keeps only the newest state`() async {
        let core = Lorry.core()
        var states = core.states.makeAsyncIterator()
        for miles in 1...10 { core.dispatch(Driven(miles: miles)) }
        #expect(await states.next(isolation: #isolation)?.miles == 10)
    }

    @Test func `A sequence of states observes from its creation`() async {
        let core = Lorry.core()
        let states = core.scope(\.miles).states
        core.dispatch(Driven(miles: 1))
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next(isolation: #isolation) == 1)
    }

    @Test func `A sequence of states neither retains the core nor waits for one that is deallocated`() async {
        var core: Core<Lorry>? = Lorry.core()
        let states = core?.states
        let miles = core?.scope(\.miles).states
        weak let held = core
        core = nil
        #expect(held == nil)
        var seen: [Int] = []
        if let states { for await state in states { seen.append(state.miles) } }
        if let miles { for await miles in miles { seen.append(miles) } }
        #expect(seen == [0, 0])
    }

    @Test func `A sequence of states releases the source when its iteration ends`() async {
        let ends = Arrivals<Void>()
        let source = ZeroSource(onEnd: { ends.record(()) })
        let states = source.states
        for await _ in states { break }
        _ = await ends.next()
        withExtendedLifetime(states) {}
    }

    @Test func `A sequence of states releases the source when it is dropped without an iteration`() async {
        let ends = Arrivals<Void>()
        let source = ZeroSource(onEnd: { ends.record(()) })
        _ = source.states
        _ = source.changes()
        _ = await ends.next(2)
    }

    @Test func `A sequence of states ends with its task`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        let task = Task {
            for await state in core.states { seen.record(state.miles) }
        }
        _ = await seen.next()
        task.cancel()
        await task.value
    }
}

@Suite struct `A sequence of changes` {
    @Test func `A sequence of changes delivers the replay and each change`() async {
        let core = Lorry.core()
        var changes = core.changes().makeAsyncIterator()
        core.dispatch(Driven(miles: 1))
        core.dispatch(Driven(miles: 2))
        #expect(await changes.next(isolation: #isolation)?.text == "nil->0")
        #expect(await changes.next(isolation: #isolation)?.text == "0->1")
        #expect(await changes.next(isolation: #isolation)?.text == "1->2")
    }

    @Test func `A sequence of changes reports exactly how many changes were lost, and where`() async {
        let core = Lorry.core()
        var changes = core.changes(replay: .none, maxBuffered: 2).makeAsyncIterator()
        core.dispatch(Driven(miles: 1))
        #expect(await changes.next(isolation: #isolation)?.text == "0->1")
        for miles in 2...6 { core.dispatch(Driven(miles: miles)) }
        #expect(await changes.next(isolation: #isolation)?.text == "lost 3")
        #expect(await changes.next(isolation: #isolation)?.text == "4->5")
        #expect(await changes.next(isolation: #isolation)?.text == "5->6")
        core.dispatch(Driven(miles: 7))
        #expect(await changes.next(isolation: #isolation)?.text == "6->7")
    }

    @Test(arguments: [(2, "0->1"), (3, "lost 1")])
    func `A sequence of changes loses no change up to its bound`(dispatched: Int, first: String) async {
        let core = Lorry.core()
        var changes = core.changes(replay: .none, maxBuffered: 2).makeAsyncIterator()
        for miles in 1...dispatched { core.dispatch(Driven(miles: miles)) }
        #expect(await changes.next(isolation: #isolation)?.text == first)
    }

    @Test func `A sequence of changes does not report revisions that a scope skips as lost`() async {
        let core = Lorry.core()
        var changes = core.scope(\.miles).changes(replay: .none).makeAsyncIterator()
        core.dispatch(Driven(miles: 1))
        for fuel in 1...10 { core.dispatch(Refuelled(fuel: fuel)) }
        core.dispatch(Driven(miles: 2))
        #expect(await changes.next(isolation: #isolation)?.text == "0->1")
        #expect(await changes.next(isolation: #isolation)?.text == "1->2")
    }

    @Test func `A sequence of changes ends after its last change when the core is deallocated`() async {
        var core: Core<Lorry>? = Lorry.core()
        let changes = core?.changes(replay: .none)
        core?.dispatch(Driven(miles: 1))
        core = nil
        var seen: [String] = []
        if let changes { for await change in changes { seen.append(change.text) } }
        #expect(seen == ["0->1"])
    }
}

extension ChangeEvent<Lorry> {
    fileprivate var text: String {
        switch self {
        case .change(let change): "\(change.old.map { "\($0.miles)" } ?? "nil")->\(change.new.miles)"
        case .lost(let count): "lost \(count)"
        }
    }
}

extension ChangeEvent<Int> {
    fileprivate var text: String {
        switch self {
        case .change(let change): "\(change.old.map { "\($0)" } ?? "nil")->\(change.new)"
        case .lost(let count): "lost \(count)"
        }
    }
}
