import Testing

@testable import StatecastCore

@Suite struct `Dispatching` {
    @Test func `Dispatching has applied the action and notified the observers when it returns`() {
        let core = logCore()
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Append(1))
        #expect(core.state.entries == [1])
        #expect(seen.all == [[1]])
        subscription.cancel()
    }

    @Test func `Dispatching from an observer is queued, and applied when the outer dispatch returns`() {
        let core = logCore()
        let order = Recorder<String>()
        let subscription = core.observe(replay: .none) { [weak core] change in
            order.record("begin \(change.new.entries)")
            if change.new.entries == [7] { core?.dispatch(Append(2)) }
            order.record("end \(change.new.entries)")
        }
        core.dispatch(Append(7))
        #expect(core.state.entries == [7, 2])
        #expect(order.all == ["begin [7]", "end [7]", "begin [7, 2]", "end [7, 2]"])
        subscription.cancel()
    }

    @Test func `Dispatching from the reducer is queued, and applied when the outer dispatch returns`() {
        let target = Box<Core<Log>>()
        let reducer = Reducer<Log> { log, action in
            guard let action = action as? Append else { return }
            if action.number == 7 { target.value?.dispatch(Append(2)) }
            log.entries.append(action.number)
        }
        let core = Core(Log(), reducer: reducer, now: { .epoch })
        target.set(core)
        core.dispatch(Append(7))
        #expect(core.state.entries == [7, 2])
        target.set(nil)
    }

    @Test func `Dispatching reaches every observer before the next action is reduced`() {
        let core = logCore()
        let order = Recorder<String>()
        let subscriptions = ["a", "b", "c"].map { name in
            core.observe(replay: .none) { [weak core] change in
                order.record("\(name)\(change.new.entries.count)")
                if name == "a", change.new.entries.count == 1 { core?.dispatch(Append(2)) }
            }
        }
        core.dispatch(Append(1))
        #expect(order.all == ["a1", "b1", "c1", "a2", "b2", "c2"])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `Dispatching reads the clock once for each action`() {
        let times = Recorder<Timestamp>()
        let asked = Recorder<Void>()
        let reducer = Reducer<Log>.withContext { _, _, context in
            times.record(context.time)
            return .none
        }
        let core = Core(Log(), reducer: reducer) {
            asked.record(())
            return Timestamp(milliseconds: Int64(asked.all.count))
        }
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(times.all == [Timestamp(milliseconds: 1), Timestamp(milliseconds: 2)])
        #expect(asked.all.count == 2)
    }

    @Test func `Dispatching from many threads loses nothing and keeps the order of each thread`() async {
        let core = logCore()
        let writers = 8
        let each = 500
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let subscription = core.observe(replay: .none) { change in
            if change.revision == UInt64(writers * each) { finish.finish() }
        }
        await withTaskGroup { group in
            for writer in 0..<writers {
                group.addTask {
                    for index in 0..<each { core.dispatch(Append(writer * each + index)) }
                }
            }
        }
        for await _ in done {}
        let entries = core.state.entries
        #expect(entries.count == writers * each)
        for writer in 0..<writers {
            let own = entries.filter { $0 / each == writer }
            #expect(own == Array(writer * each..<(writer + 1) * each))
        }
        subscription.cancel()
    }

    @Test func `Dispatching moves a slow queue to another thread long before its limit of requests`() async {
        let clock = ContinuousClock()
        let byCaller = Recorder<Bool>()
        let reducer = Reducer<Log> { log, action in
            byCaller.record(Caller.isDispatching)
            let start = clock.now
            while start.duration(to: clock.now) < .milliseconds(1) {}
            guard let action = action as? Append else { return }
            log.entries.append(action.number)
        }
        let core = Core(Log(), reducer: reducer, now: { .epoch })
        let done = Gate()
        let subscription = core.observe(replay: .none) { [weak core] change in
            let count = change.new.entries.count
            if count == 1 {
                for number in 2...100 { core?.dispatch(Append(number)) }
            }
            if count == 100 { done.open() }
        }
        Caller.$isDispatching.withValue(true) { core.dispatch(Append(1)) }
        await done.passed()
        #expect(core.state.entries == Array(1...100))
        // It reads the clock after every eighth request, when some milliseconds have passed.
        #expect(byCaller.all.prefix { $0 }.count <= 8)
        #expect(byCaller.all.count == 100)
        subscription.cancel()
    }

    @Test func `Dispatching moves a long queue to another thread, in order`() async {
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, maxDrainedRequests: 3)
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let byCaller = Recorder<Bool>()
        let subscription = core.observe(replay: .none) { [weak core] change in
            byCaller.record(Caller.isDispatching)
            let count = change.new.entries.count
            if count == 1 {
                for number in 2...10 { core?.dispatch(Append(number)) }
            }
            if count == 10 { finish.finish() }
        }
        Caller.$isDispatching.withValue(true) { core.dispatch(Append(1)) }
        for await _ in done {}
        #expect(core.state.entries == Array(1...10))
        #expect(byCaller.all == Array(repeating: true, count: 3) + Array(repeating: false, count: 7))
        subscription.cancel()
    }
}

/// Whether the code runs within the test's own call of `dispatch`.
private enum Caller {
    @TaskLocal static var isDispatching = false
}
