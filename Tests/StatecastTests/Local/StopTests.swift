import StateCore
import SyncProtocol
import Testing
import ZeroMQ

@testable import Statecast

/// How a primary stops, and starts again.
@Suite(.timeLimit(.minutes(10))) struct `A primary that stops` {
    private static func primary(_ configuration: PrimaryConfiguration) throws -> Primary<Diary> {
        try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            configuration: configuration,
            reducer: Diary.reducer()
        )
    }

    @Test func `has done what was dispatched before`() async throws {
        var configuration = PrimaryConfiguration.anyPorts
        // A turn each, so that the stop comes while most of them wait.
        configuration.limits.windowActionsMax = 1
        let primary = try Self.primary(configuration)
        try await primary.start()
        for number in 1...500 { primary.dispatch(Written(line: "\(number)")) }
        await primary.stop()
        #expect(primary.state.lines == (1...500).map { "\($0)" })
    }

    @Test func `does not do what is dispatched on account of that`() async throws {
        let primary = try Self.primary(.anyPorts)
        try await primary.start()
        let subscription = primary.observe { [weak primary] change in
            primary?.dispatch(Written(line: "\(change.new.lines.count)"))
        }
        await primary.stop()
        // Or else the stop would never come to an end.
        subscription.cancel()
    }

    @Test func `starts again at the same ports`() async throws {
        let first = try Self.primary(.anyPorts)
        let address = try await first.start()
        await first.stop()
        let primary = try Self.primary(PrimaryConfiguration(publish: address.publish, actions: address.actions))
        try await primary.startOnceItsPortsAreFree()
        for _ in 1...50 {
            await primary.stop()
            #expect(try await primary.start() == address)
        }
        await primary.stop()
    }
}

/// Tasks that a node's loop runs.
@Suite(.timeLimit(.minutes(10))) struct `A task on a loop` {
    @Test func `begins there, not on the pool, and goes on there`() async throws {
        let loop = try PollLoop(name: "tasks")
        let places = await Task.detached(executorPreference: LoopTasks(on: loop)) {
            let before = loop.isOnLoop
            await Task.yield()
            return [before, loop.isOnLoop]
        }.value
        #expect(places == [true, true])
        loop.shutdown()
    }
}
