import CounterApp
import StatecastProtocol
import Testing

@testable import Statecast

/// The order of submissions that wait for room.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A sender's intake` {
    private let submission = SenderIntake.Submission(bytes: [1])

    private func take(_ intake: SenderIntake) async -> PendingReceipt {
        await intake.enqueue(submission, until: nil)
    }

    private func expectRefused(_ receipt: PendingReceipt, because cause: String) async {
        let reason = Rejection(.notSent, "\(cause) before the action was sent; it will not be applied")
        await #expect(throws: reason) { try await receipt.receipt() }
    }

    /// A task that submits, once it waits for room.
    private func waiter(_ intake: SenderIntake) async -> Task<PendingReceipt, Never> {
        let count = intake.waitingCount
        let task = Task { await take(intake) }
        while intake.waitingCount == count { await Task.yield() }
        return task
    }

    @Test func `A sender's intake admits waiting submitters in order of arrival, and before later ones`() async throws {
        let intake = SenderIntake(maxPending: 2)
        for _ in 0..<2 { _ = await take(intake) }
        var waiting: [Task<PendingReceipt, Never>] = []
        for _ in 0..<3 { waiting.append(await waiter(intake)) }
        intake.release(1)
        #expect(intake.waitingCount == 2)
        let late = Task { await take(intake) }
        intake.release(1)
        #expect(await waiting[0].value.ticket == Ticket(rawValue: 3))
        #expect(await waiting[1].value.ticket == Ticket(rawValue: 4))
        intake.release(2)
        #expect(await waiting[2].value.ticket == Ticket(rawValue: 5))
        #expect(await late.value.ticket == Ticket(rawValue: 6))
        let drained = try #require(intake.drain())
        #expect(drained.chunk.first == Ticket(rawValue: 1) && drained.chunk.count == 6)
    }

    @Test func `A sender's intake does not let a repeated submitter overtake a waiting one`() async throws {
        let intake = SenderIntake(maxPending: 1)
        _ = await take(intake)
        let waiting = await waiter(intake)
        intake.release(1)
        // The waiting task is admitted before it runs.
        #expect(intake.waitingCount == 0)
        let greedy = Task { await take(intake) }
        #expect(await waiting.value.ticket == Ticket(rawValue: 2))
        intake.release(1)
        #expect(await greedy.value.ticket == Ticket(rawValue: 3))
    }

    @Test func `A sender's intake gives the slot of a cancelled submitter to the next`() async throws {
        let intake = SenderIntake(maxPending: 1)
        _ = await take(intake)
        let (leaving, staying) = (await waiter(intake), await waiter(intake))
        leaving.cancel()
        await expectRefused(await leaving.value, because: "the waiting was cancelled")
        intake.release(1)
        #expect(await staying.value.ticket == Ticket(rawValue: 2))
    }

    @Test func `A sender's intake enqueues dispatched actions at once, without slots of awaited ones`() async throws {
        let intake = SenderIntake(maxPending: 1)
        for _ in 0..<100 { dispatch(intake) }
        _ = await take(intake)
        let waiting = await waiter(intake)
        for _ in 0..<2 { dispatch(intake) }
        var receipts = PendingReceipts(from: intake, SenderMetrics(store: try StoreName("counter")))
        #expect(receipts.dequeue()?.count == 103)
        /// Returns the number of dispatched actions. Their outcome releases no slot.
        func resolve(_ tickets: ClosedRange<UInt64>) -> Int {
            let (first, reason) = (Ticket(rawValue: tickets.lowerBound), Rejection(.refused, "no"))
            return receipts.resolve([ResolvedRun(first, count: tickets.count, sent: nil, .rejected(reason))])
        }
        #expect(resolve(1...99) == 99)
        #expect(resolve(102...103) == 2)
        #expect(intake.waitingCount == 1)
        #expect(resolve(1...103) == 1)
        _ = await waiting.value
    }

    private func dispatch(_ intake: SenderIntake) {
        _ = [1].withUnsafeBufferPointer { intake.attempt($0, isAwaited: false) }
    }

    @Test func `A sender's intake resumes waiting submitters with the reason of the close`() async throws {
        let intake = SenderIntake(maxPending: 1)
        _ = await take(intake)
        let waiting = await waiter(intake)
        intake.close(because: "the end")
        await expectRefused(await waiting.value, because: "the end")
        await expectRefused(await take(intake), because: "the end")
        let attempt = [1].withUnsafeBufferPointer { intake.attempt($0, isAwaited: false) }
        guard case .closed(because: "the end") = attempt else {
            Issue.record("\(attempt)")
            return
        }
    }
}

/// A sender checks the endpoint that the primary announces.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `The endpoint in a watermark` {
    private let lineage = Lineage(bits: 7)

    private func watermark(_ endpoint: String) -> Frame {
        .watermark(
            Watermark(
                lineage: lineage,
                epoch: Epoch(1),
                number: nil,
                opened: JournalSequence(0),
                maxWindowActions: 16,
                maxActionBytes: 1000,
                maxFrameBytes: 10_000,
                endpoint: endpoint
            )
        )
    }

    static let refused = [
        ("inproc://zeromq.zap.01", "within one process"), ("tcp://192.0.2.1:7101", "--insecure"),
        ("tcp://127.0.0.1:*", "cannot be connected to"), ("ipc://*", "cannot be connected to"),
        ("ipc://actions", "a relative path"),
        ("udp://127.0.0.1:7101", "expected tcp://host:port"), ("", "is no endpoint"),
        ("ipc://" + String(repeating: "x", count: 100_000), "at most 512 bytes"),
    ]

    @Test(arguments: refused)
    func `A watermark's endpoint is connected to only by tcp and ipc on this machine`(
        _ endpoint: String,
        _ expected: String
    ) async throws {
        let primary = try await RawPrimary(store: "counter")
        let told = Latest<String>()
        told.set(endpoint)
        let answering = Task {
            while case .receipts(let session) = try await primary.request().topic {
                try await primary.publish(watermark(told.value ?? ""), on: .receipts(session))
            }
        }
        defer { answering.cancel() }
        let sender = try ActionSender(store: "counter", from: primary.endpoint, configuration: .quick).started()
        let pending = try await sender.submit(CounterIncreaseRequested())
        let rejection = await #expect(throws: Rejection.self) { try await pending.receipt() }
        #expect(rejection?.code == .endpointRefused)
        #expect(rejection?.message.contains(expected) == true, "\(rejection?.message ?? "")")
        #expect((rejection?.message.utf8.count ?? 0) < 2000)
        // It repeats its request, and is refused again each time.
        for await status in sender.statuses where status == rejection.map(SenderStatus.refused) { break }
        // With an acceptable endpoint it continues to send.
        let hole = try await RawHole()
        told.set(hole.endpoint)
        for await status in sender.statuses where status == .open { break }
        _ = try await sender.submit(CounterIncreaseRequested())
        guard let frame = try? Message.decodeActions(try await hole.next()) else {
            Issue.record("not a frame of actions")
            return
        }
        #expect(frame.contents == [WireAction.increase])
        await sender.close()
    }
}

/// Dispatched actions whose sender ends before their receipts arrive.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `Dispatched actions` {
    @Test func `Dispatched actions are counted in the log when their sender is closed, without the awaited ones`()
        async throws
    {
        let (hole, log) = (try await RawHole(), EventLog())
        let sender = try ActionSender(
            store: Counter.storeName,
            from: hole.endpoint,
            configuration: .quick,
            logger: LogBook.logger(log)
        ).started()
        for _ in 0..<3 { sender.dispatch(CounterIncreaseRequested()) }
        let awaited = try await sender.submit(CounterIncreaseRequested())
        await sender.close()
        #expect(try await awaited.outcome().number == nil)
        let line = "warning: actions given up: the sender was closed not-sent=3 outcome-unknown=0 store=counter"
        #expect(log.events == [line])
        await sender.close()
        #expect(log.events == [line], "it is logged once")
    }

    @Test func `Dispatched actions are counted in the log when their sender is released before it ran`() async throws {
        let (hole, log) = (try await RawHole(), EventLog())
        var sender: ActionSender? = try ActionSender(
            store: Counter.storeName,
            from: hole.endpoint,
            configuration: .quick,
            logger: LogBook.logger(log)
        )
        sender?.dispatch(CounterIncreaseRequested())
        sender = nil
        #expect(
            log.events
                == ["warning: actions given up: the sender was released not-sent=1 outcome-unknown=0 store=counter"]
        )
    }

    @Test
    func `Dispatched and awaited actions are given up when their sender is released before it ran`() async throws {
        var sender: ActionSender? = try ActionSender(store: "counter", from: "tcp://127.0.0.1:7")
        let first = try #require(try await sender?.submit(CounterIncreaseRequested()))
        // Giving up one action dequeues all.
        await #expect(throws: Rejection.self) {
            try await sender?.send(CounterIncreaseRequested(), timeout: .milliseconds(1))
        }
        let second = try #require(try await sender?.submit(CounterIncreaseRequested()))
        sender = nil
        for receipt in [first, second] {
            let rejection = await #expect(throws: Rejection.self) { try await receipt.receipt() }
            #expect(rejection?.code == .notSent)
        }
    }

    @Test func `Dispatched actions are reported as unknown if they were pushed`() async throws {
        let (hole, log) = (try await RawHole(), EventLog())
        try await withCounter { cluster in
            var configuration = SenderConfiguration.quick
            configuration.actions = hole.endpoint
            let sender = try ActionSender(
                store: Counter.storeName,
                from: cluster.address.publish,
                configuration: configuration,
                logger: LogBook.logger(log)
            ).started()
            sender.dispatch(CounterIncreaseRequested())
            _ = try await hole.next()
            await sender.close()
            #expect(
                log.events
                    == ["warning: actions given up: the sender was closed not-sent=0 outcome-unknown=1 store=counter"]
            )
        }
    }

    @Test func `Dispatched actions are not logged if all have their receipts`() async throws {
        let log = EventLog()
        try await withCounter { cluster in
            let sender = try ActionSender(
                store: Counter.storeName,
                from: cluster.address.publish,
                configuration: .quick,
                logger: LogBook.logger(log)
            ).started()
            sender.dispatch(CounterIncreaseRequested())
            try await sender.send(CounterIncreaseRequested())
            await sender.close()
            #expect(log.events == [])
        }
    }
}
