import StatecastCore
import StatecastTesting
import Testing

@Suite struct ReceiveTests {
    let core = TestCore(Library(), reducer: Library.reducer())
    let impatient = TestCore(Library(), reducer: Library.reducer(), patience: .zero)

    @Test func `the action of an effect waits until it is received`() async {
        await core.send(LoadRequested()) { $0.isLoading = true }
        core.time = Timestamp(milliseconds: 7)
        let loaded = await core.receive(BooksLoaded.self) {
            $0 = Library(books: ["Dune"], loadedAt: Timestamp(milliseconds: 7))
        }
        #expect(loaded == BooksLoaded(books: ["Dune"]))
        await core.finish()
    }

    @Test func `another change than expected is an issue`() async {
        await core.send(LoadRequested()) { $0.isLoading = true }
        await expectIssues("The state after BooksLoaded") {
            await core.receive(BooksLoaded(books: ["Dune"])) { $0.books = ["Dune"] }
        }
        await core.finish()
    }

    @Test func `another action of the type is an issue that shows the difference, and is reduced`() async {
        await core.send(Wanted(.dispatch(Reached(1))))
        await expectIssues("point: 2") { await core.receive(Reached(2)) }
        await core.send(Wanted(.run { await $0(BooksLoaded(books: ["Emma"])) }))
        await core.receive(where: { $0 is BooksLoaded }) { $0 = Library(books: ["Emma"], loadedAt: .epoch) }
        await core.finish()
    }

    @Test func `another action of the type from an effect that still runs is an issue when the patience ends`() async {
        await core.awaitArrival(of: Reached(1))
        core.patience = .zero
        await expectIssues("Received another Reached") { await core.receive(Reached(2)) }
        core.patience = .seconds(10)
        await core.finish()
    }

    @Test func `dispatched actions are received in order`() async {
        await core.send(Wanted(.merge(.dispatch(Reached(1)), .dispatch(LoadCancelled()))))
        await expectIssues("Reached was sent before") {
            #expect(await core.receive(LoadCancelled.self) == nil)
        }
        await core.receive(Reached.self)
        await core.receive(LoadCancelled())
        await core.finish()
    }

    @Test func `effects side by side may be received in any order`() async {
        await core.send(Wanted(.merge((1...3).map { point in .run { await $0(Reached(point)) } })))
        await core.receive(Reached(3))
        await core.receive(Reached(1))
        await core.receive(Reached(2))
        await core.finish()
    }

    @Test func `an effect continues once its action is received`() async {
        await core.send(
            Wanted(
                .run { send in
                    await send(Reached(1))
                    await send(Reached(2))
                }
            )
        )
        await core.receive(Reached(1))
        await core.receive(Reached(2))
        await core.finish()
    }

    @Test func `blocking work is received as well`() async {
        await core.send(Wanted(.blocking { $0(Reached(1)) }))
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `a sequence continues within the turn of its action`() async {
        await core.send(Wanted(.sequence(.dispatch(Reached(1)), .dispatch(Reached(2)), .run { await $0(Reached(3)) })))
        await core.receive(Reached(1))
        await expectIssues("Receive first: Reached") { await core.send(Reached(4)) }
        await core.receive(Reached(2))
        await core.receive(Reached(3))
        await core.finish()
    }

    @Test func `an action that no effect can send any more is an issue at once`() async {
        await expectIssues("Expected to receive Reached, but it did not come") {
            #expect(await core.receive(Reached.self) == nil)
        }
        await core.send(Wanted(.run { _ in }))
        await expectIssues("did not come") { await core.receive(Reached(1)) }
        await core.finish()
    }

    @Test func `an action that does not come in time is an issue that lists pending actions and running effects`() async
    {
        let latch = Latch()
        await impatient.send(Wanted(.run(id: "slow") { _ in await latch.wait() }))
        await expectIssues("Still running: run(id: slow) of Wanted") { await impatient.receive(Reached.self) }
        await impatient.send(Wanted(.cancel(id: "slow")))
        await impatient.finish()
    }

    @Test func `the action of a cancelled effect is not received`() async {
        await core.send(
            Wanted(
                .run(id: 1) { send in
                    await send(Reached(1))
                    await send(Reached(2))
                }
            )
        )
        await core.receive(Reached(1))
        await core.send(Wanted(.cancel(id: 1)))
        await expectIssues("did not come") { await core.receive(Reached(2)) }
        await core.finish()
    }

    @Test func `each piece of work has its key`() async {
        let keys = Spy<IdempotencyKey>()
        let work: @Sendable (Send) async -> Void = { keys($0.idempotencyKey) }
        await core.send(Wanted(.merge(.run(work), .sequence(.run(work), .run(work)), .run(work))))
        await core.finish()
        #expect(Set(keys.values) == Set((0...3).map { IdempotencyKey(revision: 1, index: $0) }))
    }

    @Test func `actions of the initial effect are received, too`() async {
        let keys = Spy<IdempotencyKey>()
        let core = TestCore(Library(isLoading: true), reducer: Library.reducer()) { library in
            .merge(.run { keys($0.idempotencyKey) }, .dispatch(Reached(library.isLoading ? 1 : 0)))
        }
        await core.receive(Reached(1))
        await core.finish()
        #expect(keys.values == [IdempotencyKey(revision: 0, index: 0, start: 1)])
    }
}
