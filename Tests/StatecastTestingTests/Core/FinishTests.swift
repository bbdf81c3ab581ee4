import StatecastCore
import StatecastTesting
import Testing

@Suite struct FinishTests {
    let core = TestCore(Library(), reducer: Library.reducer())

    @Test func `an action that is not received is an issue`() async {
        await core.send(LoadRequested()) { $0.isLoading = true }
        await expectIssues("Waiting to be received: BooksLoaded") { await core.finish() }
    }

    @Test func `a dispatched action that is not received is an issue`() async {
        await core.send(Wanted(.dispatch(Reached(1))))
        await expectIssues("Waiting to be received: Reached. Still running: nothing") { await core.finish() }
    }

    @Test func `an effect that does not end is an issue that names it`() async {
        let core = TestCore(Library(), reducer: Library.reducer(), patience: .zero)
        let latch = Latch()
        await core.send(Wanted(.run(id: "slow") { _ in await latch.wait() }))
        await expectIssues("Still running: run(id: slow) of Wanted") { await core.finish() }
    }

    @Test func `finish waits for effects`() async {
        let latch = Latch()
        let ended = Spy<Int>()
        await core.send(
            Wanted(
                .run { _ in
                    await latch.wait()
                    ended(1)
                }
            )
        )
        await latch.reached()
        latch.open()
        await core.finish()
        #expect(ended.values == [1])
    }

    @Test func `a cancelled effect need not end`() async {
        let (running, ended) = (Latch(), Latch())
        // The test would hang if it waited for it.
        core.patience = .seconds(1_000)
        await core.send(
            Wanted(
                .run(id: 1) { _ in
                    // In another task, which ignores the cancellation.
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
        let (running, ended) = (Latch(), Latch())
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

    @Test func `an action after cancelled work in a sequence has to be received`() async {
        let latch = Latch()
        await core.send(Wanted(.sequence(.run(id: 1) { _ in await latch.wait() }, .dispatch(Reached(1)))))
        await latch.reached()
        await core.send(Wanted(.cancel(id: 1)))
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `an effect is reported once`() async {
        let latch = Latch()
        await core.send(
            Wanted(
                .run { send in
                    await Task.detached { await latch.wait() }.value
                    await send(Reached(1))
                }
            )
        )
        await latch.reached()
        core.patience = .zero
        await expectIssues("Still running: run of Wanted") { await core.finish() }
        // The test would hang if it waited for it again.
        core.patience = .seconds(1_000)
        await core.finish()
        latch.open()
    }

    @Test func `a core without finish() is an issue if it has effects`() async {
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

    @Test func `an effect whose action is pending continues when the core ends`() async {
        let latch = Latch()
        await core.send(
            Wanted(
                .run { send in
                    await send(Reached(1))
                    latch.open()
                }
            )
        )
        await expectIssues("Waiting to be received: Reached") { await core.finish() }
        await latch.wait()
    }

    @Test func `a cancelled effect whose action is pending continues`() async {
        let latch = Latch()
        await core.awaitArrival(of: Reached(1), id: 1) { latch.open() }
        await core.send(Wanted(.cancel(id: 1)))
        await latch.wait()
        await core.finish()
    }

    @Test func `a cancelled effect that sends an action continues`() async {
        let (latch, ended) = (Latch(), Latch())
        await core.send(
            Wanted(
                .run(id: 1) { send in
                    await latch.wait()
                    await send(Reached(1))
                    ended.open()
                }
            )
        )
        await latch.reached()
        await core.send(Wanted(.cancel(id: 1)))
        await ended.wait()
        await core.finish()
    }

    @Test func `an effect that sends an action to a released core continues`() async {
        let (latch, ended) = (Latch(), Latch())
        do {
            let core = TestCore(Library(), reducer: Library.reducer(), isExhaustive: false)
            await core.send(
                Wanted(
                    .run { send in
                        await Task.detached { await latch.wait() }.value
                        await send(Reached(1))
                        ended.open()
                    }
                )
            )
            await latch.reached()
        }
        latch.open()
        await ended.wait()
    }
}
