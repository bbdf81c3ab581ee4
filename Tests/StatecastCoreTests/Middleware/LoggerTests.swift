import StatecastCore
import Testing

@Suite struct `A logger` {
    private struct Line: Equatable, Sendable {
        var text: String
        var old: [Int]
        var new: [Int]
        var rejection: Rejection?
    }

    private func noting(_ lines: Recorder<Line>) -> Middleware<Log> {
        .logger { entry in
            lines.record(
                Line(
                    text: "\(entry.context.time.milliseconds) \(entry)",
                    old: entry.old.entries,
                    new: entry.new.entries,
                    rejection: entry.rejection
                )
            )
        }
    }

    private func core(_ middleware: Middleware<Log>...) -> Core<Log> {
        Core(Log(), reducer: Log.reducer, middleware: middleware, now: { Timestamp(milliseconds: 7) })
    }

    @Test func `A logger logs each action with the state before and after`() {
        let lines = Recorder<Line>()
        let core = core(noting(lines))
        core.dispatch(Append(1))
        core.dispatch(Append(2))
        #expect(
            lines.all == [
                Line(text: "7 Append Append(number: 1)", old: [], new: [1]),
                Line(text: "7 Append Append(number: 2)", old: [1], new: [1, 2]),
            ]
        )
    }

    @Test func `A logger logs dispatched actions in the first position, reduced ones in the last`() {
        let (first, last) = (Recorder<Line>(), Recorder<Line>())
        let doubling = Middleware<Log> { action, _, next in
            try next((action as? Append).map { Append($0.number * 2) } ?? action)
        }
        core(noting(first), doubling, noting(last)).dispatch(Append(1))
        #expect(first.all.map(\.text) == ["7 Append Append(number: 1)"])
        #expect(last.all.map(\.text) == ["7 Append Append(number: 2)"])
    }

    @Test func `A logger logs the rejection of an action, and rethrows it`() async {
        let lines = Recorder<Line>()
        let no = Rejection(.refused, "no")
        let core = core(noting(lines), .policy { _, _ in throw no })
        await #expect(throws: no) { try await core.send(Append(1)) }
        #expect(
            lines.all == [
                Line(text: "7 Append Append(number: 1) rejected: refused: no", old: [], new: [], rejection: no)
            ]
        )
    }

    @Test func `A logger returns values`() async throws {
        let lines = Recorder<Line>()
        let core = core(noting(lines), .thunk)
        let value = try await core.send(Thunk<Log, Int> { _ in 5 })
        #expect(value == 5)
        #expect(lines.all.count == 1)
    }
}
