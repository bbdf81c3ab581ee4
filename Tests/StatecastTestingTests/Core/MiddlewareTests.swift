import StatecastCore
import StatecastTesting
import Testing

@Suite struct MiddlewareTests {
    private func core(_ middleware: Middleware<Library>...) -> TestCore<Library> {
        TestCore(Library(books: ["Dune"]), reducer: Library.reducer(), middleware: middleware)
    }

    private let policy = Middleware<Library>.policy { action, store in
        if action is BookLent, store.context.user == nil { throw Rejection(.refused, "who is it?") }
    }

    @Test func `an expected rejection is asserted by its code`() async {
        let core = core(policy)
        await core.send(BookLent(book: "Dune"), rejected: .refused)
        await core.send(BookLent(book: "Dune"), user: "ada") {
            $0.books = []
            $0.lastReader = "ada"
        }
    }

    @Test func `an unexpected, a different and a missing rejection is an issue`() async {
        let core = core(policy)
        await expectIssues("was rejected: refused: who is it?") { await core.send(BookLent(book: "Dune")) }
        await expectIssues("expected: swallowed") { await core.send(BookLent(book: "Dune"), rejected: .swallowed) }
        await expectIssues("Reached was not rejected") { await core.send(Reached(1), rejected: .refused) }
    }

    @Test func `actions of effects pass the middlewares`() async {
        let core = core(policy)
        await core.send(Wanted(.dispatch(BookLent(book: "Dune"))))
        await core.receive(BookLent.self, rejected: .refused)
        await core.send(Wanted(.dispatch(BookLent(book: "Dune"))))
        await expectIssues("BookLent was rejected") { await core.receive(BookLent(book: "Dune")) }
        await core.finish()
    }

    @Test func `actions of a middleware are received, now or later`() async {
        let (latch, dispatched) = (Latch(), Latch())
        let core = core(
            Middleware { action, store, next in
                if action is LoadCancelled {
                    store.dispatch(Reached(1))
                    let dispatcher = store.dispatcher
                    Task {
                        await latch.wait()
                        dispatcher.dispatch(Reached(2))
                        dispatched.open()
                    }
                }
                return try next(action)
            }
        )
        await core.send(LoadCancelled())
        await expectIssues("Receive first: Reached") { await core.send(Reached(3)) }
        await core.receive(Reached(1))
        latch.open()
        await dispatched.wait()
        await core.send(Reached(4))
        await core.receive(Reached(2))
        await core.finish()
    }

    @Test func `a thunk replies`() async {
        let core = core(.thunk)
        let answer = await core.send(
            Thunk<Library, Int> { store in
                store.dispatch(BookLent(book: "Dune"))
                return store.state.books.count
            }
        )
        #expect(answer as? Int == 1)
        await core.receive(BookLent.self) { $0.books = [] }
        await core.finish()
    }

    @Test func `a runtime warning is an issue`() async {
        let core = core(
            Middleware { action, _, next in
                _ = try next(action)
                return try next(action)
            }
        )
        await expectIssues("a middleware passed Reached on twice") { await core.send(Reached(1)) }
    }
}
