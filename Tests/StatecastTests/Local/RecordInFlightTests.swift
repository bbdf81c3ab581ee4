import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// A primary whose records become durable late.
@Suite(.timeLimit(.minutes(10))) struct `While a record is in flight` {
    private func bench() throws -> StoreBench<Diary> {
        let bench = try StoreBench(isDurableAtOnce: false) { _, _ in .none }
        bench.store.begin()
        return bench
    }

    @Test func `While a record is in flight, a snapshot contains the durable state`() async throws {
        let bench = try bench()
        try bench.push(Written(line: "a"))
        bench.turn()
        bench.commit()
        try bench.push(Written(line: "b"))
        bench.turn()
        bench.store.subscribed(to: .join(Nonce(bits: 1), nil), from: nil)
        await bench.turns { !bench.offers.isEmpty }
        let offer = try #require(bench.offers.first)
        #expect(offer.revision == Revision(1))
        #expect(offer.digest == Summary(of: try StateEncoder().value(of: Diary(lines: ["a"]))).digest)
    }

    @Test func `An observer that was cancelled while a record was in flight leaves no request to a later one`() throws {
        let bench = try bench()
        bench.mailbox.dispatch(Written(line: "a"))
        bench.turn()
        let cancelled = observe(bench) { _ in Issue.record("it was cancelled") }
        bench.turn()
        cancelled.cancel()
        bench.turn()
        bench.mailbox.dispatch(Written(line: "b"))
        let shown = EventLog()
        let subscription = observe(bench) { shown.add("\($0.oldRevision.map { "\($0)" } ?? "-") to \($0.revision)") }
        bench.turn()
        #expect(bench.updates.isEmpty)
        bench.commit()
        #expect(shown.events == ["- to 2"], "added once, with the actions that were dispatched before")
        bench.mailbox.dispatch(Written(line: "c"))
        bench.turn()
        bench.commit()
        #expect(shown.events == ["- to 2", "2 to 3"])
        subscription.cancel()
    }

    @Test func `A stop reports the actions of a record in flight as unknown, and refuses those that wait`() throws {
        let bench = try StoreBench(isDurableAtOnce: false, limits: .quick { $0.maxWindowActions = 1 }) { _, _ in .none }
        bench.store.begin()
        let answers = EventLog()
        for line in ["a", "b"] {
            bench.mailbox.enqueue(
                .action(
                    .awaited(Written(line: line)) { answer in
                        if case .failure(let rejection) = answer { answers.add("\(line) \(rejection.code)") }
                    }
                )
            )
        }
        bench.turn()
        #expect(bench.lines == ["a"])
        bench.loseRecords()
        bench.store.end()
        #expect(answers.events == ["a outcome-unknown", "b stopped"])
    }
}
