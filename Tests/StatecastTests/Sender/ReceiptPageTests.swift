import StatecastCore
import StatecastZeroMQ
import Testing

@testable import Statecast
@testable import StatecastProtocol

@Suite(.timeLimit(.minutes(10))) struct `A page of receipts` {
    private static let session = SessionID(high: 1, low: 2)
    private static let lineage = Lineage(bits: 7)

    private static func position(_ revision: UInt64) -> Position {
        Position(lineage: lineage, epoch: Epoch(1), revision: Revision(revision))
    }

    /// A run of applied actions, with the numbers of their tickets, applied as the revisions from `revision` on.
    private static func applied(_ tickets: ClosedRange<UInt64>, revision: UInt64) -> ResolvedRun {
        ResolvedRun(
            Ticket(rawValue: tickets.lowerBound),
            count: tickets.count,
            sent: SentAction(session: session, number: ActionNumber(tickets.lowerBound)),
            .applied(position(revision))
        )
    }

    private static func receipt(_ page: ReceiptPage, _ ticket: UInt64) -> PendingReceipt {
        PendingReceipt(page, Ticket(rawValue: ticket))
    }

    private static func page(_ receipt: PendingReceipt) -> ReceiptPage? {
        if case .page(let page, _) = receipt.source { page } else { nil }
    }

    /// A task that waits for a receipt, once it waits.
    private static func waiter(_ page: ReceiptPage, _ ticket: UInt64) async -> Task<Receipt, any Error> {
        let count = page.waitingCount
        let task = Task { try await receipt(page, ticket).receipt() }
        while page.waitingCount == count { await Task.yield() }
        return task
    }

    @Test func `A page of receipts resumes only those who wait for the run`() async throws {
        let page = ReceiptPage(first: Ticket(rawValue: 1))
        var tasks: [Task<Receipt, any Error>] = []
        for ticket in UInt64(1)...6 { tasks.append(await Self.waiter(page, ticket)) }
        _ = page.resolve(Self.applied(2...4, revision: 100))
        #expect(page.waitingCount == 3)
        for (ticket, task) in zip(UInt64(2)...4, tasks[1...3]) {
            let receipt = try await task.value
            #expect(receipt.number == ActionNumber(ticket) && receipt.revision.rawValue == 98 + ticket)
            #expect(receipt.session == Self.session)
        }
        let reason = Rejection(.refused, "no")
        for run in [1...1, 5...6] as [ClosedRange<UInt64>] {
            _ = page.resolve(
                ResolvedRun(Ticket(rawValue: run.lowerBound), count: run.count, sent: nil, .rejected(reason))
            )
        }
        for task in [tasks[0], tasks[4], tasks[5]] { await #expect(throws: reason) { try await task.value } }
        #expect(page.waitingCount == 0)
    }

    @Test func `A page of receipts resumes all tasks that wait for one action`() async throws {
        let page = ReceiptPage(first: Ticket(rawValue: 1))
        let tasks = [await Self.waiter(page, 3), await Self.waiter(page, 3)]
        _ = page.resolve(Self.applied(1...9, revision: 1))
        for task in tasks { #expect(try await task.value.revision == 3) }
    }

    @Test func `A page of receipts forgets a cancelled waiter`() async throws {
        let page = ReceiptPage(first: Ticket(rawValue: 1))
        let (leaving, staying) = (await Self.waiter(page, 1), await Self.waiter(page, 1))
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        #expect(page.waitingCount == 1)
        _ = page.resolve(Self.applied(1...1, revision: 5))
        #expect(try await staying.value.revision == 5)
        // A cancelled task still gets an outcome that is known.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Self.receipt(page, 1).receipt()
        }
        #expect(try await late.value.revision == 5)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Self.receipt(page, 2).receipt()
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(page.waitingCount == 0)
    }

    @Test func `A page of receipts keeps the first outcome of an action`() async throws {
        let page = ReceiptPage(first: Ticket(rawValue: 1))
        let unknown = ResolvedRun(
            Ticket(rawValue: 3),
            count: 2,
            sent: SentAction(session: Self.session, number: ActionNumber(3)),
            .unknown(because: "late")
        )
        #expect(page.resolve(unknown) == [unknown])
        #expect(page.resolve(unknown) == [])
        let recorded = page.resolve(Self.applied(1...6, revision: 1))
        #expect(recorded == [Self.applied(1...2, revision: 1), Self.applied(5...6, revision: 5)])
        #expect(page.resolve(Self.applied(1...6, revision: 1)) == [])
        let outcome = try await Self.receipt(page, 4).outcome()
        #expect(outcome.number == ActionNumber(4))
        let rejection = await #expect(throws: Rejection.self) { try await Self.receipt(page, 4).receipt() }
        #expect(rejection?.code == .outcomeUnknown)
        #expect(rejection?.message.contains("action 4 of session \(Self.session)") == true)
        #expect(try await Self.receipt(page, 5).receipt().revision == 5)
        #expect(page.resolvedCount == 6)
    }

    @Test func `A page of receipts ends when no receipt of it is left`() throws {
        let intake = SenderIntake(maxPending: .max)
        var kept: [PendingReceipt] = []
        var receipts = PendingReceipts(from: intake, SenderMetrics(store: try StoreName("counter")))
        for index in 0..<(ReceiptPage.span + 10) {
            let attempt = [1].withUnsafeBufferPointer { intake.attempt($0) }
            if case .enqueued(let receipt) = attempt, [5, ReceiptPage.span].contains(index) { kept.append(receipt) }
        }
        weak let first = Self.page(kept[0])
        weak let second = Self.page(kept[1])
        #expect(first !== second)
        kept.removeLast()
        #expect(receipts.dequeue()?.count == ReceiptPage.span + 10)
        let last = UInt64(ReceiptPage.span)
        receipts.resolve([Self.applied(1...(last - 1), revision: 1)])
        #expect(first?.resolvedCount == ReceiptPage.span - 1 && second?.resolvedCount == 0)
        receipts.resolve([Self.applied(last...(last + 10), revision: last)])
        #expect(first != nil, "a receipt refers to it")
        #expect(kept.map(\.ticket) == [Ticket(rawValue: 6)])
        kept = []
        #expect(first == nil)
        #expect(second != nil, "further actions belong to it")
    }

    @Test func `A page of receipts gets its part of a run that covers several pages`() async throws {
        let span = UInt64(ReceiptPage.span)
        let intake = SenderIntake(maxPending: .max)
        var receipts = PendingReceipts(from: intake, SenderMetrics(store: try StoreName("counter")))
        var submitted: [PendingReceipt] = []
        for ticket in 1...(3 * span) {
            let attempt = [1].withUnsafeBufferPointer { intake.attempt($0, isAwaited: !ticket.isMultiple(of: 4)) }
            if case .enqueued(let receipt) = attempt { submitted.append(receipt) }
        }
        #expect(receipts.dequeue()?.count == submitted.count)
        let pages = [0, 1, 2].compactMap { Self.page(submitted[$0 * ReceiptPage.span]) }
        try #require(pages.map(\.first.rawValue) == [1, span + 1, 2 * span + 1])
        // The last action of the first page, the second page, the first five actions of the third one.
        let dispatchedCount = receipts.resolve([Self.applied(span...(2 * span + 5), revision: 100)])
        #expect(dispatchedCount == ReceiptPage.span / 4 + 2)
        try #require(pages.map(\.resolvedCount) == [1, ReceiptPage.span, 5])
        for ticket in [span, span + 1, 2 * span, 2 * span + 1, 2 * span + 5] {
            let receipt = try await submitted[Int(ticket) - 1].receipt()
            #expect(receipt.number == ActionNumber(ticket) && receipt.revision.rawValue == 100 + ticket - span)
        }
        // Only what had no outcome is counted.
        #expect(
            receipts.resolve([Self.applied(1...(3 * span), revision: 1)]) == 3 * ReceiptPage.span / 4 - dispatchedCount
        )
        #expect(pages.map(\.resolvedCount) == [ReceiptPage.span, ReceiptPage.span, ReceiptPage.span])
    }

    /// Runs, waiting tasks and cancellations from many threads.
    @Test func `A page of receipts gives each task an outcome under contention`() async throws {
        let span = UInt64(ReceiptPage.span)
        for round in UInt64(0)..<4 {
            let page = ReceiptPage(first: Ticket(rawValue: 1))
            let correct = await withTaskGroup(of: Int.self) { group in
                for ticket in 1...span {
                    group.addTask {
                        let receipt = try? await Self.receipt(page, ticket).receipt()
                        return receipt?.revision.rawValue == ticket ? 1 : 0
                    }
                }
                for worker in UInt64(0)..<4 {
                    group.addTask {
                        // Overlapping runs of equal outcomes, in different orders.
                        for step in 0..<(span / 32) {
                            let start = (step * (2 * worker + 1) + round) % (span / 32) * 32 + 1
                            let end = min(span, start + 40)
                            _ = page.resolve(Self.applied(start...end, revision: start))
                        }
                        return 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(correct == ReceiptPage.span)
            #expect(page.resolvedCount == ReceiptPage.span)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A sender's intake, as bytes` {
    /// An action that dispatches another one while it is encoded.
    private struct Nested: Action {
        @TaskLocal static var intake: SenderIntake?

        func encode(to encoder: any Encoder) throws {
            let intake = try #require(Self.intake)
            _ = try ActionCoding.encode(CounterStepped()) { intake.attempt($0, isAwaited: false) }
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }

        init(from decoder: any Decoder) throws {}
        init() {}
    }

    private struct CounterStepped: Action {
        var by = 1
    }

    @Test func `A sender's intake encodes an action without the lock, so that its code may enqueue others`() throws {
        let intake = SenderIntake(maxPending: 10)
        try Nested.$intake.withValue(intake) {
            for _ in 0..<2 { _ = try ActionCoding.encode(Nested()) { intake.attempt($0) } }
        }
        let drained = try #require(intake.drain())
        var expected = ActionChunk(first: Ticket(rawValue: 1))
        for _ in 0..<2 {
            expected.append(WireAction.named("CounterStepped", ["by": 1]))
            expected.append(WireAction.named("Nested", 1))
        }
        #expect(drained.chunk == expected)
        #expect(drained.dispatched.map(\.lowerBound.rawValue) == [1, 3])
    }

    @Test
    func `A sender's intake, as bytes has consecutive tickets across chunks, and uses returned buffers again`() throws {
        let intake = SenderIntake(maxPending: .max, after: Ticket(rawValue: 7))
        var next: UInt64 = 8
        var address: UInt?
        for round in 0..<3 {
            for index in 0..<1000 {
                _ = [UInt8](repeating: 9, count: index % 40).withUnsafeBufferPointer {
                    intake.attempt($0, mark: index % 100 == 0 ? InputMark(position: UInt64(index)) : nil)
                }
            }
            var chunk = try #require(intake.drain()).chunk
            #expect(chunk.first.rawValue == next && chunk.count == 1000 && chunk.largestActionBytes == 39)
            #expect(chunk.marks.map(\.ticket.rawValue) == (0..<10).map { next + 100 * $0 })
            next += 1000
            let current = chunk.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            if round == 2 { #expect(current == address, "the first buffer, which was returned") }
            if round == 0 {
                address = current
                let buffer = chunk.bytes
                chunk = ActionChunk(first: chunk.end)
                intake.reuse(buffer)
            }
        }
        #expect(intake.drain() == nil)
    }

    @Test func `A sender's intake, as bytes waits for the minimum size of a chunk`() throws {
        let intake = SenderIntake(maxPending: .max)
        for _ in 0..<9 { _ = [UInt8](repeating: 9, count: 9).withUnsafeBufferPointer { intake.attempt($0) } }
        #expect(intake.drain(minBytes: 91) == nil)
        #expect(intake.drain(minBytes: 90)?.chunk.count == 9)
        #expect(intake.drain() == nil)
    }

    @Test
    func `A sender's intake fires its trigger at the size that the loop set, at once if it is reached`() async {
        let intake = SenderIntake(maxPending: .max)
        let (chunks, drained) = AsyncStream.makeStream(of: Int.self)
        func enqueue(_ count: Int) {
            for _ in 0..<count { _ = [UInt8](repeating: 9, count: 9).withUnsafeBufferPointer { intake.attempt($0) } }
        }
        enqueue(1)
        intake.open { if let actions = intake.drain() { drained.yield(actions.chunk.count) } }
        var chunk = chunks.makeAsyncIterator()
        // One ring too early would drain fewer actions.
        intake.fireTrigger(at: 1)
        #expect(await chunk.next() == 1)
        intake.fireTrigger(at: 21)
        enqueue(2)
        enqueue(1)
        #expect(await chunk.next() == 3)
        enqueue(2)
        intake.fireTrigger(at: 20)
        #expect(await chunk.next() == 2)
        intake.fireTrigger(at: .max)
        enqueue(100)
        intake.fireTrigger(at: 0)
        #expect(await chunk.next() == 100)
        intake.fireTrigger(at: 0)
        enqueue(1)
        #expect(await chunk.next() == 1, "an empty buffer fires no trigger")
    }

    @Test func `A sender's intake, as bytes has a socket with room for the frames of a window`() {
        var limits = Limits()
        #expect(SocketOptions.pusher(limits).sendHighWaterMark == 1024)
        limits.maxWindowBytes = 1 << 20
        #expect(SocketOptions.pusher(limits).sendHighWaterMark == limits.maxWindowFrames)
        #expect(limits.maxWindowFrames == 64)
        limits.minFrameBytes = 0
        #expect(limits.maxWindowFrames == 1 << 20)
        limits.maxWindowBytes = 0
        #expect(limits.maxWindowFrames == 1)
    }
}
