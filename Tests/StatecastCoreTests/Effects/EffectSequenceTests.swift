import Testing

@testable import StatecastCore

@Suite struct `A sequence of effects` {
    @Test func `A sequence of effects starts each effect when the one before has ended`() async {
        let steps = Recorder<String>()
        let goOn = Gate()
        let core = effectCore([
            "it": .sequence(
                .run { _ in
                    steps.record("begin 1")
                    await goOn.passed()
                    steps.record("end 1")
                },
                .merge(
                    .blocking { _ in steps.record("middle") },
                    .run { _ in steps.record("middle") }
                ),
                .run { _ in steps.record("last") }
            ),
            "probe": .run { _ in steps.record("probe") },
        ])
        core.dispatch(Perform("it"))
        // Effects start in order: if the second step had been started, it would precede the probe.
        core.dispatch(Perform("probe"))
        let early = await steps.reaching(2)
        #expect(early == ["begin 1", "probe"])
        goOn.open()
        let all = await steps.reaching(6)
        #expect(all == ["begin 1", "probe", "end 1", "middle", "middle", "last"])
    }

    @Test func `A sequence of effects continues when the effect before was cancelled and has ended`() async {
        let steps = Recorder<String>()
        let core = effectCore([
            "it": .sequence(
                .run(id: "first") { _ in
                    steps.record("begin 1")
                    await cancellation()
                    steps.record("end 1")
                },
                .run { _ in steps.record("second") }
            ),
            "cancel": .cancel(id: "first"),
        ])
        core.dispatch(Perform("it"))
        await steps.reaching(1)
        core.dispatch(Perform("cancel"))
        let all = await steps.reaching(3)
        #expect(all == ["begin 1", "end 1", "second"])
    }

    @Test func `A sequence of effects does not continue after the core was stopped, even if it runs again`() async {
        let steps = Recorder<String>()
        let goOn = Gate()
        let core = effectCore([
            "it": .sequence(
                .run { _ in
                    steps.record("begin 1")
                    await goOn.passed()
                    steps.record("end 1")
                },
                .run { _ in steps.record("second") },
                .dispatch(Append(1))
            ),
            "probe": .sequence(.run { _ in steps.record("probe") }, .run { _ in steps.record("probe") }),
        ])
        core.dispatch(Perform("it"))
        await steps.reaching(1)
        core.stop()
        core.start()
        goOn.open()
        await steps.reaching(2)
        core.dispatch(Perform("probe"))
        let all = await steps.reaching(4)
        #expect(all == ["begin 1", "end 1", "probe", "probe"])
        #expect(core.state.entries.isEmpty)
    }

    @Test func `A sequence of effects differs from merged effects, which run concurrently`() async {
        let begun = Recorder<Int>()
        let goOn = Gate()
        let ended = Recorder<Int>()
        let work = { @Sendable (number: Int) -> Effect in
            .run { _ in
                begun.record(number)
                await goOn.passed()
                ended.record(number)
            }
        }
        let core = effectCore(["it": .merge(work(1), work(2), work(3))])
        core.dispatch(Perform("it"))
        let all = await begun.reaching(3)
        #expect(all == [1, 2, 3])
        #expect(ended.all.isEmpty)
        goOn.open()
        await ended.reaching(3)
    }

    @Test func `A sequence of effects supports 100,000 parts that end at once`() {
        let cancels = (0..<100_000).map { Effect.cancel(id: $0) }
        let sends = (0..<100_000).map { Effect.dispatch(Append($0)) }
        let isInOrder = delivered(by: .sequence(cancels + sends)) == Array(0..<100_000)
        #expect(isInOrder)
    }
}
