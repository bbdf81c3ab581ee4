import StateCore
import StatecastTesting
import Testing

@Suite struct DispatchRecorderTests {
    let recorder = DispatchRecorder()

    @Test func `dispatched actions are kept in order and read by type`() async {
        recorder.dispatch(Reached(1))
        recorder.dispatch(LoadRequested())
        recorder.dispatch(Reached(2))
        #expect(recorder.recorded(Reached.self) == [Reached(1), Reached(2)])
        #expect(recorder.actions.count == 3)
        #expect(await recorder.actions(count: 2).last is LoadRequested)
    }

    @Test func `next waits for an action of its type and passes others over`() async {
        let recorder = recorder
        async let later: Void = {
            recorder.dispatch(LoadRequested())
            recorder.dispatch(Reached(1))
            recorder.dispatch(Reached(2))
        }()
        #expect(await recorder.next(Reached.self) == Reached(1))
        #expect(await recorder.next(Reached.self) == Reached(2))
        await later
    }

    @Test func `an action that does not come is an issue`() async {
        let recorder = DispatchRecorder(patience: .zero)
        recorder.dispatch(Reached(1))
        await expectIssues("LoadRequested") { #expect(await recorder.next(LoadRequested.self) == nil) }
        #expect(await recorder.next(Reached.self) == Reached(1))
        await expectIssues("2 values") { #expect(await recorder.actions(count: 2).count == 1) }
    }
}
