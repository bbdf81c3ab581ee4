import StateCore
import StatecastTesting
import Testing

@Suite struct FinishTests {
    let core = TestCore(Library(), reducer: Library.reducer())

    @Test func `an action that nobody received is an issue`() async {
        await core.send(LoadRequested()) { $0.isLoading = true }
        await expectIssues("Waiting to be received: BooksLoaded") { await core.finish() }
    }

    @Test func `an action that was sent at once and that nobody received is an issue`() async {
        await core.send(Wanted(.dispatch(Reached(1))))
        await expectIssues("Waiting to be received: Reached. Still running: nothing") { await core.finish() }
    }

    @Test func `an effect that does not end is an issue that names it`() async {
        let core = TestCore(Library(), reducer: Library.reducer(), patience: .zero)
        let gate = Gate()
        await core.send(Wanted(.run(id: "slow") { _ in await gate.wait() }))
        await expectIssues("Still running: run(id: slow) of Wanted") { await core.finish() }
    }

    @Test func `effects that end by themselves are waited for`() async {
        let gate = Gate()
        let ended = Spy<Int>()
        await core.send(
            Wanted(
                .run { _ in
                    await gate.wait()
                    ended(1)
                }
            )
        )
        await gate.reached()
        gate.open()
        await core.finish()
        #expect(ended.values == [1])
    }

    @Test func `a cancelled effect need not end`() async {
        let (running, ended) = (Gate(), Gate())
        // Waiting for it would be seen.
        core.patience = .seconds(1_000)
        await core.send(
            Wanted(
                .run(id: 1) { _ in
                    // In a task of its own, which takes no notice of the cancellation.
                    await Task.detached { await running.wait() }.value
                    ended.open()
                }
            )
        )
        await running.reached()
        await core.send(Wanted(.merge(.cancel(id: 1), .run(id: 1) { _ in })))
        await core.finish()
        running.open()
        await ended.wait()
    }

    @Test func `an effect that a sequence cancelled need not end`() async {
        let (running, ended) = (Gate(), Gate())
        await core.send(
            Wanted(
                .run(id: 1) { _ in
                    await Task.detached { await running.wait() }.value
                    ended.open()
                }
            )
        )
        await running.reached()
        await core.send(Wanted(.sequence(.run { _ in }, .cancel(id: 1), .dispatch(Reached(1)))))
        await core.receive(Reached(1))
        core.patience = .zero
        await core.finish()
        running.open()
        await ended.wait()
    }

    @Test func `what is sent behind a cancelled piece of work in a sequence has to be received`() async {
        let gate = Gate()
        await core.send(Wanted(.sequence(.run(id: 1) { _ in await gate.wait() }, .dispatch(Reached(1)))))
        await gate.reached()
        await core.send(Wanted(.cancel(id: 1)))
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `what was reported once is over`() async {
        let gate = Gate()
        await core.send(
            Wanted(
                .run { send in
                    await Task.detached { await gate.wait() }.value
                    await send(Reached(1))
                }
            )
        )
        await gate.reached()
        core.patience = .zero
        await expectIssues("Still running: run of Wanted") { await core.finish() }
        // Waiting for it again would be seen.
        core.patience = .seconds(1_000)
        await core.finish()
        gate.open()
    }

    @Test func `a core whose effects are not seen to the end is an issue`() async {
        await expectIssues("call finish() last") {
            let core = TestCore(Library(), reducer: Library.reducer())
            await core.send(Wanted(.run { _ in }))
        }
        await expectIssues("call finish() last") {
            let core = TestCore(
                Library(),
                reducer: Library.reducer(),
                middleware: [
                    Middleware { action, store, next in
                        store.dispatch(Reached(2))
                        return try next(action)
                    }
                ]
            )
            await core.send(Reached(1))
        }
    }

    @Test func `a core without effects need not be finished`() async {
        let core = TestCore(Library(books: ["Dune"]), reducer: Library.reducer())
        await core.send(BookLent(book: "Dune")) { $0.books = [] }
    }

    @Test func `whoever waits for an action of theirs goes on when the core ends`() async {
        let gate = Gate()
        await core.send(
            Wanted(
                .run { send in
                    await send(Reached(1))
                    gate.open()
                }
            )
        )
        await expectIssues("Waiting to be received: Reached") { await core.finish() }
        await gate.wait()
    }

    @Test func `whoever has sent an action and is cancelled goes on`() async {
        let gate = Gate()
        await core.awaitArrival(of: Reached(1), id: 1) { gate.open() }
        await core.send(Wanted(.cancel(id: 1)))
        await gate.wait()
        await core.finish()
    }

    @Test func `whoever is cancelled and then sends an action goes on`() async {
        let (gate, ended) = (Gate(), Gate())
        await core.send(
            Wanted(
                .run(id: 1) { send in
                    await gate.wait()
                    await send(Reached(1))
                    ended.open()
                }
            )
        )
        await gate.reached()
        await core.send(Wanted(.cancel(id: 1)))
        await ended.wait()
        await core.finish()
    }

    @Test func `whoever sends an action to a core that is gone goes on`() async {
        let (gate, ended) = (Gate(), Gate())
        do {
            let core = TestCore(Library(), reducer: Library.reducer(), isExhaustive: false)
            await core.send(
                Wanted(
                    .run { send in
                        await Task.detached { await gate.wait() }.value
                        await send(Reached(1))
                        ended.open()
                    }
                )
            )
            await gate.reached()
        }
        gate.open()
        await ended.wait()
    }
}
