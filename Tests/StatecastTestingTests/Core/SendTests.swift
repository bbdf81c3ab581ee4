import StatecastCore
import StatecastTesting
import Testing

@Suite struct SendTests {
    let core = TestCore(Library(books: ["Dune", "Emma"]), reducer: Library.reducer(), at: Timestamp(milliseconds: 7))

    @Test func `the changes of a sent action are asserted`() async {
        await core.send(BookLent(book: "Dune")) { $0.books = ["Emma"] }
        #expect(core.state == Library(books: ["Emma"]))
    }

    @Test func `another change than expected is an issue`() async {
        await expectIssues("The state after BookLent") {
            await core.send(BookLent(book: "Dune")) { $0.books = ["Dune"] }
        }
    }

    @Test func `an unnamed change is an issue`() async {
        await expectIssues("The state after BookLent") { await core.send(BookLent(book: "Dune")) }
        await expectIssues(#"lastReader: "ada""#) {
            await core.send(BookLent(book: "Emma"), user: "ada") { $0.books = [] }
        }
    }

    @Test func `an action has its time, session and user`() async {
        let seen = Spy<ActionContext>()
        let reducer = Reducer<Int>.withContext { _, _, context in
            seen(context)
            return .none
        }
        let core = TestCore(0, reducer: reducer, at: Timestamp(milliseconds: 7))
        await core.send(Reached(1), session: "s", user: "ada")
        core.time = Timestamp(milliseconds: 8)
        await core.send(Reached(2))
        #expect(
            seen.values == [
                ActionContext(time: Timestamp(milliseconds: 7), session: "s", user: "ada"),
                ActionContext(time: Timestamp(milliseconds: 8)),
            ]
        )
    }

    @Test func `a dispatched action has to be received before the next one is sent`() async {
        await core.send(Wanted(.dispatch(Reached(1))))
        await expectIssues("Receive first: Reached") { await core.send(Reached(2)) }
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `an action that an effect sends at its own pace may be received later`() async {
        await core.awaitArrival(of: Reached(1))
        await core.send(Reached(2))
        await core.receive(Reached(1))
        await core.finish()
    }
}

@Suite struct PartialTests {
    let core = TestCore(Library(books: ["Dune"]), reducer: Library.reducer(), isExhaustive: false)

    @Test func `only named fields are compared`() async {
        await core.send(BookLent(book: "Dune"), user: "ada")
        #expect(core.state.lastReader == "ada")
        await core.send(LoadRequested()) { $0.isLoading = true }
        await core.receive(BooksLoaded.self) { $0.books = ["Dune"] }
        await expectIssues("The state after BookLent") {
            await core.send(BookLent(book: "Dune")) { $0.books = ["Dune"] }
        }
    }

    @Test func `actions before the awaited one are reduced`() async {
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

    @Test func `a dispatched action is reduced before the next one`() async {
        await core.send(Wanted(.dispatch(BooksLoaded(books: ["Emma"]))))
        await core.send(BookLent(book: "Emma")) { $0.books = [] }
    }

    @Test func `running effects and pending actions are dropped at the end`() async {
        let (latch, ended) = (Latch(), Latch())
        await core.send(
            Wanted(
                .merge(
                    .dispatch(Reached(1)),
                    .run { _ in
                        await latch.wait()
                        ended.open()
                    }
                )
            )
        )
        await latch.reached()
        await core.finish()
        await ended.wait()
    }
}
