import Testing

@testable import StatecastCore

@Suite struct `Composing effects` {
    /// The numbers that the effect sends, in order.
    private func sent(by effect: Effect) -> [Int] {
        let core = effectCore(["it": effect])
        core.dispatch(Perform("it"))
        return core.state.entries
    }

    @Test func `Composing effects out of nothing gives no effect`() {
        #expect(Effect.none.isNone)
        #expect(Effect.merge().isNone)
        #expect(Effect.sequence().isNone)
        #expect(Effect.merge(.none, .none).isNone)
        #expect(Effect.sequence(.none, .none).isNone)
        #expect(Effect.sequence([.none, .merge([])]).isNone)
        #expect(!Effect.dispatch(Append(1)).isNone)
        #expect(!Effect.merge(.none, .cancel(id: 1)).isNone)
    }

    @Test func `Composing effects drops empty ones and flattens, in the order written`() {
        let effect = Effect.merge(
            .dispatch(Append(1)),
            .merge(.dispatch(Append(2)), .none, .merge(.dispatch(Append(3)))),
            .none,
            .sequence(.dispatch(Append(4)), .none),
            .dispatch(Append(5))
        )
        #expect(sent(by: effect) == [1, 2, 3, 4, 5])
    }

    @Test func `Composing effects repeatedly does not increase their depth`() {
        var merged = Effect.none
        var sequence = Effect.none
        for number in 0..<1_000 {
            merged = .merge(merged, .dispatch(Append(number)))
            sequence = .sequence(.dispatch(Append(number)), sequence)
        }
        guard case .merge(let parts) = merged.operation, case .sequence(let steps) = sequence.operation else {
            Issue.record("expected a merge and a sequence")
            return
        }
        #expect(parts.effects.count == 1_000)
        #expect(steps.effects.count == 1_000)
        let isInOrder = delivered(by: merged) == Array(0..<1_000)
        #expect(isInOrder)
        let isReversed = delivered(by: sequence) == (0..<1_000).reversed()
        #expect(isReversed)
    }

    @Test func `Composing effects counts the work of all parts`() {
        let work = Effect.run { _ in }
        let many = Effect.merge(Array(repeating: .sequence(work, .cancel(id: 1), work), count: 100_000))
        #expect(many.workCount == 200_000)
        #expect(Effect.sequence(work, many, .dispatch(Append(1))).workCount == 200_001)
    }

    @Test func `A sequence of effects starts each one after the results of the one before`() {
        let effect = Effect.merge(
            .sequence(
                .dispatch(Append(1)),
                .merge(.dispatch(Append(3)), .dispatch(Append(4))),
                .dispatch(Append(5))
            ),
            .dispatch(Append(2))
        )
        // All merged effects are queued before the first step of the sequence is complete.
        #expect(sent(by: effect) == [1, 2, 3, 4, 5])
    }

    @Test(arguments: [false, true])
    func `Composing effects of 100,000 combined reducers starts all of them, in order`(areInSlots: Bool) {
        let reducers = (0..<100_000).map { number in
            Reducer<Log> { _, _ -> Effect in .dispatch(Append(number)) }
        }
        let slots = ReducerSlots<Log>()
        slots["all"] = .combine(reducers)
        var log = Log()
        let effect = (areInSlots ? slots.reducer : .combine(reducers)).reduce(
            into: &log,
            Perform("all"),
            context: ActionContext(time: .epoch)
        )
        let isInOrder = delivered(by: effect) == Array(0..<100_000)
        #expect(isInOrder)
    }

    @Test func `Composing effects of combined reducers follows the order of the reducers`() {
        let reducers = (1...3).map { number in
            Reducer<Log> { _, action -> Effect in
                action is Perform ? .merge(.dispatch(Append(number)), .dispatch(Append(number * 10))) : .none
            }
        }
        let core = Core(Log(), reducer: .combine([Log.reducer] + reducers), now: { .epoch })
        core.dispatch(Perform("all"))
        #expect(core.state.entries == [1, 10, 2, 20, 3, 30])
    }
}
