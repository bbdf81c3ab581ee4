import CounterApp
import StatecastCore
import Testing

@testable import Statecast

/// How an observation of a replica ends while its subscription is kept.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `An observer of a replica` {
    @Test func `An observer of a replica is released when the replica is closed`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            var changes = replica.changes().makeAsyncIterator()
            _ = await changes.next(isolation: #isolation)
            await replica.close()
            while await changes.next(isolation: #isolation) != nil {}
        }
    }

    @Test func `An observer of a replica is released when the replica ends`() async throws {
        try await withCounter { cluster in
            let replica = try Replica<Counter>(store: "counter", from: cluster.address.publish)
            let running = Task { try await replica.run() }
            var states = replica.changes().makeAsyncIterator()
            _ = await states.next(isolation: #isolation)
            running.cancel()
            while await states.next(isolation: #isolation) != nil {}
            try await running.value
        }
    }

    @Test func `An observer of a replica is released when a replica that never ran is released`() async throws {
        var replica: Replica<Counter>? = try Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7")
        let states = try #require(replica).changes()
        replica = nil
        for await _ in states { Issue.record("there is no state") }
    }

    @Test func `An observer of a replica is released at once if the replica is closed already`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            await replica.close()
            for await _ in replica.changes() { Issue.record("nothing is shown any more") }
        }
    }

    @Test func `An observer of a replica is released by a replica that is closed and dropped`() async throws {
        try await withCounter { cluster in
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            var replica: Replica<Counter>? = try cluster.replica()
            let (told, tell) = AsyncStream.makeStream(of: Void.self)
            let subscription = try #require(replica).observe { [held = Held { release.finish() }] _ in
                held.touch()
                tell.yield()
            }
            // The observer was added.
            for await _ in told { break }
            await replica?.close()
            replica = nil
            for await _ in released {}
            subscription.cancel()
        }
    }

    @Test func `An observer of a replica is not added by a closed replica`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            await replica.close()
            let log = EventLog()
            let subscription = replica.observe { [held = Held { log.add("released") }] _ in held.touch() }
            #expect(log.events == ["released"])
            subscription.cancel()
        }
    }
}

@Suite struct `Pending observers` {
    private let pendingObservers = PendingObservers<Counter>()
    private let log = EventLog()

    /// An observer that records its calls and its release.
    private func observer(_ name: String, onRelease: @escaping @Sendable () -> Void = {}) -> Listener<Change<Counter>> {
        let log = log
        let held = Held {
            log.add("\(name) released")
            onRelease()
        }
        return Listener { _ in
            held.touch()
            log.add("\(name) told")
        }
    }

    /// Cancels, as a subscription does.
    private func leave(_ observer: Listener<Change<Counter>>) {
        _ = observer.deactivate()
        pendingObservers.remove(observer)
    }

    @Test func `Pending observers are added in the order of their registration`() {
        let names = (0..<20).map { "\($0)" }
        for name in names { pendingObservers.insert(observer(name), replay: .none) }
        var observers = ObserverSet<Counter>()
        observers.show(Counter(), revision: 0)
        pendingObservers.apply(to: &observers)
        observers.show(Counter(), revision: 1)
        #expect(log.events == names.map { "\($0) told" })
    }

    @Test func `Pending observers are forgotten if they are removed before they are added, and the others are kept`() {
        pendingObservers.insert(observer("first"), replay: .current)
        do {
            let second = observer("second")
            pendingObservers.insert(second, replay: .current)
            leave(second)
        }
        #expect(log.events == ["second released"])
        var observers = ObserverSet<Counter>()
        observers.show(Counter(), revision: 1)
        pendingObservers.apply(to: &observers)
        #expect(log.events == ["second released", "first told"])
    }

    @Test func `Pending observers are removed after they have been added`() {
        var observers = ObserverSet<Counter>()
        do {
            let first = observer("first")
            pendingObservers.insert(first, replay: .current)
            pendingObservers.apply(to: &observers)
            leave(first)
        }
        #expect(log.events == [])
        pendingObservers.apply(to: &observers)
        #expect(log.events == ["first released"])
    }

    @Test func `Pending observers are released by the close, as are later ones`() {
        let stayed = observer("stayed")
        pendingObservers.insert(observer("waited"), replay: .current)
        pendingObservers.close()
        #expect(log.events == ["waited released"])
        pendingObservers.insert(observer("came"), replay: .current)
        #expect(log.events == ["waited released", "came released"])
        do {
            let left = observer("left")
            leave(left)
        }
        #expect(log.events == ["waited released", "came released", "left released"])
        pendingObservers.insert(stayed, replay: .current)
        var observers = ObserverSet<Counter>()
        pendingObservers.apply(to: &observers)
        #expect(observers.isEmpty)
    }

    @Test func `Pending observers may be accessed by a released observer`() {
        let (pendingObservers, last) = (pendingObservers, observer("last"))
        pendingObservers.insert(observer("first") { pendingObservers.remove(last) }, replay: .current)
        pendingObservers.close()
        #expect(log.events == ["first released"])
    }
}

@Suite struct `A broadcast` {
    @Test func `A broadcast may be accessed by a value that it releases`() {
        let (broadcast, log) = (Broadcast<Held>(), EventLog())
        broadcast.send(Held { log.add(broadcast.latest == nil ? "nothing" : "another") })
        broadcast.send(Held {})
        #expect(log.events == ["another"])
    }

    @Test func `A broadcast may be accessed by a value that a slow follower has skipped`() async {
        let (broadcast, log) = (Broadcast<Held>(capacity: 2), EventLog())
        let values = broadcast.values()
        broadcast.send(Held { log.add(broadcast.latest == nil ? "nothing" : "another") })
        broadcast.send(Held {})
        #expect(log.events == [])
        broadcast.send(Held {})
        #expect(log.events == ["another"])
        broadcast.finish()
        var count = 0
        for await _ in values { count += 1 }
        #expect(count == 2)
    }

    @Test func `A broadcast sends the latest value first, then all newer ones within its capacity`() async {
        let broadcast = Broadcast(1, capacity: 3)
        broadcast.send(2)
        var values = broadcast.values().makeAsyncIterator()
        #expect(await values.next() == 2)
        for value in 3...6 { broadcast.send(value) }
        #expect(await values.next() == 4)
        broadcast.finish()
        broadcast.send(7)
        #expect(await values.next() == 5)
        #expect(await values.next() == 6)
        #expect(await values.next() == nil)
        var late = broadcast.values().makeAsyncIterator()
        #expect(await late.next() == 6)
        #expect(await late.next() == nil)
    }

    @Test func `A broadcast sends nothing to a follower that is cancelled`() async {
        let broadcast = Broadcast(1)
        let follower = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in broadcast.values() { return true }
            return false
        }
        #expect(await !follower.value)
    }

    /// A follower's task is locked while its cancellation is handled, and while a value resumes it.
    @Test(.timeLimit(.minutes(10))) func `A broadcast sends while followers are cancelled`() async {
        let broadcast = Broadcast(0)
        await withTaskGroup { group in
            group.addTask { for value in 1...200_000 { broadcast.send(value) } }
            group.addTask {
                for _ in 0..<5_000 {
                    let follower = Task { for await _ in broadcast.values() {} }
                    await Task.yield()
                    follower.cancel()
                    await follower.value
                }
            }
        }
    }
}
