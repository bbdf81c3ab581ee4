import CounterApp
import StatecastCore
import Testing

@Suite struct `The counter` {
    private struct Foreign: Action {}

    private func reduced(_ counter: Counter, _ actions: any Action...) -> Counter {
        var counter = counter
        for action in actions {
            _ = Counter.reducer.reduce(into: &counter, action, context: ActionContext(time: .epoch))
        }
        return counter
    }

    @Test func `The counter moves by its step, up and down`() {
        let counter = reduced(
            Counter(),
            CounterIncreaseRequested(),
            StepChangeRequested(step: 5),
            CounterIncreaseRequested(),
            CounterIncreaseRequested(),
            CounterDecreaseRequested()
        )
        #expect(counter == Counter(counter: 6, step: 5))
    }

    @Test(arguments: [
        (Int.max, 1, Int.max), (.max - 1, 2, .max), (.min, -1, .min), (0, .min, .min), (1, .max, .max),
    ])
    func `The counter stops at the largest number`(start: Int, step: Int, end: Int) {
        #expect(reduced(Counter(counter: start, step: step), CounterIncreaseRequested()).counter == end)
    }

    @Test(arguments: [
        (Int.min, 1, Int.min), (.min + 1, 2, .min), (.max, -1, .max), (0, .min, .max), (-1, .min, .max),
        (-2, .max, .min),
    ])
    func `The counter stays within its numbers going down`(start: Int, step: Int, end: Int) {
        #expect(reduced(Counter(counter: start, step: step), CounterDecreaseRequested()).counter == end)
    }

    @Test func `The counter ignores unknown actions`() {
        #expect(reduced(Counter(counter: 3, step: 2), Foreign()) == Counter(counter: 3, step: 2))
    }

    @Test func `The counter has actions with distinct names`() {
        #expect(
            Counter.actions.map { $0.name }
                == ["CounterIncreaseRequested", "CounterDecreaseRequested", "StepChangeRequested"]
        )
        #expect(Counter.storeName == "counter")
    }

    @Test func `The counter counts in a core`() {
        let core = Core(Counter(), reducer: Counter.reducer, now: { .epoch })
        core.dispatch(StepChangeRequested(step: 21))
        core.dispatch(CounterIncreaseRequested())
        core.dispatch(CounterIncreaseRequested())
        #expect(core.state.counter == 42)
    }
}
