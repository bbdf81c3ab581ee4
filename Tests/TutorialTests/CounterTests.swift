import StatecastCore
import StatecastTesting
import Testing

@Suite struct CounterTests {
    @Test func `a counter counts in steps`() {
        ReducerSpec(Counter.reducer)
            .given(Counter())
            .when(StepChangeRequested(step: 5), CounterIncreaseRequested())
            .then {
                $0.step = 5
                $0.counter = 5
            }
            .when(CounterDecreaseRequested())
            .then { $0.counter = 0 }
    }

    @Test func `a step is at least one`() {
        ReducerSpec(Counter.reducer).given(Counter(counter: 3)).when(StepChangeRequested(step: 0)).then()
    }

    @Test func `a core keeps the counter and notifies observers`() {
        let core = Core(Counter(), reducer: Counter.reducer)
        let seen = Spy<Int>()
        let subscription = core.observe { change in seen(change.new.counter) }
        core.dispatch(StepChangeRequested(step: 7))
        core.dispatch(CounterIncreaseRequested())
        #expect(core.state == Counter(counter: 7, step: 7))
        #expect(seen.values == [0, 0, 7])
        subscription.cancel()
    }

    @Test func `a scope shows a part, when it changes`() {
        let core = Core(Counter(), reducer: Counter.reducer)
        let seen = Spy<Int>()
        let subscription = core.scope(\.counter).observe { change in seen(change.new) }
        core.dispatch(StepChangeRequested(step: 42))
        core.dispatch(CounterIncreaseRequested())
        #expect(seen.values == [0, 42])
        subscription.cancel()
    }

    @Test func `the connector offers no decrease below zero`() {
        let actions = DispatchRecorder()
        let connector = CounterConnector(dispatcher: actions)
        #expect(connector.props(from: Counter(), at: .epoch).onDecrease == nil)
        let props = connector.props(from: Counter(counter: 1), at: .epoch)
        props.onDecrease?()
        #expect(actions.recorded(CounterDecreaseRequested.self).count == 1)
    }

    @Test @MainActor func `a connected view shows the counter`() async {
        let core = Core(Counter(), reducer: Counter.reducer)
        let view = CounterView()
        let connection = core.connect(view, via: CounterConnector(dispatcher: core.dispatcher))
        await shown("0", by: view)
        view.props.onIncrease?()
        await shown("1", by: view)
        #expect(view.lines == ["0", "1"])
        connection.cancel()
    }

    @Test func `a connected announcer speaks each number`() async {
        let core = Core(Counter(), reducer: Counter.reducer)
        let announcer = Announcer()
        let connection = core.connect(announcer, to: { counter in "\(counter.counter)" })
        core.dispatch(StepChangeRequested(step: 7))
        core.dispatch(CounterIncreaseRequested())
        while await announcer.spoken != ["0", "7"] { await Task.yield() }
        connection.cancel()
    }

    /// Yields the main actor until the view shows a label.
    @MainActor private func shown(_ label: String, by view: CounterView) async {
        while view.props.label != label { await Task.yield() }
    }
}
