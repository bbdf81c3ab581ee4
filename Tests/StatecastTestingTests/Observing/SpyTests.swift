import StatecastCore
import StatecastTesting
import Testing

@Suite struct SpyTests {
    let spy = Spy<Int>()
    let impatient = Spy<Int>(patience: .zero)

    @Test func `values are kept in order`() {
        spy(1)
        spy.record(2)
        #expect(spy.values == [1, 2])
    }

    @Test func `next returns each value once, and waits for those to come`() async {
        spy(1)
        async let later: Void = [2, 3].forEach(spy.record)
        #expect(await spy.next() == 1)
        #expect(await spy.next() == 2)
        #expect(await spy.next() == 3)
        await later
    }

    @Test func `values waits until there are enough`() async {
        async let later: Void = (1...3).forEach(spy.record)
        #expect(await spy.values(count: 2) == [1, 2])
        #expect(await spy.values(count: 3) == [1, 2, 3])
        await later
    }

    @Test func `values that come from many threads are all kept`() async {
        await withDiscardingTaskGroup { group in
            for number in 0..<100 { group.addTask { spy(number) } }
        }
        #expect(Set(spy.values) == Set(0..<100))
    }

    @Test func `values that do not come are an issue`() async {
        impatient(7)
        #expect(await impatient.next() == 7)
        await expectIssues("another value") { #expect(await impatient.next() == nil) }
        await expectIssues("2 values") { #expect(await impatient.values(count: 2) == [7]) }
    }

    @Test func `a cancelled wait ends`() async {
        let spy = spy
        let waiting = Task { await withKnownIssue { #expect(await spy.next() == nil) } }
        waiting.cancel()
        await waiting.value
    }

    @Test func `a nil value is a value`() async {
        let spy = Spy<Int?>()
        spy(nil)
        #expect(await spy.next() == .some(nil))
    }

    @Test func `a spy observes states or changes`() async {
        let core = Core(Library(books: ["Dune"]), reducer: Library.reducer())
        let states = Spy<Library>()
        let changes = Spy<Change<Library>>()
        let subscriptions = [core.observe(states), core.observe(replay: .none, changes)]
        core.dispatch(BookLent(book: "Dune"))
        #expect(await states.values(count: 2).map(\.books) == [["Dune"], []])
        #expect(await changes.next()?.action is BookLent)
        for subscription in subscriptions { subscription.cancel() }
        core.dispatch(BooksLoaded(books: []))
        #expect(states.values.count == 2)
    }
}

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

    @Test func `next waits for an action of its type and skips others`() async {
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
