import Testing

@testable import StatecastCore

@Suite struct `A runtime warning` {
    private struct Step: Action {}

    /// A core that counts, and whose observer dispatches one more action while `isAnswered` returns true.
    private func counter(
        reporting warnings: Recorder<RuntimeWarning>,
        until done: Gate,
        answering isAnswered: @escaping @Sendable (_ count: Int) -> Bool
    ) -> (core: Core<Int>, subscription: Subscription) {
        let core = Core(0, reducer: Reducer { count, _ in count += 1 }, now: { .epoch }, warn: { warnings.record($0) })
        let subscription = core.observe(replay: .none) { [weak core] change in
            guard isAnswered(change.new) else { return done.open() }
            core?.dispatch(Step())
        }
        return (core, subscription)
    }

    /// The first action of a chain is not a follow-up.
    @Test(arguments: [(10_000, false), (10_001, true), (25_000, true)])
    func `A runtime warning is raised once for a chain of actions that is too long, which continues`(
        length: Int,
        isTooLong: Bool
    ) async {
        let warnings = Recorder<RuntimeWarning>()
        let done = Gate()
        let (core, subscription) = counter(reporting: warnings, until: done) { $0 < length }
        core.dispatch(Step())
        await done.passed()
        #expect(core.state == length)
        #expect(warnings.all == (isTooLong ? [.endlessDispatch(action: "Step", depth: 10_000)] : []))
        subscription.cancel()
    }

    @Test func `A runtime warning is raised if each action is answered by two, even at a small depth`() async {
        let warnings = Recorder<RuntimeWarning>()
        let done = Gate()
        let core = Core(
            0,
            reducer: Reducer { count, _ in count += 1 },
            now: { .epoch },
            warn: { warnings.record($0) },
            maxDrainedRequests: 256,
            maxFollowUps: 1_000
        )
        let subscription = core.observe(replay: .none) { [weak core] change in
            if change.new < 600 {
                core?.dispatch(Step())
                core?.dispatch(Step())
            }
            if change.new == 1_199 { done.open() }
        }
        core.dispatch(Step())
        await done.passed()
        #expect(warnings.all == [.endlessDispatch(action: "Step", depth: 1_000)])
        core.dispatch(Step())
        #expect(warnings.all.count == 1)
        subscription.cancel()
    }

    @Test func `A runtime warning is raised if each action has the next one as its effect`() async {
        let warnings = Recorder<RuntimeWarning>()
        let done = Gate()
        let reducer = Reducer<Int> { count, _ in
            count += 1
            if count == 10_001 { done.open() }
            return count < 10_001 ? .dispatch(Step()) : .none
        }
        let core = Core(0, reducer: reducer, now: { .epoch }, warn: { warnings.record($0) })
        core.dispatch(Step())
        await done.passed()
        #expect(warnings.all == [.endlessDispatch(action: "Step", depth: 10_000)])
    }

    @Test func `A runtime warning is raised if observers answer replaced states with replaced states`() async {
        let warnings = Recorder<RuntimeWarning>()
        let done = Gate()
        let core = Core(0, reducer: Reducer { _, _ in }, now: { .epoch }, warn: { warnings.record($0) })
        let subscription = core.observe(replay: .none) { [weak core] change in
            if change.new < 10_001 { core?.replace(change.new + 1) } else { done.open() }
        }
        core.replace(1)
        await done.passed()
        #expect(warnings.all == [.endlessDispatch(action: "a replaced state", depth: 10_000)])
        subscription.cancel()
    }

    @Test func `A runtime warning is not raised for many actions that are answered once each`() {
        let warnings = Recorder<RuntimeWarning>()
        let (core, subscription) = counter(reporting: warnings, until: Gate()) { !$0.isMultiple(of: 2) }
        for _ in 0..<10_001 { core.dispatch(Step()) }
        #expect(core.state == 20_002)
        #expect(warnings.all.isEmpty)
        subscription.cancel()
    }

    @Test func `A runtime warning is not raised for many replaced states that are answered once each`() {
        let warnings = Recorder<RuntimeWarning>()
        let (core, subscription) = counter(reporting: warnings, until: Gate()) { !$0.isMultiple(of: 2) }
        for _ in 0..<10_001 { core.replace(1) }
        #expect(core.state == 2)
        #expect(warnings.all.isEmpty)
        subscription.cancel()
    }

    @Test func `A runtime warning is not raised for many replays that are answered once each`() {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(0, reducer: Reducer { count, _ in count += 1 }, now: { .epoch }, warn: { warnings.record($0) })
        for _ in 0..<10_001 {
            core.observe { [weak core] change in
                if change.old == nil { core?.dispatch(Step()) }
            }.cancel()
        }
        #expect(core.state == 10_001)
        #expect(warnings.all.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A runtime warning is raised for an action awaited on the draining thread, which is still applied`(
        inReplay: Bool
    ) async throws {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, warn: { warnings.record($0) })
        let replies = Recorder<UInt64?>()
        let subscription = core.observe(replay: inReplay ? .current : .none) { [weak core] change in
            guard let core, change.new.entries.isEmpty == inReplay, change.revision < 2 else { return }
            Task.immediate { replies.record(try? await core.send(Append(9)).revision) }
        }
        if !inReplay { core.dispatch(Append(1)) }
        let revisions = await replies.reaching(1)
        #expect(revisions == [inReplay ? 1 : 2])
        #expect(core.state.entries == (inReplay ? [9] : [1, 9]))
        #expect(warnings.all == [.awaitedWhileDraining(action: "Append")])
        subscription.cancel()
    }

    @Test func `A runtime warning is not raised for an action that an observer awaits in another task`() async throws {
        let warnings = Recorder<RuntimeWarning>()
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, warn: { warnings.record($0) })
        let replies = Recorder<UInt64?>()
        let subscription = core.observe(replay: .none) { [weak core] change in
            guard let core, change.revision == 1 else { return }
            Task.detached { replies.record(try? await core.send(Append(9)).revision) }
        }
        core.dispatch(Append(1))
        let revisions = await replies.reaching(1)
        #expect(revisions == [2])
        #expect(warnings.all.isEmpty)
        subscription.cancel()
    }

    @Test func `A runtime warning is not raised for a reducer that reads its core's state, which traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let target = Box<Core<Log>>()
            let core = Core(Log(), reducer: Reducer { _, _ in _ = target.value?.state }, now: { .epoch })
            target.set(core)
            core.dispatch(Append(1))
        }
        let said = String(decoding: try #require(result?.standardErrorContent), as: UTF8.self)
        #expect(said.contains("a reducer reads the state of its own core"))
        #expect(said.contains("use the state that the reducer receives"))
    }

    @Test func `A runtime warning is written to standard error as one line by default`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let core = Core(Log(), reducer: Log.reducer, now: { .epoch })
            core.stop()
            core.dispatch(Append(1))
            core.dispatch(Append(2))
        }
        let said = String(decoding: try #require(result?.standardErrorContent), as: UTF8.self)
        let line = "statecast: warning: Append was dispatched to a core that is stopped: call start() first"
        #expect(said.split(separator: "\n").filter { $0 == line }.count == 2)
    }

    @Test(arguments: [
        (
            RuntimeWarning.endlessDispatch(action: "A", depth: 10),
            ["A", "10", "only when something they need has changed"]
        ),
        (.awaitedWhileDraining(action: "A"), ["A", "dispatch it instead"]),
        (.nextCalledTwice(action: "A"), ["A", "twice", "dispatch an additional action instead"]),
        (.rejectedTooLate(action: "A", error: "boom"), ["A", "boom", "before calling next"]),
        (.dispatchedWhileStopped(action: "A"), ["A", "call start() first"]),
        (.unhandledByMiddleware(action: "A"), ["A", "add the middleware", ".thunk"]),
    ])
    func `A runtime warning names the mistake and the remedy`(misuse: RuntimeWarning, parts: [String]) {
        for part in parts { #expect(misuse.description.contains(part)) }
    }
}
