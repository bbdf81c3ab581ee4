import Testing

@testable import StatecastCore

@Suite struct `Cancelling effects` {
    /// Work that records its start and its cancellation.
    private func work(_ name: String, id: some Hashable & Sendable, noting steps: Recorder<String>) -> Effect {
        .run(id: id) { _ in
            steps.record("begin \(name)")
            await cancellation()
            steps.record("end \(name)")
        }
    }

    @Test func `Cancelling effects ends all effects with the id, and no others`() async {
        let steps = Recorder<String>()
        let core = effectCore([
            "begin": .merge(
                work("a", id: "x", noting: steps),
                work("b", id: "y", noting: steps),
                work("c", id: "x", noting: steps)
            ),
            "cancel x": .cancel(id: "x"),
            "cancel y": .cancel(id: "y"),
            "cancel z": .cancel(id: "z"),
        ])
        core.dispatch(Perform("begin"))
        await steps.reaching(3)
        core.dispatch(Perform("cancel z"))
        #expect(core.effects.runningCount == 3)
        core.dispatch(Perform("cancel x"))
        #expect(core.effects.runningCount == 1)
        let ended = await steps.reaching(5).suffix(2).sorted()
        #expect(ended == ["end a", "end c"])
        core.dispatch(Perform("cancel y"))
        #expect(core.effects.runningCount == 0)
        let last = await steps.reaching(6).last
        #expect(last == "end b")
    }

    @Test func `Cancelling effects distinguishes ids of different types`() async {
        enum Job: Hashable, Sendable { case load }
        let steps = Recorder<String>()
        let core = effectCore([
            "begin": .merge(work("a", id: Job.load, noting: steps), work("b", id: "load", noting: steps)),
            "cancel": .cancel(id: Job.load),
        ])
        core.dispatch(Perform("begin"))
        await steps.reaching(2)
        core.dispatch(Perform("cancel"))
        let last = await steps.reaching(3).last
        #expect(last == "end a")
        #expect(core.effects.runningCount == 1)
    }

    @Test func `Cancelling effects distinguishes equal numbers of different types`() {
        #expect(AnyID(1) == AnyID(1))
        #expect(AnyID(1) != AnyID(UInt8(1)))
        #expect(AnyID(1) != AnyID(1.0))
        #expect(AnyID(1).hashValue == AnyID(1).hashValue)
        #expect(Set([AnyID(1), AnyID(1.0), AnyID(UInt8(1)), AnyID(1)]).count == 3)
    }

    @Test func `Cancelling effects drops queued results`() async {
        let cancelIsInLine = Gate()
        let resultIsInLine = Gate()
        let returned = Gate()
        let core = effectCore([
            "begin": .merge(
                // Blocks on purpose: the next effect starts when this one first suspends, which is while it sends.
                .run(id: "late") { send in
                    blocked(by: cancelIsInLine)
                    await send(Append(1))
                    returned.open()
                },
                .run { _ in resultIsInLine.open() }
            ),
            "cancel": .cancel(id: "late"),
        ])
        let order = Recorder<String>()
        let subscription = core.observe(replay: .none) { [weak core] change in
            order.record((change.action as? Perform)?.effect ?? "\(change.new.entries)")
            switch change.action {
            case let action as Perform where action.effect == "begin": core?.dispatch(Perform("hold"))
            case let action as Perform where action.effect == "hold":
                core?.dispatch(Perform("cancel"))
                cancelIsInLine.open()
                resultIsInLine.block()
            default: break
            }
        }
        await onThreads(1) { _ in core.dispatch(Perform("begin")) }
        await returned.passed()
        #expect(order.all == ["begin", "hold", "cancel"])
        #expect(core.state.entries.isEmpty)
        subscription.cancel()
    }

    @Test func `Cancelling effects does not affect a result that is reduced before it`() async {
        let results = Recorder<EffectAction>()
        let completed = Gate()
        let runner = EffectRunner { results.record($0) }
        let work = Effect.run(id: 1) { send in
            await send(Append(1))
            completed.open()
        }
        runner.start(work, key: IdempotencyKey(revision: 1, index: 0))
        let result = await results.reaching(1)[0]
        #expect(result.isWanted)
        runner.start(.cancel(id: 2), key: IdempotencyKey(revision: 2, index: 0))
        #expect(result.isWanted)
        runner.start(.cancel(id: 1), key: IdempotencyKey(revision: 3, index: 0))
        #expect(!result.isWanted)
        #expect(!completed.isOpen)
        result.complete()
        await completed.passed()
    }

    @Test(arguments: [false, true])
    func `Cancelling effects drops later results, and the work continues`(isBlocking: Bool) async {
        let started = Gate()
        let goOn = Gate()
        let returned = Gate()
        let work: Effect =
            isBlocking
            ? .blocking(id: "late") { send in
                started.open()
                goOn.block()
                send(Append(1))
                if send.isCancelled { returned.open() }
            }
            : .run(id: "late") { send in
                started.open()
                await goOn.passed()
                await send(Append(1))
                if Task.isCancelled { returned.open() }
            }
        let core = effectCore(["begin": work, "cancel": .cancel(id: "late")])
        core.dispatch(Perform("begin"))
        await started.passed()
        core.dispatch(Perform("cancel"))
        goOn.open()
        await returned.passed()
        #expect(core.state.entries.isEmpty)
    }

    @Test func `Cancelling effects cancels work that has not started yet`() async {
        let held = Gate()
        let goOn = Gate()
        let begun = Recorder<Bool>()
        let wanted = Recorder<Bool>()
        let runner = EffectRunner { result in
            wanted.record(result.isWanted)
            result.complete()
        }
        let hold = Effect.run { _ in
            held.open()
            blocked(by: goOn)
        }
        let begin = Effect.run(id: "late") { send in
            begun.record(Task.isCancelled)
            await send(Append(1))
            begun.record(Task.isCancelled)
        }
        runner.start(hold, key: IdempotencyKey(revision: 1, index: 0))
        await held.passed()
        runner.start(begin, key: IdempotencyKey(revision: 2, index: 0))
        runner.start(.cancel(id: "late"), key: IdempotencyKey(revision: 3, index: 0))
        goOn.open()
        let all = await begun.reaching(2)
        #expect(all == [true, true])
        #expect(wanted.all == [false])
    }

    @Test func `Cancelling effects may be part of the effect that replaces it`() async {
        let steps = Recorder<String>()
        func replacing(_ name: String) -> Effect {
            .run(id: "x", cancelInFlight: true) { _ in
                steps.record("begin \(name)")
                await cancellation()
                steps.record("end \(name)")
            }
        }
        let core = effectCore([
            "a": replacing("a"),
            "b": replacing("b"),
            "blocking": .blocking(id: "x", cancelInFlight: true) { send in
                steps.record("begin blocking")
                send(Append(1))
            },
        ])
        core.dispatch(Perform("a"))
        await steps.reaching(1)
        core.dispatch(Perform("b"))
        let replaced = await steps.reaching(3)
        #expect(replaced.first == "begin a")
        #expect(replaced.dropFirst().sorted() == ["begin b", "end a"])
        #expect(core.effects.runningCount == 1)
        core.dispatch(Perform("blocking"))
        let last = await steps.reaching(5).suffix(2).sorted()
        #expect(last == ["begin blocking", "end b"])
    }
}

/// Blocks the thread, even in a task.
private func blocked(by gate: Gate) {
    gate.block()
}
