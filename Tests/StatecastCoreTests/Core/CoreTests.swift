import StatecastCore
import Testing

@Suite struct `A core` {
    @Test func `A core runs from the start, at revision 0`() {
        let core = logCore()
        let seen = Recorder<UInt64>()
        let subscription = core.observe { seen.record($0.revision) }
        core.dispatch(Append(1))
        #expect(seen.all == [0, 1])
        subscription.cancel()
    }

    @Test func `A core that is stopped keeps its state, drops dispatched actions and warns`() {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(Log(entries: [1]), reducer: Log.reducer, now: { .epoch }, warn: { warnings.record($0) })
        core.stop()
        core.dispatch(Append(2))
        #expect(core.state.entries == [1])
        #expect(warnings.all == [.dispatchedWhileStopped(action: "Append")])
    }

    @Test func `A core that is stopped rejects awaited actions, and says what to do`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, warn: { warnings.record($0) })
        core.stop()
        let rejection = await #expect(throws: Rejection.self) { try await core.send(Append(2)) }
        #expect(rejection?.code == .stopped)
        #expect(rejection?.message == "the core is stopped and does not accept Append: call start()")
        #expect(core.state.entries.isEmpty)
        #expect(warnings.all.isEmpty)
    }

    @Test func `A core accepts actions again after a start, and keeps its observers`() {
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, warn: { _ in })
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { seen.record($0.new.entries) }
        core.stop()
        core.dispatch(Append(1))
        core.start()
        core.dispatch(Append(2))
        #expect(seen.all == [[2]])
        subscription.cancel()
    }

    @Test func `A core applies actions dispatched before a stop, and none after it`() {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, warn: { warnings.record($0) })
        let subscription = core.observe(replay: .none) { [weak core] change in
            guard change.revision == 1 else { return }
            core?.dispatch(Append(2))
            core?.stop()
            core?.dispatch(Append(3))
        }
        core.dispatch(Append(1))
        #expect(core.state.entries == [1, 2])
        #expect(warnings.all == [.dispatchedWhileStopped(action: "Append")])
        subscription.cancel()
    }

    @Test(arguments: [false, true])
    func `A core delivers a replaced state as a change without an action, stopped or not`(isStopped: Bool) throws {
        let core = logCore()
        core.dispatch(Append(1))
        if isStopped { core.stop() }
        let seen = Recorder<Change<Log>>()
        let subscription = core.observe(replay: .none) { seen.record($0) }
        core.replace(Log(entries: [7]))
        let change = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(change.action == nil)
        #expect(change.old?.entries == [1])
        #expect(change.new.entries == [7])
        #expect((change.oldRevision, change.revision) == (1, 2))
        #expect(core.state.entries == [7])
        subscription.cancel()
    }

    @Test func `A core replaces its state in queue order, after the queued actions`() {
        let core = logCore()
        let seen = Recorder<[Int]>()
        let subscription = core.observe(replay: .none) { [weak core] change in
            seen.record(change.new.entries)
            guard change.revision == 1 else { return }
            core?.dispatch(Append(2))
            core?.replace(Log(entries: [7]))
            core?.dispatch(Append(8))
        }
        core.dispatch(Append(1))
        #expect(seen.all == [[1], [1, 2], [7], [7, 8]])
        subscription.cancel()
    }

    @Test func `A core stays usable after a rejected action`() async throws {
        let core = Core(
            Log(),
            reducer: Log.reducer,
            middleware: [.policy { action, _ in if action is Perform { throw Rejection(.refused, "no") } }],
            now: { .epoch }
        )
        for number in 1...3 {
            await #expect(throws: Rejection(.refused, "no")) { try await core.send(Perform("refused")) }
            core.dispatch(Perform("refused"))
            try await core.send(Append(number))
        }
        #expect(core.state.entries == [1, 2, 3])
    }

    @Test func `A core that starts on demand delivers its initial state before the initial effect changes it`() async {
        let core = Core(
            Log(),
            reducer: Log.reducer,
            now: { .epoch },
            initialEffect: { _ in .merge(.dispatch(Append(1)), .run { await $0(Append(2)) }) },
            start: .onDemand
        )
        let seen = Recorder<[Int]>()
        let subscription = core.observe { seen.record($0.new.entries) }
        core.start()
        let states = await seen.reaching(3)
        #expect(states == [[], [1], [1, 2]])
        subscription.cancel()
    }

    @Test func `A core that starts on demand accepts no action before`() async {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(
            Log(),
            reducer: Log.reducer,
            now: { .epoch },
            start: .onDemand,
            warn: { warnings.record($0) }
        )
        core.dispatch(Append(1))
        core.start()
        core.dispatch(Append(2))
        #expect(core.state.entries == [2])
        #expect(warnings.all == [.dispatchedWhileStopped(action: "Append")])
    }

    @Test func `A core needs only a closure for its reducer, like a primary`() {
        let core = Core(0) { sum, action in
            if let action = action as? Append { sum += action.number }
        }
        core.dispatch(Append(3))
        core.dispatch(Append(4))
        #expect(core.state == 7)
    }
}
