import Testing

@testable import StatecastCore

@Suite struct `Work that throws` {
    private struct Trouble: Error {}

    @Test(arguments: ["run", "run with id", "blocking", "blocking with id"])
    func `Work that throws sends the action of its catch, after those before`(form: String) async {
        let failed: @Sendable (any Error) -> any Action = { error in Append(error is Trouble ? -1 : 0) }
        let core = effectCore([
            "run": .run { send in
                await send(Append(1))
                throw Trouble()
            } catch: {
                failed($0)
            },
            "run with id": .run(id: 1, cancelInFlight: true) { send in
                await send(Append(1))
                throw Trouble()
            } catch: {
                failed($0)
            },
            "blocking": .blocking { send in
                send(Append(1))
                throw Trouble()
            } catch: {
                failed($0)
            },
            "blocking with id": .blocking(id: 1, cancelInFlight: true) { send in
                send(Append(1))
                throw Trouble()
            } catch: {
                failed($0)
            },
        ])
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Perform(form))
        let last = await seen.reaching(3).last
        #expect(last == [1, -1])
        subscription.cancel()
    }

    @Test func `Work that throws sends nothing after it was cancelled`() async {
        let (begun, ended) = (Gate(), Gate())
        let core = effectCore([
            "it": .sequence(
                .run(id: 1) { _ in
                    begun.open()
                    await cancellation()
                    try Task.checkCancellation()
                } catch: { _ in
                    Append(-1)
                },
                .run { _ in ended.open() }
            ),
            "cancel": .cancel(id: 1),
        ])
        core.dispatch(Perform("it"))
        await begun.passed()
        core.dispatch(Perform("cancel"))
        await ended.passed()
        #expect(core.state.entries.isEmpty)
    }

    @Test func `Work that throws that ends without an error sends nothing more`() async {
        let core = effectCore([
            "it": .sequence(.run({ send in await send(Append(1)) }, catch: { _ in Append(-1) }), .dispatch(Append(2)))
        ])
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Perform("it"))
        let last = await seen.reaching(3).last
        #expect(last == [1, 2])
        subscription.cancel()
    }
}
