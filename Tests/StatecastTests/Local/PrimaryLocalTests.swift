import CounterApp
import Dispatch
import Statecast
import StatecastCore
import Testing

/// A primary, used in its own process.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary in its own process` {
    @Test
    func `A primary in its own process accepts actions, and returns a receipt that a replica reaches`() async throws {
        let primary = try Primary.diary()
        let address = try await primary.start()
        let replica = try Replica<Diary>(store: "diary", from: address.publish, configuration: .quick).started()
        primary.dispatch(Written(line: "a"))
        let receipt = try await primary.send(Written(line: "b"))
        #expect(receipt.session == .primary)
        #expect(receipt.number == ActionNumber(2))
        try await replica.reached(receipt)
        #expect(replica.snapshot?.state.lines == ["a", "b"])
        await primary.stop()
    }

    @Test
    func `A primary keeps the order of actions that one thread dispatches, before and after its start`() async throws {
        let primary = try Primary.diary()
        for number in 1...500 { primary.dispatch(Written(line: "\(number)")) }
        try await primary.start()
        for number in 501...3000 { primary.dispatch(Written(line: "\(number)")) }
        try await primary.send(Written(line: "3001"))
        let shown = await first(of: primary) { _ in true }
        #expect(shown.new.lines == (1...3001).map { "\($0)" })
        await primary.stop()
    }

    @Test func `A primary in its own process shows a state that contains all acknowledged actions`() async throws {
        let primary = try Primary.diary()
        #expect(primary.state == Diary())
        try await primary.start()
        for number in 1...20 {
            try await primary.send(Written(line: "\(number)"))
            #expect(primary.state.lines.count == number)
        }
        await primary.stop()
    }

    @Test
    func `A primary in its own process shows its observers each update once, as continuous changes`() async throws {
        let primary = try Primary.diary()
        let changes = EventLog()
        let subscription = primary.observe { change in
            let old = change.old.map { "\($0.lines.count)@\(change.oldRevision ?? 0)" } ?? "-"
            changes.add("\(old) to \(change.new.lines.count)@\(change.revision)")
            #expect(change.action == nil)
        }
        #expect(changes.events == [])
        try await primary.start()
        for _ in 0..<2 { try await primary.send(Written(line: "a")) }
        // Observers are called before the awaiting task resumes.
        #expect(changes.events == ["- to 0@0", "0@0 to 1@1", "1@1 to 2@2"])
        subscription.cancel()
        try await primary.send(Written(line: "a"))
        #expect(changes.events.count == 3)
        await primary.stop()
    }

    @Test func `A primary in its own process shows a later observer the actions dispatched before`() async throws {
        let primary = try Primary.diary()
        try await primary.start()
        for round in 1...20 {
            primary.dispatch(Written(line: "\(round)"))
            let shown = await first(of: primary) { _ in true }
            #expect(shown.old == nil)
            #expect(shown.new.lines.count == round)
        }
        await primary.stop()
    }

    @Test func `A primary in its own process shows an observer without replay changes only`() async throws {
        let primary = try Primary.diary()
        let changes = EventLog()
        let subscription = primary.observe(replay: .none) { changes.add("\($0.new.lines)") }
        try await primary.start()
        try await primary.send(Written(line: "a"))
        #expect(changes.events == [#"["a"]"#])
        subscription.cancel()
        await primary.stop()
    }

    @Test func `An observer without replay gets the actions dispatched after it, also in an open batch`()
        async throws
    {
        let (reducing, go) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        let primary = try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            configuration: .anyPorts
        ) { (state: inout Diary, action: any Action) in
            guard let line = (action as? Written)?.line else { return }
            if line == "a" {
                reducing.continuation.yield()
                go.wait()
            }
            state.lines.append(line)
        }
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish).started()
        let sent = try await sender.submit(Written(line: "a"))
        for await _ in reducing.stream { break }
        let changes = EventLog()
        let subscription = primary.observe(replay: .none) { changes.add("\($0.new.lines)") }
        async let answered = primary.send(Written(line: "b"))
        go.signal()
        _ = try await answered
        _ = try await sent.receipt()
        #expect(changes.events.last == #"["a", "b"]"#)
        subscription.cancel()
        await primary.stop()
    }

    @Test func `A primary in its own process lets observers dispatch and observe`() async throws {
        let primary = try Primary.diary()
        let (seen, see) = AsyncStream.makeStream(of: [String].self)
        let outer = primary.observe { [weak primary] change in
            guard change.new.lines == ["a"] else { return }
            primary?.dispatch(Written(line: "b"))
            primary?.observe { see.yield($0.new.lines) }.detach()
        }
        try await primary.start()
        primary.dispatch(Written(line: "a"))
        for await lines in seen {
            #expect(lines == ["a", "b"])
            break
        }
        outer.cancel()
        await primary.stop()
    }

    @Test
    func `A primary in its own process does not call an observer that another one has just cancelled`() async throws {
        let primary = try Primary.diary()
        let (told, second) = (EventLog(), Latest<Subscription>())
        let first = primary.observe(replay: .none) { _ in second.value?.cancel() }
        second.set(primary.observe(replay: .none) { _ in told.add("second") })
        let third = primary.observe(replay: .none) { _ in told.add("third") }
        try await primary.start()
        try await primary.send(Written(line: "a"))
        #expect(told.events == ["third"])
        for subscription in [first, third] { subscription.cancel() }
        await primary.stop()
    }

    @Test func `A stopped primary refuses actions, and does not start again`() async throws {
        let primary = try Primary.diary()
        try await primary.start()
        try await primary.send(Written(line: "a"))
        await primary.stop()
        let rejection = await #expect(throws: Rejection.self) { try await primary.send(Written(line: "b")) }
        #expect(rejection?.code == .stopped)
        let failure = await #expect(throws: StatecastError.self) { try await primary.start() }
        #expect(failure?.code == .closed)
        #expect(primary.state.lines == ["a"])
    }

    @Test
    func `A primary that is stopped before its start refuses the actions that waited for the start`() async throws {
        let primary = try Primary.diary()
        let waiting = Task { try await primary.send(Written(line: "a")) }
        await primary.stop()
        let rejection = await #expect(throws: Rejection.self) { try await waiting.value }
        #expect(rejection?.code == .stopped)
    }

    @Test func `A primary in its own process begins its effect at its start, and ends it at its stop`() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let primary = try Primary.diary(initialEffect: { _ in
            .run { send in
                await send(Written(line: "resumed"))
                let (forever, _) = AsyncStream.makeStream(of: Void.self)
                for await _ in forever {}
                ended.yield()
            }
        })
        var end = ends.makeAsyncIterator()
        try await primary.start()
        _ = await first(of: primary) { $0.new.lines == ["resumed"] }
        await primary.stop()
        await end.next()
    }

    @Test func `A primary in its own process does not start its effects if it cannot bind`() async throws {
        let taken = try await CounterPrimary.start()
        let resumed = EventLog()
        var configuration = PrimaryConfiguration.anyPorts
        configuration.publish = taken.address.publish
        let primary = try Primary.diary(
            nil,
            configuration,
            initialEffect: { _ in
                resumed.add("resumed")
                return .none
            }
        )
        await #expect(throws: StatecastError.self) { try await primary.start() }
        #expect(resumed.events == [])
        await taken.primary.stop()
    }

    @Test func `A primary in its own process publishes an action before its effects start`() async throws {
        let replicas = Latest<Replica<Diary>>()
        let (seen, see) = AsyncStream.makeStream(of: [String]?.self)
        let primary = try Primary.diary { line, _ in
            guard line == "ask" else { return .none }
            return .run { _ in
                let shown = try? await replicas.value?.first { $0.state.lines.contains("ask") }
                see.yield(shown?.state.lines)
            }
        }
        let address = try await primary.start()
        let replica = try Replica<Diary>(store: "diary", from: address.publish, configuration: .quick).started()
        replicas.set(replica)
        primary.dispatch(Written(line: "ask"))
        for await lines in seen {
            #expect(lines == ["ask"])
            break
        }
        await primary.stop()
    }

    /// The first observed change that meets a condition.
    private func first(
        of primary: Primary<Diary>,
        where condition: (Change<Diary>) -> Bool
    ) async -> Change<Diary> {
        let (changes, told) = AsyncStream.makeStream(of: Change<Diary>.self)
        let subscription = primary.observe { told.yield($0) }
        defer { subscription.cancel() }
        for await change in changes where condition(change) { return change }
        preconditionFailure("the stream does not end")
    }
}
