import StateCore
import SyncProtocol
import Testing

@testable import Statecast

/// A result that waits while a cancel of its effect is reduced and not yet durable.
@Suite(.timeLimit(.minutes(10))) struct `A result behind its cancel` {
    /// A bench whose effect has sent its result, which waits in line.
    private func bench(_ stop: Effect) async throws -> HostBench<Diary> {
        let bench = try HostBench(isDurableAtOnce: false) { line, _ in
            switch line {
            case "ask": .run(id: "work") { send in await send(Written(line: "result")) }
            case "stop": stop
            default: .none
            }
        }
        bench.host.begin()
        try bench.push(Written(line: "ask"))
        bench.turn()
        bench.commit()
        await bench.woken()
        return bench
    }

    @Test(arguments: [Effect.cancel(id: "work"), .merge(.dispatch(Written(line: "stopped")), .cancel(id: "work"))])
    func `is not reduced in the same turn, nor before the cancel is durable, nor after it`(stop: Effect) async throws {
        let bench = try await bench(stop)
        try bench.push(Written(line: "stop"))
        bench.turn()
        bench.entrance.dispatch(Written(line: "behind"))
        bench.turn()
        #expect(bench.lines == ["ask", "stop"])
        #expect(!bench.host.hasRequests, "nothing to do before a record is durable")
        bench.commit()
        #expect(bench.host.hasRequests)
        bench.turn()
        #expect(bench.lines.prefix(3) == ["ask", "stop", "behind"])
        #expect(!bench.lines.contains("result"))
    }

    @Test func `is reduced at once if the cancel is another effect's`() async throws {
        let bench = try await bench(.cancel(id: "other work"))
        try bench.push(Written(line: "stop"))
        bench.turn()
        #expect(bench.lines == ["ask", "stop", "result"])
    }
}
