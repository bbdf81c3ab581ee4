import CounterApp
import Dispatch
import Foundation
import StatecastCore
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// A node whose start fails reports it to all waiting tasks.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A node that cannot start` {
    private func replica() throws -> Replica<Counter> {
        var configuration = ReplicaConfiguration.quick
        // libzmq refuses this size when the socket is created.
        configuration.receiveHighWaterMark = 0
        return try Replica(store: "counter", from: "tcp://127.0.0.1:7", configuration: configuration)
    }

    private func sender() throws -> ActionSender {
        var configuration = SenderConfiguration.quick
        configuration.limits.maxFrameBytes = -1
        return try ActionSender(store: "counter", from: "tcp://127.0.0.1:7", configuration: configuration)
    }

    @Test func `A node that cannot start ends the sequences of a replica, with the reason`() async throws {
        let replica = try replica()
        let (changes, changesEnd) = AsyncStream.makeStream(of: Change<Counter>.self)
        let subscription = replica.observe { [token = Held { changesEnd.finish() }] _ in token.touch() }
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(1))
        let waiting = Task { try await replica.reached(position) }
        let failure = await #expect(throws: StatecastError.self) { try await replica.run() }
        #expect(failure?.code == .endpoint)
        for task in [waiting, Task { try await replica.reached(position) }] {
            let failure = await #expect(throws: StatecastError.self) { try await task.value }
            #expect(failure?.code == .endpoint)
            #expect(failure?.message.contains("receiveHighWaterMark") == true)
        }
        for await _ in replica.snapshots {}
        for await _ in replica.changes() {}
        for await _ in changes {}
        var last: ReplicaStatus?
        for await status in replica.statuses { last = status }
        guard case .refused(let reason) = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(reason.message.contains("receiveHighWaterMark"))
        withExtendedLifetime(subscription) {}
    }

    @Test func `A node that cannot start ends the waiting for a sender, with the reason`() async throws {
        let sender = try sender()
        let sending = Task { try await sender.send(CounterIncreaseRequested()) }
        let failure = await #expect(throws: StatecastError.self) { try await sender.run() }
        #expect(failure?.code == .endpoint)
        for task in [sending, Task { try await sender.send(CounterIncreaseRequested()) }] {
            let rejection = await #expect(throws: Rejection.self) { try await task.value }
            #expect(rejection?.code == .notSent)
            #expect(rejection?.message.contains("maxMessageBytes") == true)
        }
        for await _ in sender.statuses {}
        await #expect(throws: StatecastError.self) { try await sender.actions() }
    }

    @Test func `A node that cannot start ends the waiting for a primary, with the reason`() async throws {
        try await withCounter { cluster in
            var configuration = PrimaryConfiguration.quick
            configuration.publish = cluster.address.publish
            let primary = try Primary.counter(configuration)
            let address = Task { try await primary.address }
            let sending = Task { try await primary.send(CounterIncreaseRequested()) }
            let failure = await #expect(throws: StatecastError.self) { try await primary.run() }
            #expect(failure?.code == .endpoint)
            await #expect(throws: StatecastError.self) { try await address.value }
            await #expect(throws: Rejection.self) { try await sending.value }
        }
    }
}

/// `run()` of each node, and the scopes that run them.
@Suite(.timeLimit(.minutes(10))) struct `A node that runs` {
    private static func primary() throws -> Primary<Counter> {
        try Primary.counter()
    }

    @Test func `A node that runs works for the duration of its scope`() async throws {
        let primary = try Self.primary()
        let nodes = try await withPrimary(primary) { primary in
            let endpoint = try await primary.address.publish
            let replica = try Replica<Counter>(store: "counter", from: endpoint)
            let sender = try ActionSender(store: "counter", from: endpoint)
            try await withReplica(replica) { replica in
                try await withSender(sender) { sender in
                    try await replica.reached(try await sender.send(CounterIncreaseRequested()))
                }
            }
            return (replica, sender)
        }
        #expect(nodes.0.snapshot?.state.counter == 1)
        for await _ in nodes.0.states {}
        let rejection = await #expect(throws: Rejection.self) { try await nodes.1.send(CounterIncreaseRequested()) }
        #expect(rejection?.code == .notSent)
        let failure = await #expect(throws: StatecastError.self) { try await primary.address }
        #expect(failure?.code == .closed)
    }

    @Test func `A node that runs ends with its task, without an error`() async throws {
        let primary = try Self.primary()
        try await withPrimary(primary) { primary in
            let endpoint = try await primary.address.publish
            let replica = try Replica<Counter>(store: "counter", from: endpoint)
            let sender = try ActionSender(store: "counter", from: endpoint)
            let running = [Task { try await replica.run() }, Task { try await sender.run() }]
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            for task in running { task.cancel() }
            for task in running { try await task.value }
        }
    }

    @Test func `A node that runs does not run twice`() async throws {
        let primary = try Self.primary()
        try await withPrimary(primary) { primary in
            let endpoint = try await primary.address.publish
            let replica = try Replica<Counter>(store: "counter", from: endpoint)
            let sender = try ActionSender(store: "counter", from: endpoint)
            try await withReplica(replica) { replica in
                try await withSender(sender) { sender in
                    try await replica.reached(try await sender.send(CounterIncreaseRequested()))
                    for run in [primary.run, replica.run, sender.run] as [@Sendable () async throws -> Void] {
                        let failure = await #expect(throws: StatecastError.self) { try await run() }
                        #expect(failure?.code == .closed)
                    }
                    try await replica.reached(try await sender.send(CounterIncreaseRequested()))
                }
            }
            await #expect(throws: StatecastError.self) { try await replica.run() }
        }
        let failure = await #expect(throws: StatecastError.self) { try await primary.run() }
        #expect(failure?.code == .closed)
    }

    @Test func `A node that runs cancels the body of its scope when it fails`() async throws {
        let replica = try Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7")
        await replica.close()
        let failure = await #expect(throws: StatecastError.self) {
            // Without an end: an event that never comes.
            try await withReplica(replica) { _ in for await _ in AsyncStream<Void>.makeStream().stream {} }
        }
        #expect(failure?.code == .closed)
    }

    @Test func `A node that runs accepts no further store`() async throws {
        let node = try PrimaryNode(configuration: .anyPorts)
        @Sendable func primary(_ name: String) throws -> Primary<Counter> {
            try Primary.counter(on: node, store: name)
        }
        try await withPrimary(primary("first")) { first in
            _ = try await first.address
            let failure = #expect(throws: StatecastError.self) { try primary("second") }
            #expect(failure?.code == .definition)
        }
    }

    @Test func `A node that runs reports its own failure instead of that of the body`() async throws {
        struct BodyFailure: Error {}
        try await withPrimary(Self.primary()) { primary in
            var configuration = PrimaryConfiguration.quick
            configuration.publish = try await primary.address.publish
            let second = try Primary.counter(configuration)
            let failure = await #expect(throws: StatecastError.self) {
                try await withPrimary(second) { second in
                    do { _ = try await second.address } catch { throw BodyFailure() }
                }
            }
            #expect(failure?.code == .endpoint)
        }
    }

    @Test func `A node that runs throws the failure of its body`() async throws {
        struct BodyFailure: Error {}
        await #expect(throws: BodyFailure.self) {
            try await withPrimary(Self.primary()) { primary in
                _ = try await primary.address
                throw BodyFailure()
            }
        }
    }
}

/// How a primary stops, and starts again.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary that stops` {
    private static func primary(_ configuration: PrimaryConfiguration) throws -> Primary<Diary> {
        try Primary.diary(nil, configuration)
    }

    @Test func `A primary that stops has reduced the actions that were dispatched before`() async throws {
        var configuration = PrimaryConfiguration.anyPorts
        // One turn each, so that most of them wait at the stop.
        configuration.limits.maxWindowActions = 1
        let primary = try Self.primary(configuration)
        try await primary.start()
        for number in 1...500 { primary.dispatch(Written(line: "\(number)")) }
        await primary.stop()
        #expect(primary.state.lines == (1...500).map { "\($0)" })
    }

    @Test func `A primary that stops does not reduce actions that these dispatch`() async throws {
        let primary = try Self.primary(.anyPorts)
        try await primary.start()
        let subscription = primary.observe { [weak primary] change in
            primary?.dispatch(Written(line: "\(change.new.lines.count)"))
        }
        await primary.stop()
        // Otherwise the stop would never end.
        subscription.cancel()
    }

    @Test
    func `A primary that stops does not reduce them even if each change dispatches more than a turn takes`() throws {
        let bench = try StoreBench(Diary(), actions: Diary.actions, reducer: Diary.reducer())
        bench.store.begin()
        let count = TurnBudget().actions + 1
        let mailbox = bench.mailbox
        let dispatched = EventLog()
        let subscription = observe(bench) { _ in
            // A stop that went on would end at last.
            guard dispatched.events.count < 10 else { return }
            dispatched.add("\(count)")
            for _ in 0..<count { mailbox.dispatch(Written(line: "")) }
        }
        bench.turn()
        #expect(dispatched.events.count == 1, "for the state at its registration")
        bench.store.finish()
        bench.store.end()
        #expect(bench.lines.count == count)
        subscription.cancel()
    }

    @Test
    func `A primary that stops has reduced the actions that the middlewares of a record in flight dispatched`() throws {
        let repeating = Middleware<Diary> { action, store, next in
            if let line = (action as? Written)?.line, line == "a" { store.dispatch(Written(line: "again")) }
            return try next(action)
        }
        let bench = try StoreBench(middleware: [repeating], isDurableAtOnce: false) { _, _ in .none }
        bench.store.begin()
        try bench.push(Written(line: "a"))
        bench.turn()
        bench.freeJournal()
        bench.store.finish()
        bench.store.end()
        #expect(bench.mailbox.state.lines == ["a", "again"])
    }

    @Test func `A primary that stops leaves its ports to the next one`() async throws {
        let first = try Self.primary(.anyPorts)
        let address = try await first.start()
        await first.stop()
        for _ in 1...20 {
            let next = try Self.primary(PrimaryConfiguration(publish: address.publish, actions: address.actions))
            try await next.startOnceItsPortsAreFree()
            await next.stop()
        }
    }
}

/// Tasks that a node's loop runs.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A task on a loop` {
    @Test func `A task on a loop starts on the loop, not on the pool, and continues there`() async throws {
        let loop = try PollLoop(name: "tasks")
        let places = await Task.detached(executorPreference: LoopTaskExecutor(on: loop)) {
            let before = loop.isOnLoop
            await Task.yield()
            return [before, loop.isOnLoop]
        }.value
        #expect(places == [true, true])
        loop.shutdown()
    }
}

/// User code may block all threads of Swift's pool. Nodes do not need them for each other.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `With all threads of Swift's pool blocked` {
    /// Signals each action that it reduces.
    private static func primary(_ reduced: DispatchSemaphore) throws -> Primary<Counter> {
        try Primary(
            store: "counter",
            state: Counter(),
            actions: Counter.actions,
            configuration: .anyPorts
        ) { (state: inout Counter, _: any Action) in
            state.counter += 1
            reduced.signal()
        }
    }

    @Test func `With all of Swift's threads blocked, an action that a thread dispatches is sent and published`() async {
        await #expect(processExitsWith: .success) {
            let (reduced, published) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let primary = try Self.primary(reduced)
            let address = try await primary.start()
            let sender = try ActionSender(store: "counter", from: address.publish).started()
            try await sender.send(CounterIncreaseRequested())
            reduced.wait()
            let subscription = primary.observe(replay: .none) { _ in published.signal() }
            HeldPool.run {
                sender.dispatch(CounterIncreaseRequested())
                guard reduced.arrives(), published.arrives() else { return false }
                primary.dispatch(CounterIncreaseRequested())
                return reduced.arrives() && published.arrives()
            }
            withExtendedLifetime((primary, sender, subscription)) {}
        }
    }

    @Test func `With all threads of Swift's pool blocked, a replica's snapshot is encoded`() async {
        await #expect(processExitsWith: .success) {
            let primary = try Self.primary(DispatchSemaphore(value: 0))
            let address = try await primary.start()
            HeldPool.run {
                let replica = try Socket(.sub)
                try replica.connect(Endpoint(address.publish))
                let join = Address(try StoreName("counter"), .join(Nonce(bits: 1), nil)).bytes
                try replica.subscribe(join)
                guard try replica.wait(for: .readable, timeout: HeldPool.patience),
                    case .message(let message)? = try replica.receive()
                else { return false }
                return message.starts(with: join)
            }
            withExtendedLifetime(primary) {}
        }
    }
}

/// Blocks all threads of Swift's pool, each by a task.
private enum HeldPool {
    /// Only detects a hang: the time limit of a test needs a thread of the pool.
    static let patience = Duration.seconds(120)

    /// Runs the body on a thread of its own while no task can run, and ends the process: with 0 if it returns true.
    static func run(_ body: @escaping @Sendable () throws -> Bool) {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let held = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for _ in 0..<count { held.wait() }
            do { exit(try body() ? 0 : 1) } catch {
                print(error)
                exit(2)
            }
        }
        // The pool has one thread per processor; this task occupies one of them.
        for _ in 1..<count { Task.detached { hold(held) } }
        hold(held)
    }

    private static func hold(_ held: DispatchSemaphore) {
        held.signal()
        DispatchSemaphore(value: 0).wait()
    }
}

extension DispatchSemaphore {
    fileprivate func arrives() -> Bool { wait(timeout: .now() + (HeldPool.patience / .seconds(1))) == .success }
}
