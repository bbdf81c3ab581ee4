import CounterApp
import Statecast
import Testing

/// What becomes known of actions that were dispatched, when their sender ends before their receipts came.
@Suite(.timeLimit(.minutes(10))) struct `Actions that nobody awaits` {
    @Test func `are counted in the log when their sender is closed, apart from those that somebody awaits`()
        async throws
    {
        let (hole, log) = (try await RawHole(), EventLog())
        let sender = try ActionSender(
            store: Counter.storeName,
            from: hole.endpoint,
            configuration: .quick,
            logger: LogBook.logger(log)
        )
        for _ in 0..<3 { sender.dispatch(CounterIncreaseRequested()) }
        let awaited = try await sender.submit(CounterIncreaseRequested())
        await sender.close()
        #expect(try await awaited.outcome().number == nil)
        let line = "warning: actions given up: the sender was closed not-sent=3 outcome-unknown=0 store=counter"
        #expect(log.events == [line])
        await sender.close()
        #expect(log.events == [line], "it is said once")
    }

    @Test func `are counted in the log when their sender is dropped at once`() async throws {
        let (hole, log) = (try await RawHole(), EventLog())
        var sender: ActionSender? = try ActionSender(
            store: Counter.storeName,
            from: hole.endpoint,
            configuration: .quick,
            logger: LogBook.logger(log)
        )
        sender?.dispatch(CounterIncreaseRequested())
        sender = nil
        while log.events.isEmpty {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(
            log.events == [
                "warning: actions given up: the sender was dropped not-sent=1 outcome-unknown=0 store=counter"
            ]
        )
    }

    @Test func `are said to be unknown where they were pushed`() async throws {
        let (hole, log) = (try await RawHole(), EventLog())
        try await withCounter { cluster in
            var configuration = SenderConfiguration.quick
            configuration.actions = hole.endpoint
            let sender = try ActionSender(
                store: Counter.storeName,
                from: cluster.address.publish,
                configuration: configuration,
                logger: LogBook.logger(log)
            )
            sender.dispatch(CounterIncreaseRequested())
            _ = try await hole.next()
            await sender.close()
            #expect(
                log.events
                    == ["warning: actions given up: the sender was closed not-sent=0 outcome-unknown=1 store=counter"]
            )
        }
    }

    @Test func `are not spoken of where all had their receipts`() async throws {
        let log = EventLog()
        try await withCounter { cluster in
            let sender = try ActionSender(
                store: Counter.storeName,
                from: cluster.address.publish,
                configuration: .quick,
                logger: LogBook.logger(log)
            )
            sender.dispatch(CounterIncreaseRequested())
            try await sender.send(CounterIncreaseRequested())
            await sender.close()
            #expect(log.events == [])
        }
    }
}
