import StatecastCore
import Testing

@Suite struct `Awaiting an action` {
    @Test func `Awaiting an action returns after it is applied and the observers are notified`() async throws {
        let core = logCore()
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        let reply = try await core.send(Append(1))
        #expect(reply.revision == 1)
        #expect(reply.value == nil)
        #expect(core.state.entries == [1])
        #expect(seen.all == [[1]])
        subscription.cancel()
    }

    @Test func `Awaiting an action from many tasks returns different revisions, without a gap`() async throws {
        let core = logCore()
        let count = 1_000
        let made = try await withThrowingTaskGroup(of: (UInt64, Int).self) { group in
            for number in 0..<count {
                group.addTask { (try await core.send(Append(number)).revision, number) }
            }
            return try await group.reduce(into: [UInt64: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(made.keys.sorted() == Array(1...UInt64(count)))
        // The entry at each revision is that of the action.
        #expect(core.state.entries == (1...UInt64(count)).map { made[$0] })
    }

    @Test func `Awaiting an action waits for earlier actions`() async throws {
        let core = logCore()
        let holding = Gate()
        let held = Gate()
        let subscription = core.observe(replay: .none) { change in
            guard change.revision == 1 else { return }
            held.open()
            holding.block()
        }
        await onThreads(1) { _ in
            core.dispatch(Append(1))
        } meanwhile: {
            await held.passed()
            core.dispatch(Append(2))
            let answer = Task.immediate { try await core.send(Append(3)).revision }
            holding.open()
            let revision = try? await answer.value
            #expect(revision == 3)
        }
        #expect(core.state.entries == [1, 2, 3])
        subscription.cancel()
    }
}
