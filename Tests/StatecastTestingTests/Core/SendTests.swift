import StateCore
import StatecastTesting
import Testing

@Suite struct SendTests {
    let core = TestCore(Library(books: ["Dune", "Emma"]), reducer: Library.reducer(), at: Timestamp(milliseconds: 7))

    @Test func `what a sent action changes is asserted`() async {
        await core.send(BookLent(book: "Dune")) { $0.books = ["Emma"] }
        #expect(core.state == Library(books: ["Emma"]))
    }

    @Test func `another change than expected is an issue`() async {
        await expectIssues("The state after BookLent") {
            await core.send(BookLent(book: "Dune")) { $0.books = ["Dune"] }
        }
    }

    @Test func `a change that nobody named is an issue`() async {
        await expectIssues("The state after BookLent") { await core.send(BookLent(book: "Dune")) }
        await expectIssues(#"lastReader: "ada""#) {
            await core.send(BookLent(book: "Emma"), user: "ada") { $0.books = [] }
        }
    }

    @Test func `an action brings its time, session and user along`() async {
        let seen = Spy<ActionContext>()
        let core = TestCore(0, reducer: Reducer { _, _, context in seen(context) }, at: Timestamp(milliseconds: 7))
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

    @Test func `what was sent at once has to be received before the next action is sent`() async {
        await core.send(Wanted(.dispatch(Reached(1))))
        await expectIssues("Receive first: Reached") { await core.send(Reached(2)) }
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `what an effect sends at its own pace may be received later`() async {
        await core.awaitArrival(of: Reached(1))
        await core.send(Reached(2))
        await core.receive(Reached(1))
        await core.finish()
    }
}
