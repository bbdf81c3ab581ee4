import Dispatch
import Foundation
import Statecast
import StatecastTesting
import Testing

/// The code in the right columns of docs/COMING-FROM.md.
@Suite(.timeLimit(.minutes(10))) struct ComingFromTests {
    private let disposer = Disposer()
    private let shown = Spy<Counter>()
    private let logged = Spy<String>()

    private func show(_ counter: Counter) { shown(counter) }
    private func log(_ counter: Counter, _ action: any Action) { logged("\(counter.counter) \(type(of: action).name)") }

    @Test func `all code of ours on the page is in this file`() throws {
        let path = URL(filePath: #filePath)
        let file = try String(contentsOf: path, encoding: .utf8)
        let page = path.appending(path: "../../../docs/COMING-FROM.md").standardizedFileURL
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        for row in rows {
            let cells = try #require(row.wholeMatch(of: /\| (.+) \| `([^`]+)` \|/), "not two cells of code: \(row)")
            let isHere = file.contains(cells.2)
            #expect(isHere, "not in this file: \(cells.2)")
        }
        #expect(rows.count > 90)
    }

    // MARK: Cores, reducers, observers

    @Test func `a core from a function, with observers and taps`() {
        let core = Core(Counter(), reducer: reduce)
        core.observe { change in show(change.new) }.store(in: disposer)
        core.tap(.before) { tapped in log(tapped.state, tapped.action) }.store(in: disposer)
        core.dispatch(CounterIncreaseRequested())
        #expect(shown.values == [Counter(), Counter(counter: 1)])
        #expect(logged.values == ["0 CounterIncreaseRequested"])
    }

    @Test @MainActor func `observers and taps elsewhere`() async {
        let core = Core(Counter(), reducer: Counter.reducer)
        let queue = DispatchQueue(label: "shown")
        core.observe(on: MainActor.shared) { change in show(change.new) }.store(in: disposer)
        core.observe(on: .queue(queue)) { change in show(change.new) }.store(in: disposer)
        core.tap(on: .mainActor) { tapped in log(tapped.state, tapped.action) }.store(in: disposer)
        core.tap(StepChangeRequested.self) { action, counter in log(counter, action) }.store(in: disposer)
        core.dispatch(StepChangeRequested(step: 7))
        #expect(logged.values == ["0 StepChangeRequested", "0 StepChangeRequested"])
        while shown.values.count < 4 { await Task.yield() }
    }

    @Test func `the state, its replacement, start and stop`() {
        let core = Core(Counter(), reducer: Counter.reducer)
        let subscription = core.observe { change in show(change.new) }
        subscription.store(in: disposer)
        core.stop()
        core.replace(Counter(counter: 7))
        core.start()
        show(core.state)
        #expect(shown.values.map(\.counter) == [0, 7, 7])
    }

    @Test func `commands`() {
        let chosen = Spy<Int>()
        let selected: @Sendable (Int) -> Void = { chosen($0) }
        let select = Command<Int>(id: "select") { index in selected(index) }
        select(7)
        select.bound(to: 7)()
        #expect(chosen.values == [7, 7])
    }

    @Test func `old and new states`() {
        let core = Core(Counter(), reducer: Counter.reducer)
        let compared = Spy<Int?>()
        let compare: @Sendable (Counter?, Counter) -> Void = { old, new in
            compared(old.map { new.counter - $0.counter })
        }
        let token = core.observe(replay: .none) { change in compare(change.old, change.new) }
        core.dispatch(CounterIncreaseRequested())
        token.cancel()
        core.dispatch(CounterIncreaseRequested())
        #expect(compared.values == [1])
    }

    // MARK: Composition

    @Test func `reducers of parts`() {
        let reducer = Reducer<Library> { library, action in
            if let action = action as? BookAdded { library.books.append(action.title) }
        }
        let slots = ReducerSlots<App>()
        slots["counter"] = Counter.reducer.pullback(\App.counter)
        slots["counter"] = nil
        let editor = Counter.reducer.optional().pullback(\App.editor)
        let rows = Counter.reducer.forEach(\App.rows) { action in (action as? any RowAction)?.row }
        let app = Core(
            App(),
            reducer: .combine(
                .combine(Counter.reducer.pullback(\App.counter), reducer.pullback(\App.library)),
                slots.reducer,
                editor,
                rows
            )
        )
        let part = app.scope(\.counter)
        let subscription = part.observe { change in show(change.new) }
        app.dispatch(BookAdded(title: "Dune"))
        app.dispatch(CounterIncreaseRequested())
        #expect(app.state.library.books == ["Dune"])
        #expect(app.state.editor == nil)
        #expect(shown.values.map(\.counter) == [0, 1])
        subscription.cancel()
    }

    @Test func `reducers that return the next state`() {
        let reducer = Reducer.returningState(next)
        let both = Reducer.combine(reducer, Counter.reducer)
        let core = Core(Counter(), reducer: both)
        core.dispatch(CounterIncreaseRequested())
        #expect(core.state == Counter(counter: 2))
    }

    // MARK: Components

    @Test @MainActor func `connected components`() async {
        let core = Core(Counter(), reducer: Counter.reducer)
        let app = Core(App(), reducer: Counter.reducer.pullback(\App.counter))
        let (component, connector) = (CounterView(), CounterConnector(dispatcher: core.dispatcher))
        let (label, numbers, ownConnector) = (Announcer(), NumberView(), NumberLabel())
        core.connect(component, via: connector).store(in: disposer)
        app.connect(component, via: connector, state: { $0.counter }).store(in: disposer)
        core.connect(label, to: { counter in "\(counter.counter)" }).store(in: disposer)
        core.connect(ownConnector, via: ownConnector).store(in: disposer)
        core.scope(\.counter).connect(numbers).store(in: disposer)
        core.dispatch(CounterIncreaseRequested())
        while component.props.label != "1" || numbers.props != 1 || ownConnector.props != "#1" { await Task.yield() }
        while await label.spoken.last != "1" { await Task.yield() }
    }

    @Test @MainActor func `a state for SwiftUI`() async {
        let core = Core(Counter(), reducer: Counter.reducer)
        let shown = Observed(core)
        core.dispatch(CounterIncreaseRequested())
        while shown.value.counter != 1 { await Task.yield() }
    }

    // MARK: Effects

    @Test func `effects`() async {
        let titles = AsyncStream { continuation in
            continuation.yield("Solaris")
            continuation.finish()
        }
        let core = Core(
            Library(),
            reducer: Reducer(reduce),
            initialEffect: { _ in .dispatch(BooksRequested()) },
            start: .onDemand
        )
        let books = Spy<Set<String>>()
        core.scope { Set($0.books) }.observe { change in books(change.new) }.store(in: disposer)
        core.start()
        while await books.next() != ["Dune"] {}
        let source = Core(
            Library(),
            reducer: Library.reducer { [] },
            initialEffect: { _ in
                .run { send in
                    for await title in titles { await send(BookAdded(title: title)) }
                    await send(BooksLoaded(books: await fetch()))
                }
            }
        )
        source.scope { Set($0.books) }.observe { change in books(change.new) }.store(in: disposer)
        while await books.next() != ["Dune", "Solaris"] {}
    }

    @Test func `changes and effects of a reducer, in a test`() async {
        let core = TestCore(
            Search(),
            reducer: Reducer<Search> { search, action in
                guard let action = action as? TextChanged else { return .none }
                search.text = action.text
                let (first, second) = (Effect.dispatch(LoadingCancelled()), Effect.dispatch(BooksRequested()))
                switch action.text {
                case "merge":
                    return .merge(first, second)
                case "sequence":
                    return .sequence(first, second)
                case "debounce":
                    return .debounce(BooksRequested(), for: .milliseconds(300), id: "search")
                case "repeat":
                    return .repeat(BooksRequested(), every: .seconds(1), id: "refresh")
                case "cancel":
                    return .merge(.cancel(id: "search"), .cancel(id: "refresh"))
                case "dispatch":
                    return .dispatch(LoadingCancelled())
                default:
                    return .none
                }
            }
        )
        for text in ["merge", "sequence"] {
            await core.send(TextChanged(text: text)) { $0.text = text }
            await core.receive(LoadingCancelled.self)
            await core.receive(BooksRequested.self)
        }
        for text in ["debounce", "repeat", "cancel"] { await core.send(TextChanged(text: text)) { $0.text = text } }
        await core.send(TextChanged(text: "dispatch")) { $0.text = "dispatch" }
        await core.receive(LoadingCancelled.self)
        await core.finish()
    }

    @Test func `work that throws, and time`() async {
        let source: @Sendable () async throws -> [String] = { ["Dune"] }
        let reducer = Reducer<Library> { library, action in
            switch action {
            case is BooksRequested:
                library.isLoading = true
                return .run(id: "load", cancelInFlight: true) { send in
                    await send(BooksLoaded(books: try await source()))
                } catch: { error in
                    BooksUnavailable(reason: "\(error)")
                }
            case let action as BooksLoaded:
                library = Library(books: action.books)
                return .none
            default:
                return .cancel(id: "load")
            }
        }
        let test = TestCore(Library(), reducer: reducer)
        await test.send(BooksRequested()) { $0.isLoading = true }
        test.advance(by: .seconds(1))
        await test.receive(BooksLoaded.self) {
            $0.isLoading = false
            $0.books = ["Dune"]
        }
        await test.finish()

        let times = TestCore(
            Timestamp.epoch,
            reducer: .withContext { lastIncrease, _, context in
                lastIncrease = context.time
                return .none
            }
        )
        times.advance(by: .seconds(1))
        await times.send(CounterIncreaseRequested()) { $0 = Timestamp(milliseconds: 1_000) }
    }

    @Test func `a specification`() {
        ReducerSpec(Counter.reducer).given(Counter()).when(CounterIncreaseRequested())
            .then { $0.counter = 1 }
    }

    // MARK: Middlewares and thunks

    @Test func `middlewares`() {
        let logger = Middleware<Counter>.logger { entry in log(entry.new, entry.action) }
        let stepsOnly = Middleware<Counter> { action, store, next in
            guard action is StepChangeRequested else { throw Rejection(.refused, "only steps") }
            return try next(action)
        }
        let core = Core(Counter(), reducer: Counter.reducer, middleware: [logger, stepsOnly])
        core.dispatch(StepChangeRequested(step: 7))
        core.dispatch(CounterIncreaseRequested())
        #expect(core.state == Counter(step: 7))
        #expect(logged.values == ["0 StepChangeRequested", "0 CounterIncreaseRequested"])
    }

    @Test func `a thunk does not see the change of an action that it dispatches, the next thunk does`() async throws {
        let core = Core(
            Counter(),
            reducer: Counter.reducer,
            middleware: [.thunk, .logger { entry in log(entry.new, entry.action) }]
        )
        let thunk = Thunk<Counter, [Int]> { store in
            let before = store.state.counter
            store.dispatch(CounterIncreaseRequested())
            let after = store.state.counter
            store.dispatch(Thunk<Counter, Void> { store in show(store.state) })
            return [before, after]
        }
        let values = try await core.send(thunk)
        #expect(values == [0, 0])
        let later = try await core.send(Thunk<Counter, Int> { store in store.state.counter })
        #expect(later == 1)
        #expect(shown.values == [Counter(counter: 1)])
    }
}

private struct App: Equatable, Sendable {
    var counter = Counter()
    var library = Library()
    var editor: Counter?
    var rows: Table<Int, Counter> = [1: Counter(), 2: Counter()]
}

private protocol RowAction: Action {
    var row: Int { get }
}

/// Shows its props, which are the state of a scope.
@MainActor private final class NumberView: ViewComponent {
    var props = 0
}

/// Computes its own props.
@MainActor private final class NumberLabel: ViewComponent, Connector {
    var props = ""

    nonisolated func props(from counter: Counter, at now: Timestamp) -> String { "#\(counter.counter)" }
}

private func reduce(_ state: inout Counter, _ action: any Action) {
    if action is CounterIncreaseRequested { state.counter += state.step }
}

private func reduce(_ state: inout Library, _ action: any Action) -> Effect {
    switch action {
    case is BooksRequested:
        return .run(id: "load") { send in await send(BooksLoaded(books: await fetch())) }
    case let action as BooksLoaded:
        state.books = action.books
        return .none
    default:
        return .run { send in await send(BooksLoaded(books: await fetch())) }
    }
}

private func next(_ counter: Counter, _ action: any Action) -> Counter {
    action is CounterIncreaseRequested ? Counter(counter: counter.counter + 1) : counter
}

private func fetch() async -> [String] { ["Dune"] }
