import StatecastCore
import Testing

@Suite struct `A reducer` {
    private struct Pair: Equatable {
        var left = Log()
        var right = Log()
    }

    private let context = ActionContext(time: Timestamp(milliseconds: 7), session: "s", user: "u")

    @Test func `A reducer changes the state in place`() {
        var log = Log()
        _ = Log.reducer.reduce(into: &log, Append(1), context: context)
        #expect(log.entries == [1])
    }

    @Test func `A reducer may be a function, with or without an effect`() {
        @Sendable func append(_ log: inout Log, _ action: any Action) {
            if let action = action as? Append { log.entries.append(action.number) }
        }
        @Sendable func answer(_ log: inout Log, _ action: any Action) -> Effect {
            (action as? Append)?.number == 1 ? .dispatch(Append(2)) : .none
        }
        for core in [
            Core(Log(), reducer: .combine(Reducer(append), Reducer(answer))),
            Core(Log(), reducer: .combine(Reducer(append), .withContext { log, action, _ in answer(&log, action) })),
        ] {
            core.dispatch(Append(1))
            #expect(core.state.entries == [1, 2])
        }
        let (quiet, answering) = (Core(Log(), reducer: append), Core(Log(), reducer: answer))
        let subscription = answering.observe(replay: .none) { quiet.dispatch($0.action ?? Append(0)) }
        answering.dispatch(Append(1))
        #expect(quiet.state.entries == [1, 2])
        subscription.cancel()
    }

    @Test func `A reducer of a core may be a closure that returns an effect`() {
        let core = Core(Log()) { log, action in
            guard let action = action as? Append else { return .none }
            log.entries.append(action.number)
            return action.number == 1 ? .dispatch(Append(2)) : .none
        }
        core.dispatch(Append(1))
        #expect(core.state.entries == [1, 2])
    }

    @Test func `A reducer may read the context`() {
        let seen = Recorder<ActionContext>()
        let reducer = Reducer<Log>.withContext { _, _, context in
            seen.record(context)
            return .none
        }
        var log = Log()
        _ = reducer.reduce(into: &log, Append(1), context: context)
        #expect(seen.all == [context])
    }

    @Test func `A reducer may return the next state`() {
        let reducer = Reducer<Log>.returningState { log, _ in Log(entries: log.entries + [9]) }
        var log = Log(entries: [1])
        _ = reducer.reduce(into: &log, Append(1), context: context)
        #expect(log.entries == [1, 9])
    }

    @Test func `Combined reducers run in the order given, each on the result of the one before`() {
        let double = Reducer<Log> { log, _ in log.entries = log.entries.map { $0 * 2 } }
        var first = Log(entries: [1])
        _ = Reducer.combine(Log.reducer, double).reduce(into: &first, Append(5), context: context)
        #expect(first.entries == [2, 10])
        var second = Log(entries: [1])
        _ = Reducer.combine([double, Log.reducer]).reduce(into: &second, Append(5), context: context)
        #expect(second.entries == [2, 5])
    }

    @Test func `A reducer combined out of none ignores actions`() {
        var log = Log(entries: [1])
        _ = Reducer.combine([]).reduce(into: &log, Append(5), context: context)
        #expect(log.entries == [1])
    }

    @Test func `A reducer pulled back changes only its part, and passes the context on`() {
        let seen = Recorder<ActionContext>()
        let noting = Reducer<Log>.withContext { _, _, context in
            seen.record(context)
            return .none
        }
        let reducer = Reducer.combine(Log.reducer, noting).pullback(\Pair.right)
        var pair = Pair()
        _ = reducer.reduce(into: &pair, Append(3), context: context)
        #expect(pair == Pair(right: Log(entries: [3])))
        #expect(seen.all == [context])
    }

    @Test func `A reducer pulled back changes a large part without copying it`() {
        var pair = Pair(right: Log(entries: Array(repeating: 0, count: 1_000)))
        pair.right.entries.reserveCapacity(2_000)
        let before = pair.right.entries.withUnsafeBufferPointer { $0.baseAddress }
        _ = Log.reducer.pullback(\Pair.right).reduce(into: &pair, Append(3), context: context)
        let after = pair.right.entries.withUnsafeBufferPointer { $0.baseAddress }
        #expect(pair.right.entries.count == 1_001)
        #expect(before == after)
    }

    @Test func `A reducer of one closed type of actions handles each case, and ignores all others`() async {
        enum Change: Action {
            case add(Int)
            case clear
            case addLater(Int)
        }
        let reducer = Reducer<Log>(of: Change.self) { log, action -> Effect in
            switch action {
            case .add(let number): log.entries.append(number)
            case .clear: log.entries = []
            case .addLater(let number): return .dispatch(Change.add(number))
            }
            return .none
        }
        let core = Core(Log(), reducer: .combine(reducer, Reducer(of: Append.self) { $0.entries.append(-$1.number) }))
        for action in [Change.add(1), .clear, .add(2), .addLater(3)] { core.dispatch(action) }
        core.dispatch(Append(4))
        core.dispatch(Perform("nothing"))
        #expect(core.state.entries == [2, 3, -4])
    }

    @Test func `A reducer of one type of actions may read the context`() {
        let reducer = Reducer<Log>.withContext(of: Append.self) { log, action, context in
            log.entries.append(Int(context.time.milliseconds) + action.number)
            return .none
        }
        let core = Core(Log(), reducer: reducer, now: { Timestamp(milliseconds: 100) })
        core.dispatch(Append(4))
        core.dispatch(Perform("nothing"))
        #expect(core.state.entries == [104])
    }

    @Test func `A reducer of one class of actions handles its subclasses`() {
        class Note: Action, @unchecked Sendable {}
        final class SignedNote: Note, @unchecked Sendable {}
        let core = Core(0, reducer: Reducer(of: Note.self) { count, _ in count += 1 })
        core.dispatch(Note())
        core.dispatch(SignedNote())
        core.dispatch(Append(1))
        #expect(core.state == 2)
    }
}
