import StateCore
import StatecastTesting
import Testing

@Suite struct PartialTests {
    let core = TestCore(Library(books: ["Dune"]), reducer: Library.reducer(), isExhaustive: false)

    @Test func `only the fields that are named are compared`() async {
        await core.send(BookLent(book: "Dune"), user: "ada")
        #expect(core.state.lastReader == "ada")
        await core.send(LoadRequested()) { $0.isLoading = true }
        await core.receive(BooksLoaded.self) { $0.books = ["Dune"] }
        await expectIssues("The state after BookLent") {
            await core.send(BookLent(book: "Dune")) { $0.books = ["Dune"] }
        }
    }

    @Test func `what comes before the awaited action is reduced`() async {
        await core.send(
            Wanted(
                .run { send in
                    await send(BookLent(book: "Dune"))
                    await send(Reached(1))
                    await send(Reached(2))
                }
            )
        )
        await core.receive(Reached(2))
        #expect(core.state.books == [])
        await expectIssues("did not come") { await core.receive(BookLent.self) }
    }

    @Test func `what was sent at once is reduced before the next action`() async {
        await core.send(Wanted(.dispatch(BooksLoaded(books: ["Emma"]))))
        await core.send(BookLent(book: "Emma")) { $0.books = [] }
    }

    @Test func `what still runs and waits at the end is dropped`() async {
        let (gate, ended) = (Gate(), Gate())
        await core.send(
            Wanted(
                .merge(
                    .dispatch(Reached(1)),
                    .run { _ in
                        await gate.wait()
                        ended.open()
                    }
                )
            )
        )
        await gate.reached()
        await core.finish()
        await ended.wait()
    }
}
