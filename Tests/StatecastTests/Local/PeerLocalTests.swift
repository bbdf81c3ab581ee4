import CounterApp
import Statecast
import StatecastCore
import Testing

/// A replica and a sender, used through the protocols of a core.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A replica and a sender in one process` {
    /// A component that only dispatches.
    private func work(_ dispatcher: any ActionDispatcher, times: Int) {
        for number in 1...times { dispatcher.dispatch(StepChangeRequested(step: number)) }
    }

    /// The changes of a source, as a stream.
    private func changes<Source: StateSource<Counter>>(
        of source: Source,
        replay: Replay = .current
    ) -> (AsyncStream<Change<Counter>>, Subscription) {
        let (changes, told) = AsyncStream.makeStream(of: Change<Counter>.self)
        return (changes, source.observe(replay: replay) { told.yield($0) })
    }

    @Test func `a sender dispatches in order, also beyond maxPending, and before there is a primary`() async throws {
        let first = try await CounterPrimary.start()
        await first.primary.stop()
        var configuration = SenderConfiguration.quick
        configuration.maxPending = 2
        let sender = try ActionSender(
            store: Counter.storeName,
            from: first.address.publish,
            configuration: configuration
        ).started()
        work(sender, times: 100)
        let second = try await first.restart()
        let receipt = try await sender.send(CounterIncreaseRequested())
        #expect(receipt.number == ActionNumber(101))
        let (changes, subscription) = changes(of: second.primary)
        // The receipt may arrive before the primary's own observers are called.
        for await change in changes where change.new == Counter(counter: 100, step: 100) { break }
        subscription.cancel()
        await second.primary.stop()
    }

    @Test func `actions of a closed sender and actions without an encoding are dropped`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            sender.dispatch(Thunk<Counter, Void> { _ in })
            let receipt = try await sender.send(CounterIncreaseRequested())
            #expect(receipt.number == ActionNumber(1))
            await sender.close()
            sender.dispatch(CounterIncreaseRequested())
            #expect(await cluster.primary.revision == Revision(1))
        }
    }

    @Test func `a core, a primary and a sender accept the same actions through the same protocol`() async throws {
        try await withCounter { cluster in
            let core = Core(Counter(), reducer: Counter.reducer)
            let (sender, replica) = (try cluster.sender(), try cluster.replica())
            work(core, times: 10)
            work(sender, times: 10)
            try await sender.send(CounterIncreaseRequested())
            work(cluster.primary, times: 10)
            try await replica.reached(try await cluster.primary.send(CounterIncreaseRequested()))
            try await core.send(CounterIncreaseRequested())
            #expect(replica.snapshot?.state == Counter(counter: 20, step: 10))
            #expect(replica.snapshot?.revision == Revision(22))
        }
    }

    @Test func `a replica shows its observers continuous changes`() async throws {
        try await withCounter { cluster in
            let (sender, replica) = (try cluster.sender(), try cluster.replica())
            let (changes, subscription) = changes(of: replica)
            for _ in 0..<50 { try await replica.reached(try await sender.send(CounterIncreaseRequested())) }
            var last: Change<Counter>?
            for await change in changes {
                if let last {
                    #expect(change.old == last.new)
                    #expect(change.oldRevision == last.revision)
                } else {
                    #expect(change.old == nil)
                }
                last = change
                if change.new.counter == 50 { break }
            }
            #expect(last?.revision == 50)
            #expect(last?.action == nil)
            subscription.cancel()
        }
    }

    @Test func `a replica has called its observers when it has reached a receipt`() async throws {
        try await withCounter { cluster in
            let (sender, replica) = (try cluster.sender(), try cluster.replica())
            let told = Latest<Change<Counter>>()
            let subscription = replica.observe { told.set($0) }
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            #expect(told.value?.new.counter == 1)
            subscription.cancel()
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            #expect(told.value?.new.counter == 1)
        }
    }

    @Test func `a replica has not reached a state while an observer is being called with it`() async throws {
        try await Gatekeeper.exclusively { gate in
            try await withCounter { cluster in
                let (sender, replica) = (try cluster.sender(), try cluster.replica())
                _ = try await replica.first { _ in true }
                let events = EventLog()
                let subscription = replica.observe(replay: .none) { _ in
                    gate.pass()
                    events.add("told")
                }
                // Added after the first one.
                let (barrier, second) = changes(of: replica)
                for await _ in barrier { break }
                gate.close()
                let receipt = try await sender.send(CounterIncreaseRequested())
                let reaching = Task {
                    try await replica.reached(receipt)
                    events.add("reached")
                }
                await gate.someoneWaits()
                for _ in 0..<1000 { await Task.yield() }
                gate.open()
                try await reaching.value
                #expect(events.events == ["told", "reached"])
                for subscription in [subscription, second] { subscription.cancel() }
            }
        }
    }

    @Test func `a replica shows a late observer the current state, and one without replay the next one`() async throws {
        try await withCounter { cluster in
            let (sender, replica) = (try cluster.sender(), try cluster.replica())
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            let (replayed, first) = changes(of: replica)
            var replay = replayed.makeAsyncIterator()
            #expect(await replay.next()?.new.counter == 1)
            let (plain, second) = changes(of: replica, replay: .none)
            let (barrier, third) = changes(of: replica)
            // Added after the second one.
            for await _ in barrier { break }
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            for await change in plain {
                #expect((change.oldRevision, change.revision) == (1, 2))
                break
            }
            for subscription in [first, second, third] { subscription.cancel() }
        }
    }

    @Test func `the first state is no change: only observers with replay receive it`() async throws {
        let first = try await CounterPrimary.start()
        await first.primary.stop()
        let replica = try first.replica()
        let told = EventLog()
        let plain = replica.observe(replay: .none) { told.add("\($0.new.counter)") }
        let (changes, subscription) = changes(of: replica)
        let second = try await first.restart()
        for await change in changes {
            #expect((change.old, change.new) == (nil, Counter()))
            break
        }
        #expect(told.events == [])
        try await replica.reached(try await second.sender().send(CounterIncreaseRequested()))
        #expect(told.events == ["1"])
        for subscription in [plain, subscription] { subscription.cancel() }
        await second.primary.stop()
    }

    @Test func `another history is a change from the state shown last`() async throws {
        let first = try await CounterPrimary.start()
        let replica = try first.replica()
        let (changes, subscription) = changes(of: replica)
        try await replica.reached(try await first.sender().send(CounterIncreaseRequested()))
        let second = try await first.restart()
        var last: Change<Counter>?
        for await change in changes {
            last = change
            if change.old?.counter == 1 { break }
        }
        #expect(last?.oldRevision == 1)
        #expect((last?.new, last?.revision) == (Counter(), 0))
        subscription.cancel()
        await second.primary.stop()
    }

    @Test func `the states of a core and of a replica have the same type, in generic code, too`() async throws {
        func first(_ source: some StateSource<Counter>) async -> Counter? {
            for await state in source.states { return state }
            return nil
        }
        try await withCounter { cluster in
            let replica = try cluster.replica()
            let generic = await first(replica)
            var direct: Counter?
            for await state in replica.states {
                direct = state
                break
            }
            #expect(generic == Counter())
            #expect(direct == generic)
            #expect(await first(Core(Counter(), reducer: Counter.reducer)) == generic)
        }
    }

    @Test func `a closed replica calls no observers`() async throws {
        try await withCounter { cluster in
            let (sender, replica) = (try cluster.sender(), try cluster.replica())
            let told = Latest<Change<Counter>>()
            let subscription = replica.observe { told.set($0) }
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            await replica.close()
            try await sender.send(CounterIncreaseRequested())
            #expect(told.value?.new.counter == 1)
            subscription.cancel()
        }
    }
}
