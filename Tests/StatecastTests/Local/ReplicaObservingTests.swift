import CounterApp
import StateCore
import Statecast
import Testing

/// How the observing of a replica ends. Whoever observes holds a subscription all the while, as careless code does.
@Suite(.timeLimit(.minutes(10))) struct `What observes a replica` {
    @Test func `ends when the replica is closed`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            var changes = replica.changes().makeAsyncIterator()
            _ = await changes.next(isolation: #isolation)
            await replica.close()
            while await changes.next(isolation: #isolation) != nil {}
        }
    }

    @Test func `ends when the replica is dropped`() async throws {
        try await withCounter { cluster in
            var replica: Replica<Counter>? = try cluster.replica()
            var states = try #require(replica).changes().makeAsyncIterator()
            _ = await states.next(isolation: #isolation)
            replica = nil
            while await states.next(isolation: #isolation) != nil {}
        }
    }

    @Test func `ends at once where the replica is closed already`() async throws {
        try await withCounter { cluster in
            let replica = try cluster.replica()
            await replica.close()
            for await _ in replica.changes() { Issue.record("nothing is shown any more") }
        }
    }

    @Test func `is let go of by a replica that is closed and dropped`() async throws {
        try await withCounter { cluster in
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            var replica: Replica<Counter>? = try cluster.replica()
            let (told, tell) = AsyncStream.makeStream(of: Void.self)
            let subscription = try #require(replica).observe { [held = Held { release.finish() }] _ in
                held.touch()
                tell.yield()
            }
            // It was let in.
            for await _ in told { break }
            await replica?.close()
            replica = nil
            for await _ in released {}
            subscription.cancel()
        }
    }

    @Test func `is not let in by a closed replica`() async throws {
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
