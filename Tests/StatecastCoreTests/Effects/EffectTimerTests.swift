import Testing

@testable import StatecastCore

/// A clock that a test moves.
private final class ManualClock: EffectClock {
    private let time = Box<Duration>(.zero)
    private let scheduled = Recorder<(deadline: Duration, body: @Sendable (Bool) -> Void)>()

    var now: Duration { time.value ?? .zero }
    var deadlines: [Duration] { scheduled.all.map(\.deadline) }

    func schedule(at deadline: Duration, _ body: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void {
        scheduled.record((deadline, body))
        return {}
    }

    /// Moves the time, and calls the timer that was scheduled last.
    func fire(at time: Duration) {
        self.time.set(time)
        scheduled.all.last?.body(true)
    }
}

@Suite struct `A delayed action` {
    @Test func `A delayed action is dispatched when its delay is over, as an ordinary action`() async {
        let core = effectCore(["it": .delay(Append(1), for: .milliseconds(1))])
        let seen = Recorder<Change<Log>>()
        let subscription = core.observe(replay: .none) { seen.record($0) }
        core.dispatch(Perform("it"))
        let changes = await seen.reaching(2)
        #expect(changes.map(\.revision) == [1, 2])
        #expect(changes[1].new.entries == [1])
        subscription.cancel()
    }

    @Test func `A delayed action is cancelled by its id`() {
        let core = effectCore([
            "it": .delay(Append(1), for: .seconds(86_400), id: "later"), "cancel": .cancel(id: "later"),
        ])
        core.dispatch(Perform("it"))
        #expect(core.effects.runningCount == 1)
        core.dispatch(Perform("cancel"))
        #expect(core.effects.runningCount == 0)
    }

    @Test func `A delayed action in a sequence precedes the parts after it, also if it is cancelled`() async {
        let core = effectCore([
            "it": .sequence(.delay(Append(1), for: .zero), .dispatch(Append(2))),
            "other": .sequence(.delay(Append(3), for: .seconds(86_400), id: "later"), .dispatch(Append(4))),
            "cancel": .cancel(id: "later"),
        ])
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { change in
            if change.action is Append { seen.record(change.new.entries) }
        }
        core.dispatch(Perform("it"))
        let first = await seen.reaching(2).last
        #expect(first == [1, 2])
        core.dispatch(Perform("other"))
        core.dispatch(Perform("cancel"))
        let last = await seen.reaching(3).last
        #expect(last == [1, 2, 4])
        subscription.cancel()
    }

    @Test func `A delayed action ends with the core, which it does not retain`() async {
        let ended = Gate()
        let witness = Box<Witness>(Witness { ended.open() })
        var core: Core<Log>? = effectCore([
            "it": .sequence(.delay(Append(1), for: .seconds(86_400)), .run { [held = witness.value] _ in _ = held })
        ])
        witness.set(nil)
        core?.dispatch(Perform("it"))
        core?.stop()
        #expect(core?.effects.runningCount == 0)
        weak let released = core
        core = nil
        #expect(released == nil)
        await ended.passed()
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1)])
    func `A delayed action may have any delay`(delay: Duration) async {
        let core = effectCore(["it": .merge(.delay(Append(1), for: delay, id: 1), .delay(Append(2), for: .zero))])
        let seen = Recorder<Void>()
        let subscription = core.observe(replay: .none) { _ in seen.record(()) }
        core.dispatch(Perform("it"))
        await seen.reaching(delay < .zero ? 3 : 2)
        #expect(core.state.entries.sorted() == (delay < .zero ? [1, 2] : [2]))
        subscription.cancel()
    }
}

@Suite struct `A debounced action` {
    @Test func `A debounced action replaces the one that is delayed under the same id`() {
        let clock = ManualClock()
        let dispatched = Recorder<Int>()
        let runner = EffectRunner(clock: clock) { result in
            if result.isWanted, let append = result.action as? Append { dispatched.record(append.number) }
            result.complete()
        }
        let key = IdempotencyKey(revision: 1, index: 0)
        runner.start(.debounce(Append(1), for: .seconds(3), id: "search"), key: key)
        runner.start(.debounce(Append(2), for: .seconds(3), id: "search"), key: key)
        #expect(runner.runningCount == 1)
        clock.fire(at: .seconds(3))
        #expect(dispatched.all == [2])
        #expect(runner.runningCount == 0)
    }
}

@Suite struct `A repeated action` {
    @Test func `A repeated action is dispatched until it is cancelled`() async {
        let core = effectCore([
            "it": .repeat(Append(1), every: .milliseconds(1), id: "tick"), "cancel": .cancel(id: "tick"),
        ])
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.dispatch(Perform("it"))
        let entries = await seen.reaching(4).last
        #expect(entries?.count ?? 0 >= 3)
        core.dispatch(Perform("cancel"))
        #expect(core.effects.runningCount == 0)
        subscription.cancel()
    }

    @Test func `A repeated action is due at whole periods after its start, and skips those that it missed`() {
        let clock = ManualClock()
        let waiting = Recorder<EffectAction>()
        let runner = EffectRunner(clock: clock) { waiting.record($0) }
        runner.start(.repeat(Append(1), every: .seconds(10), id: 1), key: IdempotencyKey(revision: 1, index: 0))
        clock.fire(at: .seconds(13))
        // The next one is scheduled when this one is reduced.
        #expect(clock.deadlines == [.seconds(10)])
        waiting.all.last?.complete()
        #expect(clock.deadlines == [.seconds(10), .seconds(20)])
        clock.fire(at: .seconds(40))
        waiting.all.last?.complete()
        #expect(clock.deadlines == [.seconds(10), .seconds(20), .seconds(50)])
        runner.cancelAll()
        #expect(waiting.all.count == 2)
    }

    @Test func `A repeated action with cancelInFlight replaces the one under the same id`() {
        let core = effectCore([
            "again": .repeat(Append(1), every: .seconds(86_400), id: 1),
            "anew": .repeat(Append(1), every: .seconds(86_400), id: 1, cancelInFlight: true),
        ])
        core.dispatch(Perform("again"))
        core.dispatch(Perform("again"))
        #expect(core.effects.runningCount == 2)
        core.dispatch(Perform("anew"))
        #expect(core.effects.runningCount == 1)
    }

    @Test func `A repeated action has a period of a millisecond at least`() {
        let clock = ManualClock()
        let runner = EffectRunner(clock: clock) { $0.complete() }
        runner.start(.repeat(Append(1), every: .zero, id: 1), key: IdempotencyKey(revision: 1, index: 0))
        #expect(clock.deadlines == [.milliseconds(1)])
    }
}
