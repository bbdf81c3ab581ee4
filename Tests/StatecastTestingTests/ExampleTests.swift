import StatecastCore
import StatecastTesting
import Testing

/// The examples of the docstrings.
@Suite struct ExampleTests {
    struct Library: Equatable, Sendable {
        var books: [String] = []
        var isLoading = false

        static func reducer(shelf: @escaping @Sendable () async -> [String]) -> Reducer<Library> {
            Reducer { library, action in
                switch action {
                case is LoadRequested:
                    library.isLoading = true
                    return .run(id: "load") { send in await send(BooksLoaded(books: await shelf())) }
                case is LoadCancelled:
                    library.isLoading = false
                    return .cancel(id: "load")
                case let action as BooksLoaded:
                    library.isLoading = false
                    library.books = action.books
                default: break
                }
                return .none
            }
        }
    }

    struct Counter: Equatable, Sendable {
        var counter = 0
    }

    struct CounterIncreaseRequested: Action {}

    struct StepChangeRequested: Action, Equatable {
        var step: Int
    }

    struct StepField {
        let dispatcher: any ActionDispatcher

        func enter(_ text: String) {
            if let step = Int(text) { dispatcher.dispatch(StepChangeRequested(step: step)) }
        }
    }

    @Test func `a reducer's scenario`() {
        ReducerSpec(Library.reducer(shelf: { [] }))
            .given(Library())
            .when(LoadRequested())
            .then(effects: .run(id: "load")) { $0.isLoading = true }
            .when(BooksLoaded(books: ["Dune"]))
            .then {
                $0.isLoading = false
                $0.books = ["Dune"]
            }
    }

    @Test func `a test core`() async {
        let core = TestCore(Library(), reducer: Library.reducer(shelf: { ["Dune"] }))
        await core.send(LoadRequested()) { $0.isLoading = true }
        await core.receive(BooksLoaded.self) {
            $0.isLoading = false
            $0.books = ["Dune"]
        }
        await core.finish()
    }

    @Test func `a latch`() async {
        let answer = Latch()
        let shelf = { @Sendable in
            await answer.wait()
            return ["Dune"]
        }
        let core = TestCore(Library(), reducer: Library.reducer(shelf: shelf))
        await core.send(LoadRequested()) { $0.isLoading = true }
        await answer.reached()
        await core.send(LoadCancelled()) { $0.isLoading = false }
        await core.finish()
    }

    @Test func `a spy`() async {
        let core = Core(Counter(), reducer: Reducer { counter, _ in counter.counter += 1 })
        let counters = Spy<Counter>()
        let subscription = core.observe(counters)
        core.dispatch(CounterIncreaseRequested())
        #expect(await counters.values(count: 2).map(\.counter) == [0, 1])
        subscription.cancel()
    }

    @Test func `a recorder`() {
        let recorder = DispatchRecorder()
        StepField(dispatcher: recorder).enter("5")
        #expect(recorder.recorded(StepChangeRequested.self) == [StepChangeRequested(step: 5)])
    }

    @Test func `effects in the words of a reducer`() {
        let expected: [EffectShape] = [.cancel(id: "load"), .run(id: "load")]
        #expect(expected.map(\.description) == ["cancel(id: load)", "run(id: load)"])
    }
}
