import Foundation
import Testing

@testable import StatecastCore

@Suite struct `Starting effects` {
    @Test(arguments: [false, true])
    func `Effects start in the order of the calls, each up to its first suspension before the next`(
        inOneAction: Bool
    ) async {
        let begun = Recorder<Int>()
        let count = 1_000
        let recording = { @Sendable (number: Int) -> Effect in
            .run { _ in
                // Two steps, between which no other effect may start.
                begun.record(number * 2)
                if number.isMultiple(of: 50) { for _ in 0..<20 { sched_yield() } }
                begun.record(number * 2 + 1)
                await Task.yield()
            }
        }
        let runner = EffectRunner { $0.complete() }
        let key = IdempotencyKey(revision: 1, index: 0)
        if inOneAction {
            runner.start(.merge((0..<count).map(recording)), key: key)
        } else {
            for number in 0..<count { runner.start(recording(number), key: key) }
        }
        let order = await begun.reaching(count * 2)
        #expect(order == Array(0..<count * 2))
    }

    @Test func `Starting effects is delayed by busy effects of the same core only, and never delays actions`() async {
        let goOn = Gate()
        let ended = Gate()
        let core = effectCore([
            "busy": .run { _ in
                goOn.block()
                ended.open()
            }
        ])
        let other = effectCore(["other": .run { _ in goOn.open() }])
        core.dispatch(Perform("busy"))
        core.dispatch(Append(1))
        #expect(core.state.entries == [1])
        other.dispatch(Perform("other"))
        await ended.passed()
    }

    @Test func `Starting effects is not delayed by an effect that sends in a loop`() async {
        let sent = Recorder<Void>()
        let goOn = Gate()
        let ended = Gate()
        let core = Core(
            0,
            reducer: Reducer<Int> { count, action -> Effect in
                switch action {
                case is Append:
                    count += 1
                    return .none
                case let action as Perform where action.effect == "loop":
                    return .run { send in
                        while !goOn.isOpen {
                            await send(Append(1))
                            sent.record(())
                        }
                        ended.open()
                    }
                default: return .run { _ in goOn.open() }
                }
            },
            now: { .epoch }
        )
        core.dispatch(Perform("loop"))
        await sent.reaching(1)
        core.dispatch(Perform("other"))
        await ended.passed()
    }

    @Test func `Starting effects is not delayed by more loops of sends than there are processors`() async {
        let loops = ProcessInfo.processInfo.activeProcessorCount * 2
        let goOn = Gate()
        let ended = Recorder<Void>()
        // One core each: their actions are reduced at once, and they never suspend.
        let cores = (0..<loops).map { _ in
            effectCore([
                "loop": .run { send in
                    // From here on it runs in the cooperative pool.
                    await Task.yield()
                    while !goOn.isOpen { await send(Unknown()) }
                    ended.record(())
                },
                "other": .run { _ in
                    await Task.yield()
                    goOn.open()
                },
            ])
        }
        for core in cores { core.dispatch(Perform("loop")) }
        cores[0].dispatch(Perform("other"))
        await ended.reaching(loops)
    }

    private struct Unknown: Action {}

    @Test func `Starting effects is not delayed by suspended effects, nor are actions`() async {
        let waiting = Recorder<Void>()
        let goOn = Gate()
        let ended = Recorder<Void>()
        let count = 200
        let core = effectCore([
            "wait": .run { _ in
                waiting.record(())
                await goOn.passed()
                ended.record(())
            },
            "send": .run { send in await send(Append(2)) },
        ])
        let seen = Recorder<[Int]>()
        for _ in 0..<count { core.dispatch(Perform("wait")) }
        await waiting.reaching(count)
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Append(1))
        #expect(core.state.entries == [1])
        core.dispatch(Perform("send"))
        let last = await seen.reaching(3).last
        #expect(last == [1, 2])
        #expect(ended.all.isEmpty)
        goOn.open()
        await ended.reaching(count)
        subscription.cancel()
    }

    @Test func `Starting effects follows the notification of their action's observers`() async {
        let steps = Recorder<String>()
        let core = effectCore(["it": .run { _ in steps.record("effect") }])
        let subscription = core.observe(replay: .none) { _ in
            steps.record("observer 1")
            steps.record("observer 2")
        }
        core.dispatch(Perform("it"))
        let order = await steps.reaching(3)
        #expect(order == ["observer 1", "observer 2", "effect"])
        subscription.cancel()
    }

    @Test func `Starting effects uses the initial effect once per start, given the state`() async {
        let begun = Recorder<[Int]>()
        let keys = Recorder<IdempotencyKey>()
        let core = Core(Log(entries: [7]), reducer: Log.reducer, now: { .epoch }) { log in
            begun.record(log.entries)
            return .run { send in
                keys.record(send.idempotencyKey)
                await send(Append(8))
            }
        }
        let seen = Recorder<[Int]>()
        let subscription = core.observe { seen.record($0.new.entries) }
        await keys.reaching(1)
        core.start()
        #expect(begun.all == [[7]])
        while core.state.entries != [7, 8] { await Task.yield() }
        core.stop()
        core.replace(Log(entries: [9]))
        core.start()
        core.start()
        // The thread of the last action may still drain the queue, including these requests.
        let all = await keys.reaching(2)
        #expect(begun.all == [[7], [9]])
        #expect(all[0] == IdempotencyKey(revision: 0, index: 0, start: 1))
        #expect(all[1] == IdempotencyKey(revision: 2, index: 0, start: 2))
        subscription.cancel()
    }

    @Test func `Starting effects gives each unit of work a key by its position in the order written`() async {
        let keys = Recorder<(String, IdempotencyKey)>()
        let noting = { @Sendable (name: String) -> Effect in .run { keys.record((name, $0.idempotencyKey)) } }
        let blocking = { @Sendable (name: String) -> Effect in .blocking { keys.record((name, $0.idempotencyKey)) } }
        let core = effectCore([
            "it": .merge(
                noting("0"),
                .dispatch(Append(1)),
                .sequence(noting("1"), .merge(noting("2"), blocking("3")), .cancel(id: "x"), noting("4")),
                .merge(.sequence(blocking("5"), noting("6")), noting("7")),
                noting("8")
            )
        ])
        core.dispatch(Append(0))
        core.dispatch(Perform("it"))
        let all = await keys.reaching(9).sorted { $0.0 < $1.0 }
        #expect(all.map(\.0) == (0...8).map { "\($0)" })
        #expect(all.map(\.1) == (0...8).map { IdempotencyKey(revision: 2, index: $0) })
    }

    @Test func `Starting effects describes keys by history, revision, index and start`() {
        #expect("\(IdempotencyKey(revision: 3, index: 1))" == "3/1")
        #expect("\(IdempotencyKey(lineage: "a", revision: 3, index: 1, start: 2))" == "a/3/1/start-2")
    }
}
