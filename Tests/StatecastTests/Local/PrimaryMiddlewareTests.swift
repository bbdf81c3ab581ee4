import StateCore
import SyncProtocol
import Testing

@testable import Statecast

/// What middlewares do on a primary, seen from its store.
@Suite(.timeLimit(.minutes(10))) struct `Middlewares on a primary` {
    @Test func `may change an action, and see the state before and after`() throws {
        let events = EventLog()
        let upper = Middleware<Diary> { action, store, next in
            guard let written = action as? Written else { return try next(action) }
            events.add("\(store.state.lines.count)")
            let value = try next(Written(line: written.line.uppercased()))
            events.add("\(store.state.lines.count)")
            return value
        }
        let bench = try HostBench(middleware: [upper]) { _, _ in .none }
        bench.host.begin()
        try bench.push(Written(line: "a"), Written(line: "b"))
        bench.settle()
        #expect(bench.lines == ["A", "B"])
        #expect(events.events == ["0", "1", "1", "2"])
        #expect(bench.receipts == [1: .applied(Revision(1)), 2: .applied(Revision(2))])
    }

    @Test func `that swallow an action reject it, also if they answer with a value`() throws {
        let keeping = Middleware<Diary> { action, store, next in
            switch (action as? Written)?.line {
            case "keep": nil
            case "answer": 7
            default: try next(action)
            }
        }
        let bench = try HostBench(middleware: [keeping]) { _, _ in .none }
        bench.host.begin()
        try bench.push(Written(line: "keep"), Written(line: "answer"), Written(line: "a"))
        bench.settle()
        let swallowed = Outcome.rejected(.swallowed(Written(line: "")))
        #expect(bench.receipts == [1: swallowed, 2: swallowed, 3: .applied(Revision(1))])
    }

    @Test func `that dispatch more do so behind what waits, once, as the primary's own process`() throws {
        let sessions = EventLog()
        let doubling = Middleware<Diary> { action, store, next in
            guard let written = action as? Written else { return try next(action) }
            sessions.add(store.context.session ?? "own")
            if written.line.count == 1 { store.dispatch(Written(line: "\(written.line) again")) }
            return try next(action)
        }
        let bench = try HostBench(middleware: [doubling]) { _, _ in .none }
        bench.host.begin()
        try bench.push(Written(line: "a"), Written(line: "b"))
        bench.settle()
        #expect(bench.lines == ["a", "b", "a again", "b again"])
        let session = "\(HostBench<Diary>.session)"
        #expect(sessions.events == [session, session, "own", "own"])
    }

    @Test func `run one inside the other, the first one outermost`() throws {
        func adding(_ letter: String) -> Middleware<Diary> {
            Middleware { action, _, next in
                try next((action as? Written).map { Written(line: $0.line + letter) } ?? action)
            }
        }
        let bench = try HostBench(middleware: [adding("x"), adding("y")]) { _, _ in .none }
        bench.host.begin()
        try bench.push(Written(line: "a"))
        bench.settle()
        #expect(bench.lines == ["axy"])
    }
}
