import StatecastCore
import StatecastTesting
import Testing

@Suite struct AdvanceTests {
    let core = TestCore(Library(), reducer: Library.reducer())

    @Test func `a delayed action comes when its time has come`() async {
        await core.send(Wanted(.delay(BooksLoaded(books: ["Dune"]), for: .seconds(3), id: "later")))
        core.advance(by: .seconds(2))
        core.advance(by: .seconds(1))
        await core.receive(BooksLoaded(books: ["Dune"])) {
            $0.books = ["Dune"]
            $0.loadedAt = Timestamp(milliseconds: 3_000)
        }
        await core.finish()
    }

    @Test func `a debounced action comes once, after the last request`() async {
        for text in 1...3 {
            await core.send(Wanted(.debounce(Reached(text), for: .milliseconds(300), id: "search")))
            core.advance(by: .milliseconds(200))
        }
        core.advance(by: .milliseconds(100))
        await core.receive(Reached(3))
        await core.finish()
    }

    @Test func `a repeated action comes at each period until it is cancelled`() async {
        await core.send(Wanted(.repeat(Reached(1), every: .seconds(1), id: "tick")))
        for _ in 1...3 {
            core.advance(by: .seconds(1))
            await core.receive(Reached(1))
        }
        await core.send(Wanted(.cancel(id: "tick")))
        core.advance(by: .seconds(9))
        await core.finish()
        #expect(core.time == Timestamp(milliseconds: 12_000))
    }

    @Test func `a sequence of delays adds up`() async {
        await core.send(
            Wanted(.sequence(.delay(Reached(1), for: .seconds(1)), .delay(Reached(2), for: .seconds(2))))
        )
        core.advance(by: .seconds(1))
        await core.receive(Reached(1))
        core.advance(by: .seconds(2))
        await core.receive(Reached(2))
        await core.finish()
    }

    @Test func `actions of one time come in the order of their effects, before a later action`() async {
        await core.send(Wanted(.merge(.delay(Reached(1), for: .seconds(1)), .delay(Reached(2), for: .seconds(1)))))
        core.advance(by: .seconds(1))
        await expectIssues("Receive first: Reached, Reached") { await core.send(Reached(3)) }
        await core.receive(Reached(1))
        await core.receive(Reached(2))
        await core.finish()
    }

    @Test func `an action that is due before the end is an issue that says when, and the time stays there`() async {
        await core.send(Wanted(.repeat(Reached(1), every: .seconds(1), id: "tick")))
        await expectIssues("Reached was due after 1.0 seconds: advance by that, receive it, and then") {
            core.advance(by: .seconds(3))
        }
        #expect(core.time == Timestamp(milliseconds: 1_000))
        await core.receive(Reached(1))
        await core.send(Wanted(.cancel(id: "tick")))
        await core.finish()
    }

    @Test func `an action that was not received holds the time`() async {
        await core.send(Wanted(.delay(Reached(1), for: .seconds(1))))
        core.advance(by: .seconds(1))
        await expectIssues("Receive first: Reached") { core.advance(by: .zero) }
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `a delay that is not over is an issue at once, which names it`() async {
        // The test would hang if it waited.
        core.patience = .seconds(1_000)
        await core.send(Wanted(.delay(Reached(1), for: .seconds(3), id: "later")))
        let left = "Still running: delay(Reached(point: 1), for: 3.0 seconds, id: later) of Wanted"
        await expectIssues(left) { await core.receive(Reached(1)) }
        await expectIssues(left) { await core.finish() }
    }

    @Test func `a core that is not exhaustive reduces each action at its time`() async {
        core.isExhaustive = false
        await core.send(Wanted(.delay(BooksLoaded(books: ["Dune"]), for: .seconds(1))))
        await core.send(Wanted(.repeat(Reached(1), every: .seconds(2), id: "tick")))
        core.advance(by: .seconds(6))
        #expect(core.state.loadedAt == Timestamp(milliseconds: 1_000))
        await core.receive(Reached(1))
        #expect(core.time == Timestamp(milliseconds: 6_000))
        await core.finish()
    }

    @Test func `a specification names delays, with their actions`() async {
        let spec = ReducerSpec(Library.reducer()).given(Library())
        spec.when(Wanted(.debounce(Reached(1), for: .seconds(3), id: "search")))
            .then(effects: .cancel(id: "search"), .delay(Reached(1), for: .seconds(3), id: "search"))
            .when(Wanted(.repeat(Reached(2), every: .seconds(1), id: "tick")))
            .then(effects: .repeat(Reached(2), every: .seconds(1), id: "tick"))
        await expectIssues("delay(Reached(point: 2), for: 3.0 seconds)") {
            spec.when(Wanted(.delay(Reached(2), for: .seconds(3)))).then(effects: .delay(Reached(1), for: .seconds(3)))
        }
        await expectIssues("every: 2.0 seconds") {
            spec.when(Wanted(.repeat(Reached(1), every: .seconds(2), id: 1)))
                .then(effects: .repeat(Reached(1), every: .seconds(1), id: 1))
        }
    }
}
