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
}

/// Whether the code runs within the test's own call of `dispatch`.
private enum Caller {
    @TaskLocal static var isDispatching = false
}
