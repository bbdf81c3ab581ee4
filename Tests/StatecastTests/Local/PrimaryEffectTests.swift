import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// The effects that a primary's reducer returns.
@Suite(.timeLimit(.minutes(10))) struct `Effects on a primary` {
    @Test func `Effects start when their action is durable, after update, receipts and observers, in order`() throws {
        let bench = try StoreBench(isDurableAtOnce: false) { line, _ in .dispatch(Written(line: "\(line)!")) }
        bench.store.begin()
        let events = bench.events
        let subscription = observe(bench) { events.add("observer \($0.revision)") }
        bench.turn()
        try bench.push(Written(line: "a"), Written(line: "b"))
        bench.turn()
        #expect(!bench.mailbox.hasRequests, "not durable yet")
        #expect(bench.events.events == ["observer 0"])
        bench.commit()
        #expect(bench.events.events == ["observer 0", "update 2", "receipts", "observer 2"])
        bench.turn()
        #expect(bench.lines == ["a", "b", "a!", "b!"])
        subscription.cancel()
    }

    @Test func `Effects on a primary start before the caller that awaits their action resumes, as in a core`() throws {
        let bench = try StoreBench { line, _ in line == "ask" ? .dispatch(Written(line: "effect")) : .none }
        bench.store.begin()
        let (mailbox, events) = (bench.mailbox, bench.events)
        mailbox.enqueue(
            .action(
                .awaited(Written(line: "ask")) { _ in events.add("answered, effect sent: \(mailbox.hasRequests)") }
            )
        )
        bench.turn()
        #expect(events.events == ["update 1", "answered, effect sent: true"])
    }

    @Test func `Effects on a primary have results that are reduced on the current state`() async throws {
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let bench = try StoreBench { line, diary in
            guard line == "ask" else { return .none }
            let asked = diary.lines.count
            return .run { send in
                for await _ in gate { break }
                await send(Written(line: "asked at \(asked)"))
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.runTurns()
        try bench.push(Written(line: "meanwhile"))
        bench.runTurns()
        opened.yield()
        await bench.turns { bench.lines.count == 3 }
        #expect(bench.lines == ["ask", "meanwhile", "asked at 1"])
    }

    @Test func `Effects on a primary resume when the action that they sent is durable, not before`() async throws {
        let events = EventLog()
        let bench = try StoreBench(isDurableAtOnce: false) { line, _ in
            guard line == "ask" else { return .none }
            return .run { send in
                await send(Written(line: "first"))
                events.add("went on")
                await send(Written(line: "second"))
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.turn()
        bench.commit()
        await bench.turns { bench.lines == ["ask", "first"] }
        #expect(bench.updates.count == 1)
        #expect(events.events == [])
        bench.commit()
        await bench.turns { bench.lines == ["ask", "first", "second"] }
        #expect(events.events == ["went on"])
    }

    @Test
    func `Effects are named by lineage, revision and index, and the initial one also by its start`() async throws {
        let keys = EventLog()
        let note: @Sendable (Send) async -> Void = { send in
            keys.add("\(send.idempotencyKey)")
            await send(Written(line: "\(send.idempotencyKey)"))
        }
        let bench = try StoreBench(initialEffect: { _ in .run(note) }) { line, _ in
            line == "ask" ? .merge(.run(note), .run(note)) : .none
        }
        bench.store.begin()
        await bench.turns { bench.lines.count == 1 }
        try bench.push(Written(line: "before"), Written(line: "ask"))
        await bench.turns { bench.lines.count == 5 }
        let lineage = bench.store.position.lineage
        #expect(keys.events == ["\(lineage)/0/0/start-1", "\(lineage)/3/0", "\(lineage)/3/1"])
        #expect(Set(bench.lines).isSuperset(of: keys.events))
    }

    @Test func `Effects on a primary are resumed from the state at the start, and not before it`() throws {
        let bench = try StoreBench(initialEffect: { .dispatch(Written(line: "resumed with \($0.lines.count)")) }) {
            _,
            _ in .none
        }
        #expect(!bench.mailbox.hasRequests)
        bench.store.begin()
        bench.turn()
        #expect(bench.lines == ["resumed with 0"])
    }

    @Test
    func `Effects on a primary that are cancelled send no more, and their waiting actions are dropped`() async throws {
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let bench = try StoreBench(isDurableAtOnce: false) { line, _ in
            switch line {
            case "ask":
                .run(id: "work") { send in
                    await send(Written(line: "result"))
                    opened.finish()
                }
            case "stop": .cancel(id: "work")
            default: .none
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.turn()
        bench.commit()
        await bench.woken()
        #expect(bench.mailbox.hasRequests, "the result waits")
        try bench.push(Written(line: "stop"))
        bench.turn()
        #expect(bench.lines == ["ask", "stop"], "the cancel came first, though it is not durable")
        bench.commit()
        let last = bench.store.engine.published.sequence
        bench.turn()
        // A dropped action is resolved, too: the work continues to its end.
        for await _ in gate {}
        bench.commit()
        #expect(bench.lines == ["ask", "stop"])
        #expect(bench.store.engine.published.sequence == last, "a dropped action has no record")
    }

    @Test func `Effects on a primary may repeat and delay actions, until they are cancelled`() async throws {
        let bench = try StoreBench { line, diary in
            switch line {
            case "ask": .repeat(Written(line: "tick"), every: .milliseconds(1), id: "tick")
            case "tick" where diary.lines.count == 3:
                .merge(.cancel(id: "tick"), .delay(Written(line: "later"), for: .milliseconds(1)))
            default: .none
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        await bench.turns { bench.lines.last == "later" }
        #expect(bench.lines == ["ask", "tick", "tick", "later"])
    }

    @Test func `Effects on a primary of an action that is rolled back never start`() throws {
        let bench = try StoreBench(limits: .quick { $0.maxFrameBytes = 4096 }) { line, _ in
            line.hasPrefix("after") ? .none : .dispatch(Written(line: "after \(line.prefix(1))"))
        }
        bench.store.begin()
        try bench.push(Written(line: "a"), Written(line: String(repeating: "x", count: 10_000)), Written(line: "b"))
        bench.runTurns()
        #expect(bench.lines == ["a", "b", "after a", "after b"])
    }

    @Test func `Effects on a primary of a batch that is reduced again start once, for the second pass`() throws {
        let bench = try StoreBench(limits: .quick { $0.maxFrameBytes = 4096 }) { line, diary in
            line.hasPrefix("after") ? .none : .dispatch(Written(line: "after \(diary.lines.count)"))
        }
        bench.store.begin()
        try bench.push(Written(line: String(repeating: "x", count: 10_000)), Written(line: "b"), Written(line: "c"))
        bench.runTurns()
        #expect(bench.lines == ["b", "c", "after 1", "after 2"])
        guard case .rejected(let rejection)? = bench.receipts[1] else {
            Issue.record("the large one was not rejected")
            return
        }
        #expect(rejection.code == .tooLarge)
    }

    @Test
    func `Effects wait while the window of the primary's own session is full, and continue in order`() async throws {
        let bench = try StoreBench(isDurableAtOnce: false, limits: .quick { $0.maxWindowActions = 2 }) { line, _ in
            guard line == "ask" else { return .none }
            return .merge((1...5).map { .dispatch(Written(line: "\($0)")) })
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.turn()
        bench.commit()
        bench.runTurns()
        #expect(bench.lines == ["ask", "1", "2"])
        #expect(!bench.store.hasWork, "nothing to do before a record is durable")
        bench.commit()
        #expect(bench.store.hasWork)
        bench.runTurns()
        #expect(bench.lines == ["ask", "1", "2", "3", "4"])
        bench.commit()
        bench.runTurns()
        #expect(bench.lines == ["ask", "1", "2", "3", "4", "5"])
    }

    @Test func `Effects on a primary that send without end do not starve a sender`() throws {
        let bench = try StoreBench(limits: .quick { $0.maxWindowActions = 4 }) { line, _ in
            line.hasPrefix("storm") ? .merge(.dispatch(Written(line: line)), .dispatch(Written(line: line))) : .none
        }
        bench.store.begin()
        try bench.push(Written(line: "storm"))
        for number in UInt64(2)...9 {
            bench.turn()
            try bench.push(Written(line: "mine"))
            bench.turn()
            #expect(bench.receipts[number] != nil)
        }
        #expect(bench.lines.count { $0 == "mine" } == 8)
        // Each turn has reduced as many actions as the window has room for.
        #expect(bench.lines.count <= 9 + 17 * 4)
    }

    @Test func `Effects on a primary end with the store, and later actions of them are dropped`() async throws {
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let bench = try StoreBench { line, _ in
            .run { send in
                for await _ in gate { break }
                await send(Written(line: "too late"))
                end.yield(Task.isCancelled)
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        bench.runTurns()
        #expect(bench.store.effects.runningCount == 1)
        bench.store.end()
        #expect(bench.store.effects.runningCount == 0)
        opened.yield()
        for await wasCancelled in ended {
            #expect(wasCancelled)
            break
        }
        bench.runTurns()
        #expect(bench.lines == ["ask"])
    }

    @Test func `Effects on a primary whose results a middleware rejects continue`() async throws {
        let refusing = Middleware<Diary>.policy { action, store in
            if store.context.session == nil { throw Rejection(.refused, "not from inside") }
        }
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let bench = try StoreBench(middleware: [refusing]) { _, _ in
            .run { send in
                await send(Written(line: "result"))
                opened.finish()
            }
        }
        bench.store.begin()
        try bench.push(Written(line: "ask"))
        await bench.turns { bench.store.engine.published.sequence == JournalSequence(2) }
        for await _ in gate {}
        #expect(bench.lines == ["ask"], "a rejection has a batch, too")
    }
}

/// Observes a bench's store as its primary does.
func observe<State>(
    _ bench: StoreBench<State>,
    replay: Replay = .current,
    _ body: @escaping @Sendable (Change<State>) -> Void
) -> Subscription {
    let (mailbox, observer) = (bench.mailbox, Listener(body))
    mailbox.enqueue(.observe(observer, replay: replay))
    return Subscription { if observer.deactivate() { mailbox.enqueue(.ignore(observer)) } }
}
