import StatecastCore
import StatecastProtocol
import Testing

/// An engine is a value: it has no clock, no random numbers, and shares nothing with its copies.
@Suite struct `An engine as a value` {
    private enum Event {
        case push(ClosedRange<UInt64>, SessionID)
        case act(isAwaited: Bool, id: UInt64)
        case observe(UInt64)
        case subscribe(Topic)
        case turn(TurnBudget)
        case commit(Int)
        case fill
        case tick
        case pass(Duration)
        case encode
    }

    private static let sessions = [Fixture.session, Fixture.otherSession]

    private static func events(from generator: inout SeededGenerator) -> [Event] {
        (0..<60).map { index in
            let first = UInt64(1 + generator.below(12))
            let session = sessions[generator.below(2)]
            switch generator.below(14) {
            case 0...3: return .push(first...(first + UInt64(generator.below(8))), session)
            case 4: return .act(isAwaited: generator.oneIn(2), id: UInt64(index))
            case 5: return .observe(UInt64(index))
            case 6:
                return .subscribe(generator.oneIn(2) ? .receipts(session) : .join(Nonce(bits: UInt64(index)), nil))
            case 7, 8, 9: return .turn(TurnBudget(actions: 1 + generator.below(9), bytes: 1 + generator.below(500)))
            case 10: return .commit(1 + generator.below(3))
            case 11: return generator.oneIn(3) ? .fill : .tick
            case 12: return .encode
            default: return .pass(.milliseconds(generator.below(1500)))
            }
        }
    }

    private static func perform(_ event: Event, on bench: inout PrimaryBench) throws {
        switch event {
        case .push(let numbers, let session): bench.push(numbers, of: session)
        case .act(let isAwaited, let id):
            let action = LocalAction(
                TestAction(number: id),
                id: isAwaited ? LocalID(id) : nil,
                origin: isAwaited ? .awaited : .dispatched
            )
            bench.engine.request(.action(action))
        case .observe(let id): bench.engine.request(.observe(ObserverID(id), .current))
        case .subscribe(let topic): _ = bench.subscribed(to: topic)
        case .turn(let budget): bench.engine.turn(budget)
        case .commit(let count): bench.commit(count)
        case .fill: bench.fill()
        case .tick: _ = bench.tick(at: bench.now)
        case .pass(let duration): bench.now = bench.now.advanced(by: duration)
        case .encode: try bench.engine.encodeNext()
        }
    }

    private static func bench() -> PrimaryBench {
        var bench = PrimaryBench(.with { ($0.maxSessions, $0.maxWindowActions, $0.maxSessionRuns) = (2, 8, 4) })
        let rejected = TestAction.Verdict.rejected(Rejection(.refused, "no"))
        bench.verdicts = [2: rejected, 5: rejected, 7: .breaksState]
        return bench
    }

    @Test(arguments: seeds(0..<200))
    func `An engine as a value does the same with the same events`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var (first, second) = (Self.bench(), Self.bench())
        for (index, event) in Self.events(from: &generator).enumerated() {
            try Self.perform(event, on: &first)
            try Self.perform(event, on: &second)
            let difference = first.engine.engine.difference(from: second.engine.engine)
            #expect(difference == nil, "seed \(seed), event \(index), \(event)")
        }
    }

    @Test(arguments: seeds(0..<200))
    func `An engine as a value is not changed by the events of its copies`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bench = Self.bench()
        let events = Self.events(from: &generator)
        for event in events.prefix(30) { try Self.perform(event, on: &bench) }
        let (kept, copy) = (bench.engine.engine, bench.engine.engine)
        for event in events.dropFirst(30) { try Self.perform(event, on: &bench) }
        #expect(kept.difference(from: copy) == nil, "seed \(seed)")
    }

    /// What stays is that the disk was full, and what was counted and used meanwhile.
    @Test(arguments: seeds(0..<200))
    func `An engine as a value is as before the batches that a full disk rolls back`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bench = Self.bench()
        for event in Self.events(from: &generator) { try Self.perform(event, on: &bench) }
        bench.now = bench.now.advanced(by: bench.limits.minRetryDelay)
        repeat { bench.turnAndCommit() } while bench.hasWork || !bench.records.isEmpty
        let (before, context) = (bench.engine.engine, bench.context)
        let next = (bench.engine.log.receipts[Fixture.session]?.keys.max() ?? 0) + 1
        for number in next..<(next + 3) { bench.reduce(number...number) }
        bench.fill()
        bench.now = bench.now.advanced(by: bench.limits.minRetryDelay)
        bench.turn()
        let counted: Set = ["isDiskFull", "snapshots", "admission"]
        let difference = bench.engine.engine.difference(from: before, ignoring: counted)
        #expect(difference == nil, "seed \(seed)")
        guard let context, let after = bench.context else { return }
        #expect(after.sessions.agrees(with: context.sessions), "seed \(seed)")
        #expect(after.summary == context.summary, "seed \(seed)")
    }

    @Test func `An engine as a value differs in the part that an event has changed`() {
        var bench = Self.bench()
        func difference(_ change: (inout PrimaryBench) -> Void) -> String? {
            let before = bench.engine.engine
            change(&bench)
            return bench.engine.engine.difference(from: before)
        }
        #expect(difference { _ in } == nil)
        #expect(difference { $0.push(1...1) } == "admission")
        #expect(difference { $0.turn() } == "admission")
        #expect(difference { $0.fill() } != nil)
    }
}
