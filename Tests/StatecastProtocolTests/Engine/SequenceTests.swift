import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

/// A turn ended within a frame: the rest waits first in the inbox, and is admitted like a frame that begins with its
/// first number.
@Suite struct `The rest of a split frame` {
    /// A bench after the first turn of a frame with five actions, of which the turn reduced two.
    private static func bench(_ limits: Limits = Limits()) -> PrimaryBench {
        var bench = PrimaryBench(limits)
        bench.engine.budget = TurnBudget(actions: 2)
        bench.reduce(1...5)
        return bench
    }

    private static func applied(_ numbers: ClosedRange<UInt64>, offset: UInt64 = 0) -> [UInt64: Outcome] {
        numbers.reduce(into: [:]) { $0[$1] = .applied(Revision($1 + offset)) }
    }

    private func session(_ number: UInt64) -> SessionID { SessionID(high: 77, low: number) }

    @Test func `The rest of a split frame is reduced in the next turns`() {
        var bench = Self.bench()
        #expect(bench.reduced == Revision(2))
        #expect(bench.hasWork)
        bench.turn()
        #expect(bench.reduced == Revision(4))
        bench.turn()
        #expect(bench.reduced == Revision(5))
        #expect(!bench.hasWork)
        #expect(bench.records.map(\.to.rawValue) == [2, 4, 5])
        #expect(bench.commit().receipts() == Self.applied(1...5))
    }

    @Test func `The rest of a split frame survives as many other sessions as a store remembers`() {
        var bench = Self.bench()
        var answers = bench.commit()
        for number in UInt64(0)..<1024 { bench.push(1...1, of: session(number), opened: 1) }
        while bench.hasWork { answers += bench.turnAndCommit() }
        #expect(answers.receipts() == Self.applied(1...5))
        #expect(answers.refusals() == [])
        for number in UInt64(0)..<1024 { #expect(answers.receipts(of: session(number)).count == 1) }
    }

    @Test func `The rest of a split frame is reduced although all other sessions have undurable actions`() {
        var bench = Self.bench(.with { $0.maxSessions = 3 })
        for number in UInt64(0)..<3 { bench.push(1...1, of: session(number)) }
        var answers = bench.turn() + bench.turn()
        #expect(answers.refusals() == [])
        #expect(answers.refusals(of: session(0)) == [])
        answers = bench.turn()
        #expect(answers.refusals(of: session(2)) == [.overloaded])
        #expect(bench.commit().receipts() == Self.applied(1...5))
    }

    @Test(arguments: [false, true])
    func `The rest of a split frame is lost with the first part on a full disk, and no number is`(isDurable: Bool) {
        var bench = Self.bench()
        if isDurable { bench.commit() }
        let refusals = bench.fill().refusals(on: .receipts(Fixture.session))
        #expect(refusals.map(\.reason.code) == [.storageFull])
        #expect(refusals.first?.frame?.first == ActionNumber(isDurable ? 3 : 1))
        #expect(bench.reduced == Revision(isDurable ? 2 : 0))
        bench.now = .seconds(1)
        #expect(bench.turn() == [] && bench.records.isEmpty, "the inbox is empty")
        bench.push(1...5)
        while bench.hasWork { bench.turn() }
        bench.commit()
        #expect(bench.engine.log.receipts[Fixture.session] == Self.applied(1...5))
        #expect(bench.head == Revision(5))
    }

    @Test(arguments: [false, true])
    func `The rest of a split frame is reduced once if the same frame arrives again`(isDurable: Bool) {
        var bench = Self.bench()
        if isDurable { bench.commit() }
        bench.push(1...5)
        var answers: [Answer] = []
        while bench.hasWork { answers += bench.turn() }
        #expect(answers.contains(.count(.duplicates(5))))
        #expect(answers.receipts() == (isDurable ? Self.applied(1...2) : [:]))
        bench.commit()
        #expect(bench.engine.log.receipts[Fixture.session] == Self.applied(1...5))
        #expect(bench.head == Revision(5))
    }

    @Test func `The rest of a split frame is reduced before another frame of the session`() {
        var bench = Self.bench()
        bench.push(6...7)
        var answers: [Answer] = []
        while bench.hasWork { answers += bench.turn() }
        #expect(answers.expected() == [] && answers.refusals() == [])
        #expect(bench.commit().receipts() == Self.applied(1...7))
    }

    @Test func `The rest of a split frame is dropped at a stop, and the next incarnation reduces it`() throws {
        var bench = Self.bench()
        bench.engine.finish()
        #expect(!bench.hasWork)
        #expect(bench.turn().topics == [])
        #expect(bench.push(6...6).topics == [] && !bench.hasWork, "the store takes no more frames")
        #expect(bench.commit().receipts() == Self.applied(1...2))
        let context = try #require(bench.context)
        let history = History(
            lineage: Fixture.lineage,
            epoch: Epoch(4),
            epochs: [],
            from: try SnapshotContext(decoding: context.encoded),
            at: JournalSequence(1),
            Revision(2)
        )
        var next = PrimaryBench(history: history)
        let answers = next.reduce(1...5) + next.commit()
        #expect(answers.receipts() == Self.applied(1...5))
        #expect(next.head == Revision(5))
    }

    /// Splits the frame of a real sender, and refuses the rest.
    ///
    /// - Parameter isReceived: whether the receipts of the first part reach the sender.
    @Test(arguments: [false, true])
    func `The refused rest of a split frame has its own first number, so that the sender doubles nothing`(
        isReceived: Bool
    ) throws {
        var primary = PrimaryBench()
        primary.engine.budget = TurnBudget(actions: 2)
        var sender = SenderBench()
        func carry(_ answers: [Answer], to sender: inout SenderBench) {
            for frame in answers.frames(on: .receipts(sender.machine.session)) { sender.receive(frame) }
        }
        carry(primary.subscribed(to: .receipts(sender.machine.session)), to: &sender)
        for _ in 0..<5 { sender.send(TestAction(number: 0).encoded) }
        for frame in sender.push() { primary.receive(frame) }
        let receipts = primary.turnAndCommit()
        #expect(receipts.receipts().count == 2)
        if isReceived { carry(receipts, to: &sender) }
        let refusals = primary.fill()
        #expect(refusals.refusals(on: .receipts(Fixture.session)).map(\.frame?.first) == [ActionNumber(3)])
        carry(refusals, to: &sender)
        #expect(sender.machine.session == Fixture.session)
        for _ in 0..<20 where sender.machine.pendingCount > 0 {
            sender.wait()
            primary.now = sender.now
            carry(primary.turn() + primary.subscribed(to: .receipts(sender.machine.session)), to: &sender)
            for frame in sender.push() { primary.receive(frame) }
            while primary.hasWork { carry(primary.turnAndCommit(), to: &sender) }
        }
        #expect(primary.head == Revision(5))
        #expect(sender.outcomes.count == 5)
        #expect((1...5).map { sender.revision(Ticket(rawValue: $0)) } == [1, 2, 3, 4, 5])
    }

    @Test func `The rest of a split frame is bounded by the window`() {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 8 })
        bench.engine.budget = TurnBudget(actions: 4)
        bench.push(1...10)
        bench.turn()
        bench.turn()
        #expect(bench.reduced == Revision(8))
        bench.turn()
        #expect(bench.reduced == Revision(8))
        #expect(!bench.hasWork, "a sender that exceeds the window sends the excess again")
        bench.commit()
        bench.push(9...10)
        #expect(bench.turnAndCommit().receipts() == [9: .applied(Revision(9)), 10: .applied(Revision(10))])
    }
}

@Suite struct `A snapshot of the sessions` {
    @Test func `A snapshot of the sessions never moves the watermark over undurable numbers`() throws {
        var bench = PrimaryBench()
        bench.push(1...4)
        bench.turnAndCommit()
        bench.reduce(5...6)
        #expect(bench.reduced == Revision(6))
        let context = try SnapshotContext(decoding: try #require(bench.context).encoded)
        let history = History(
            lineage: Fixture.lineage,
            epoch: Epoch(4),
            epochs: [],
            from: context,
            at: JournalSequence(1),
            Revision(4)
        )
        var next = PrimaryBench(history: history)
        let answers = next.subscribed(to: .receipts(Fixture.session))
        #expect(answers.watermarks().map(\.number) == [ActionNumber(4)])
        #expect(answers.receipts().keys.sorted() == [1, 2, 3, 4])
    }
}

/// Batches are in flight when the journal reports that it has no room.
@Suite struct `A full disk` {
    /// How many batches are durable when the disk is full.
    @Test(arguments: 0...3)
    func `A full disk rolls back to the last durable state`(durable: Int) throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 2 })
        bench.push(1...2, of: Fixture.otherSession)
        bench.turnAndCommit()
        // Each batch has two actions of the sender, one that is dispatched, and one that is awaited.
        for batch in UInt64(0)..<3 {
            bench.push((2 * batch + 1)...(2 * batch + 2))
            bench.act()
            let awaited = LocalAction(TestAction(number: batch), id: LocalID(batch), origin: .awaited)
            bench.engine.request(.action(awaited))
            bench.turn()
        }
        #expect(bench.records.count == 3)
        bench.commit(durable)
        bench.act()
        let published = 2 + 4 * UInt64(durable)
        let refusals = bench.fill().refusals(on: .receipts(Fixture.session))
        #expect(bench.head == Revision(published) && bench.reduced == bench.head)
        #expect(refusals.map(\.frame?.first) == (durable < 3 ? [ActionNumber(2 * UInt64(durable) + 1)] : []))
        for batch in 0..<3 {
            let answer = bench.engine.log.answers[LocalID(UInt64(batch))]
            if batch < durable {
                #expect(
                    answer == .applied(ActionNumber(UInt64(2 * batch + 2)), Fixture.position(6 + 4 * UInt64(batch)))
                )
            } else {
                #expect(answer == .rejected(Rejection(.storageFull, "no room")))
            }
        }
        #expect(bench.engine.log.notices.contains(.full("no room")))
        // Nothing is reduced before the delay ends.
        #expect(bench.push(7...7).refusals() == (durable < 3 ? [] : [.storageFull]), "once a turn")
        bench.turn()
        #expect(bench.reduced == bench.head)
        bench.now = .seconds(1)
        #expect(bench.hasWork, "the dispatched actions wait")
        bench.push(1...6)
        bench.turn()
        bench.commit()
        #expect(bench.engine.log.receipts[Fixture.session]?.keys.sorted() == Array(1...6))
        // The senders' six actions, the four that were dispatched, and the awaited ones that were durable.
        #expect(bench.head == Revision(UInt64(2 + 6 + 4 + durable)))
        #expect(bench.engine.log.notices.contains(.hasRoomAgain))
    }

    @Test func `A full disk keeps the order of dispatched actions`() {
        var bench = PrimaryBench()
        for number in UInt64(1)...3 {
            bench.engine.request(.action(LocalAction(TestAction(number: number), origin: .dispatched)))
            bench.turn()
        }
        bench.engine.request(.action(LocalAction(TestAction(number: 4), origin: .dispatched)))
        bench.fill()
        bench.now = .seconds(1)
        bench.turn()
        let actions = bench.records.flatMap(\.record.runs).flatMap(\.entries).map(\.action)
        #expect(actions == (1...4).map { TestAction(number: $0).encoded })
    }

    @Test func `A full disk does not reduce again what an effect sent whose work was cancelled meanwhile`() {
        var bench = PrimaryBench()
        for run in UInt64(1)...2 {
            let origin = LocalAction.Origin.effect(work: run, nil)
            bench.engine.request(.action(LocalAction(TestAction(number: run), id: LocalID(run), origin: origin)))
        }
        bench.turn()
        bench.engine.cancelled(work: 1)
        bench.fill()
        bench.now = .seconds(1)
        bench.turn()
        #expect(bench.engine.log.answers[LocalID(1)] == .rejected(.effectCancelled))
        let actions = bench.records.flatMap(\.record.runs).flatMap(\.entries).map(\.action)
        #expect(actions == [TestAction(number: 2).encoded])
    }

    @Test func `A full disk cuts the outcomes of a session at the durable number`() {
        var bench = PrimaryBench()
        bench.reduce(1...2)
        bench.reduce(3...6)
        bench.commit(1)
        bench.fill()
        bench.turn()
        let answers = bench.subscribed(to: .receipts(Fixture.session))
        #expect(answers.watermarks().map(\.number) == [ActionNumber(2)])
        #expect(answers.receipts() == [1: .applied(Revision(1)), 2: .applied(Revision(2))])
        bench.now = .seconds(1)
        bench.verdicts[3] = .rejected(Rejection(.refused, "no"))
        bench.push(3...6)
        #expect(
            bench.turnAndCommit().receipts() == [
                3: .rejected(Rejection(.refused, "no")), 4: .applied(Revision(3)), 5: .applied(Revision(4)),
                6: .applied(Revision(5)),
            ]
        )
    }

    @Test(arguments: [0, 1, 3]) func `A full disk doubles nothing that middlewares dispatch`(refusals: Int) {
        var bench = EngineBench(
            StoreProgram(
                PrimaryBench.table,
                reducer: Reducer(of: TestAction.self) { state, _ in state.value += 1 },
                middleware: [
                    Middleware { action, store, next in
                        if (action as? TestAction)?.number == 1 { store.dispatch(TestAction(number: 100)) }
                        return try next(action)
                    }
                ],
                dispatcher: KeptDispatcher()
            ),
            history: History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0)),
            state: TestCount()
        )
        for _ in 0..<refusals {
            bench.receive(PrimaryBench().frame(1...1))
            bench.turns()
            #expect(bench.engine.state.value == 1)
            bench.fill()
            bench.turns()
            bench.now = bench.now.advanced(by: bench.limits.minRetryDelay)
        }
        #expect(bench.log.dispatched == 0, "nothing of it was applied")
        bench.receive(PrimaryBench().frame(1...1))
        bench.turns()
        bench.commit()
        #expect(bench.log.dispatched == 1)
        bench.turns()
        bench.commit()
        #expect(bench.engine.state.value == 2 && bench.head == Revision(2))
    }

    @Test func `A full disk ends once the journal has stored a record, not when it reports its last one again`() {
        var bench = PrimaryBench()
        bench.reduce(1...1)
        bench.commit()
        bench.reduce(2...2)
        bench.fill()
        bench.engine.reportStored()
        #expect(!bench.engine.log.notices.contains(.hasRoomAgain))
        bench.turn()
        #expect(bench.push(2...2).refusals() == [.storageFull])
        bench.now = .seconds(1)
        bench.push(2...2)
        bench.turnAndCommit()
        #expect(bench.engine.log.notices.contains(.hasRoomAgain))
        #expect(bench.head == Revision(2))
    }

    /// Otherwise, they would wait for a heartbeat.
    @Test func `A full disk wakes the store when its actions may be tried again`() {
        var bench = PrimaryBench(.with { $0.heartbeatInterval = .seconds(60) })
        _ = bench.tick(at: .origin)
        bench.act()
        bench.turn()
        bench.fill()
        #expect(!bench.hasWork)
        #expect(bench.nextDeadline == .seconds(1))
        bench.now = .seconds(1)
        #expect(bench.tick(at: bench.now) == [])
        #expect(bench.hasWork)
        bench.turnAndCommit()
        #expect(bench.head == Revision(1))
        #expect(bench.nextDeadline == .seconds(60))
    }

    @Test func `A full disk wakes the store once, even if the actions have to wait for another reason`() {
        var bench = PrimaryBench(
            .with {
                $0.heartbeatInterval = .seconds(60)
                $0.maxUncommittedBytes = 1
            }
        )
        _ = bench.tick(at: .origin)
        bench.reduce(1...1)
        bench.act()
        bench.fill()
        bench.turn()
        #expect(bench.nextDeadline == .seconds(1))
        bench.now = .seconds(1)
        while bench.hasWork { bench.turn() }
        bench.turn()
        #expect(bench.nextDeadline == .seconds(60), "a deadline in the past would be due at once, for ever")
        bench.fill()
        #expect(bench.nextDeadline == .seconds(2))
    }

    @Test func `A full disk adds the observers that wait for a batch in flight`() {
        var bench = PrimaryBench()
        bench.reduce(1...2)
        bench.engine.request(.observe(ObserverID(1), .current))
        bench.turn()
        #expect(bench.engine.log.added.isEmpty)
        bench.fill()
        #expect(bench.engine.log.added.map(\.observer) == [ObserverID(1)])
    }
}

/// The marks name the action that is decoded or reduced, and nothing else, so that a crash is attributed to no other.
@Suite struct `The marks around a reduction` {
    private func pair(_ number: UInt64) -> [RecordedMarks.Mark] {
        [.began(Fixture.session, number), .decoded(number), .reduced(number), .ended]
    }

    @Test
    func `The marks around a reduction are one pair for each action and pass, and none for what is not reduced`() {
        var bench = PrimaryBench()
        bench.verdicts[2] = .breaksState
        let marks = bench.engine.marks
        RecordedMarks.$observer.withValue(marks) { _ = bench.reduce(1...3) }
        // Three actions, then one and two, then each of these alone. A rejection of one that was alone is no pass.
        let passes: [[UInt64]] = [[1, 2, 3], [1], [2, 3], [2], [3]]
        #expect(marks.marks.filter { $0 != .encoded } == passes.flatMap { $0 }.flatMap { pair($0) })
        #expect(bench.reduced == Revision(2))
    }

    @Test func `Marks name nothing while a state is compared and encoded, or an own action is reduced`() {
        var bench = PrimaryBench()
        let marks = bench.engine.marks
        bench.engine.request(.action(LocalAction(TestAction(number: 9), origin: .dispatched)))
        RecordedMarks.$observer.withValue(marks) { _ = bench.reduce(1...2) }
        #expect(marks.marks.contains(.reduced(9)) && marks.marks.contains(.encoded))
        var isMarked = false
        for mark in marks.marks {
            switch mark {
            case .began: isMarked = true
            case .ended: isMarked = false
            case .encoded, .reduced(9): #expect(!isMarked)
            case .decoded, .reduced: #expect(isMarked)
            }
        }
    }

    @Test func `Actions that cannot be decoded, or crashed before, have marks around their reduction`() {
        var bench = PrimaryBench(suspects: [Suspect(session: Fixture.session, number: ActionNumber(2), isPoison: true)])
        let marks = bench.engine.marks
        bench.receive(Fixture.frame([[0xFF], TestAction(number: 2).encoded, TestAction(number: 3).encoded]))
        RecordedMarks.$observer.withValue(marks) { _ = bench.turn() }
        let expected: [RecordedMarks.Mark] = [
            .began(Fixture.session, 1), .ended, .began(Fixture.session, 2), .ended,
        ]
        #expect(marks.marks.filter { $0 != .encoded } == expected + pair(3))
        let outcomes = bench.commit().receipts()
        #expect(outcomes.mapValues(\.code) == [1: .undecodable, 2: .crashedReducer, 3: nil])
        #expect(
            bench.engine.log.cleared == [SentAction(session: Fixture.session, number: ActionNumber(2))],
            "it has its final outcome"
        )
    }
}

/// A batch is reduced again in halves, and the first half cancels an effect.
@Suite struct `A cancelled effect` {
    private struct Cancelling: Action {
        var number: Int
    }

    /// Number 1 cannot be published. Number 2 is refused while number 1 is applied, and otherwise cancels the effect.
    private struct Numbers: Codable, Equatable {
        var isBroken = false
        var applied: [Int] = []

        private enum CodingKeys: CodingKey { case applied }

        init() {}
        init(from decoder: any Decoder) throws {
            applied = try decoder.container(keyedBy: CodingKeys.self).decode([Int].self, forKey: .applied)
        }

        func encode(to encoder: any Encoder) throws {
            guard !isBroken else {
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "broken")
                throw EncodingError.invalidValue(self, context)
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(applied, forKey: .applied)
        }
    }

    @Test(arguments: [false, true])
    func `A cancelled effect sends nothing any more once a part of the batch cancels it`(hasJournal: Bool) throws {
        let state = Numbers()
        var bench = EngineBench(
            StoreProgram(
                try ActionTable([Cancelling.self]),
                reducer: Reducer(of: Cancelling.self) { state, action -> Effect in
                    state.applied.append(action.number)
                    if action.number == 1 { state.isBroken = true }
                    if action.number == 0 { return .run(id: "work") { _ in } }
                    return action.number == 2 ? .cancel(id: "work") : .none
                },
                middleware: [
                    .policy { action, store in
                        guard (action as? Cancelling)?.number == 2, store.state.applied.contains(1) else { return }
                        throw Rejection(.refused, "after number 1")
                    }
                ],
                dispatcher: KeptDispatcher()
            ),
            history: try Fixture.history(of: state),
            state: state,
            hasJournal: hasJournal
        )
        bench.request(.action(LocalAction(Cancelling(number: 0), origin: .dispatched)))
        bench.turn()
        bench.commit()
        let work = try #require(bench.runs.first)
        for number in 1...2 { bench.request(.action(LocalAction(Cancelling(number: number), origin: .dispatched))) }
        bench.send(Cancelling(number: 3), id: LocalID(3), from: work)
        bench.request(.action(LocalAction(Cancelling(number: 4), origin: .dispatched)))
        bench.turn()
        bench.commit()
        #expect(bench.engine.state.applied == [0, 2, 4])
        guard case .rejected(let reason)? = bench.log.answers[LocalID(3)] else {
            Issue.record("its effect was cancelled")
            return
        }
        #expect(reason.message.hasSuffix("the effect was cancelled"))
        let entries = bench.log.stored.flatMap(\.record.runs).flatMap(\.entries)
        let cancelled = entries.filter { $0.rejection?.message == reason.message }.map(\.action)
        #expect(try cancelled == (!hasJournal ? [] : [ActionTable.encode(Cancelling(number: 3))]))
    }
}

@Suite struct `Observers in the primary's own process` {
    @Test
    func `Observers in the primary's own process are added with a replay once the actions before them are published`() {
        var bench = PrimaryBench()
        bench.engine.request(.observe(ObserverID(1), .current))
        bench.turn()
        #expect(bench.engine.log.added.map(\.head) == [Revision(0)], "nothing is in flight")
        bench.act()
        bench.engine.request(.observe(ObserverID(2), .current))
        bench.turn()
        bench.engine.request(.observe(ObserverID(3), .current))
        bench.engine.request(.observe(ObserverID(4), .none))
        bench.turn()
        #expect(bench.engine.log.added.map(\.observer) == [ObserverID(1), ObserverID(4)])
        bench.commit()
        #expect(bench.engine.log.added.map(\.observer) == [1, 4, 2, 3].map { ObserverID($0) })
        #expect(bench.engine.log.added.map(\.head) == [0, 0, 1, 1].map { Revision($0) })
        bench.engine.request(.ignore(ObserverID(2)))
        bench.turn()
        #expect(bench.engine.log.removed == [ObserverID(2)])
    }

    @Test(arguments: [false, true])
    func `Local observers are added once, after all parts of a batch that is reduced again`(hasJournal: Bool) {
        var bench = PrimaryBench(hasJournal: hasJournal)
        bench.act()
        bench.engine.request(.action(LocalAction(TestAction(number: 0, verdict: .breaksState), origin: .dispatched)))
        bench.engine.request(.observe(ObserverID(1), .current))
        bench.act(2)
        bench.turn()
        bench.commit()
        #expect(bench.engine.log.added.map(\.observer) == [ObserverID(1)])
        #expect(bench.engine.log.added.map(\.head) == [Revision(3)])
    }

    @Test func `Observers in the primary's own process are added if a batch is a single action that is rejected`() {
        var bench = PrimaryBench()
        bench.engine.request(.action(LocalAction(TestAction(number: 0, verdict: .breaksState), origin: .dispatched)))
        bench.engine.request(.observe(ObserverID(1), .current))
        bench.turn()
        bench.commit()
        #expect(bench.engine.log.added.map(\.observer) == [ObserverID(1)])
    }
}

@Suite struct `The end of a store` {
    @Test func `The end of a store answers what is in flight as unknown, and returns what waits`() throws {
        var bench = PrimaryBench(.with { $0.maxUncommittedRecords = 1 })
        bench.push(1...2)
        bench.turnAndCommit()
        bench.engine.request(.action(LocalAction(TestAction(number: 0), id: LocalID(1), origin: .awaited)))
        bench.engine.request(.observe(ObserverID(1), .current))
        bench.turn()
        bench.engine.request(.action(LocalAction(TestAction(number: 0), id: LocalID(2), origin: .awaited)))
        bench.engine.request(.ignore(ObserverID(2)))
        bench.turn()
        bench.engine.end()
        let log = bench.engine.log
        guard case .rejected(let reason)? = log.answers[LocalID(1)], log.answers.count == 1 else {
            Issue.record("\(log.answers)")
            return
        }
        #expect(reason.code == .outcomeUnknown)
        let returned = log.returned.map { request in
            switch request {
            case .action(let action): "action \(action.id?.rawValue ?? 0)"
            case .observe(let observer, _): "observe \(observer.rawValue)"
            case .ignore(let observer): "ignore \(observer.rawValue)"
            }
        }
        #expect(returned == ["observe 1", "action 2", "ignore 2"])
        let snapshot = try #require(log.snapshots.first)
        #expect(log.snapshots.count == 1 && snapshot.isLast)
        #expect(snapshot.version.revision == Revision(2) && snapshot.version.sequence == JournalSequence(1))
        #expect(Version<TestCount>.typed(snapshot.version).state.value == 2)
    }
}

@Suite struct `Snapshots for the journal` {
    @Test
    func `Snapshots for the journal are due by the policy, contain what is published, and one is made at a time`() {
        let history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0))
        var bench = PrimaryBench(history: history, snapshots: SnapshotPolicy(bytes: .max, records: 2))
        for number in UInt64(1)...3 { bench.reduce(number...number) }
        #expect(bench.engine.log.snapshots.isEmpty, "nothing is stored")
        bench.commit(1)
        #expect(bench.engine.log.snapshots.map(\.version.revision) == [Revision(1)])
        #expect(bench.engine.log.snapshots.map(\.version.sequence) == [JournalSequence(1)])
        #expect(bench.engine.log.snapshots.map { Version<TestCount>.typed($0.version).state.value } == [1])
        for number in UInt64(4)...5 { bench.reduce(number...number) }
        bench.commit()
        #expect(bench.engine.log.snapshots.count == 1, "one is being stored")
        bench.engine.snapshotStored(true)
        bench.reduce(6...6)
        bench.commit()
        #expect(bench.engine.log.snapshots.map(\.version.revision) == [Revision(1), Revision(6)])
        #expect(bench.engine.log.snapshots.allSatisfy { !$0.isLast })
    }
}

/// A middleware may keep its store for longer than its batch.
@Suite struct `A store that a middleware keeps` {
    private final class Kept: @unchecked Sendable {
        var stores: [MiddlewareStore<TestCount>] = []
    }

    @Test
    func `A store that a middleware keeps has the published state after its batch, and dispatches directly`() throws {
        let kept = Kept()
        let dispatcher = KeptDispatcher()
        var bench = EngineBench(
            StoreProgram(
                PrimaryBench.table,
                reducer: Reducer(of: TestAction.self) { state, _ in state.value += 1 },
                middleware: [
                    Middleware { action, store, next in
                        kept.stores.append(store)
                        let value = try next(action)
                        #expect(store.state.value == UInt64(kept.stores.count), "within its pass it has the new state")
                        store.dispatch(action)
                        return value
                    }
                ],
                dispatcher: dispatcher
            ),
            history: History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0)),
            state: TestCount()
        )
        bench.receive(PrimaryBench().frame(1...1))
        bench.holdsRequests = true
        bench.turn()
        bench.receive(PrimaryBench().frame(2...3))
        bench.turn()
        #expect(bench.records.count == 2)
        #expect(kept.stores.map(\.state.value) == [0, 0, 0], "nothing is published yet")
        kept.stores[0].dispatch(TestAction(number: 9))
        #expect(dispatcher.dispatchedCount == 1)
        #expect(bench.log.dispatched == 0)
        bench.commit()
        #expect(bench.log.dispatched == 3 && dispatcher.dispatchedCount == 1)
    }
}

/// Sessions are evicted while all of them have more runs of outcomes than a store remembers.
@Suite struct `An eviction` {
    /// The state after the stored records, in an engine of another incarnation.
    private func replayed(_ bench: PrimaryBench) throws -> PrimaryBench {
        PrimaryBench(history: try bench.engine.recovered(), bench.limits)
    }

    /// While a batch is reduced again, its sessions have no outcomes in flight, so that each of them could be evicted.
    /// The records would then contain outcomes of a session that the store has forgotten.
    @Test func `An eviction takes no session of a batch that is reduced again`() throws {
        var bench = PrimaryBench(.with { $0.maxSessionRuns = 2 })
        bench.verdicts = [2: .rejected(Rejection(.refused, "no")), 4: .breaksState]
        bench.push(1...6)
        bench.verdicts = [:]
        bench.push(1...2, of: Fixture.otherSession)
        bench.turn()
        #expect(bench.engine.log.records.count > 1, "it was reduced again in parts")
        #expect(bench.engine.log.records.allSatisfy { $0.record.forgotten.isEmpty })
        // If the session was forgotten, this opens it again, with outcomes that no record has.
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turn()
        bench.commit()
        #expect(bench.engine.log.receipts[Fixture.session]?.count == 6)
        #expect(bench.engine.log.receipts[Fixture.otherSession]?.count == 2)
        #expect(bench.reduced == Revision(6))
        #expect(try bench.context?.encoded == replayed(bench).context?.encoded)
    }

    @Test func `An eviction takes the longest idle session before the next batch, whose record lists it`() throws {
        var bench = PrimaryBench(.with { $0.maxSessionRuns = 2 })
        bench.verdicts = [2: .rejected(Rejection(.refused, "no"))]
        bench.push(1...3)
        bench.push(1...1, of: Fixture.otherSession)
        bench.turnAndCommit()
        bench.turn()
        bench.push(2...2, of: Fixture.otherSession)
        bench.turnAndCommit()
        #expect(bench.engine.log.records.map(\.record.forgotten) == [[], [Fixture.session]])
        var next = try replayed(bench)
        #expect(bench.context?.encoded == next.context?.encoded)
        #expect(next.reduce(4...4).refusals() == [.unknownSession])
    }

    /// It would make no room, however many of them were evicted.
    @Test func `An eviction takes no session with its share of the outcomes, although it was idle longest`() {
        var bench = PrimaryBench(.with { ($0.maxSessions, $0.maxSessionRuns) = (2, 4) })
        bench.verdicts = [2: .rejected(Rejection(.refused, "no")), 4: .rejected(Rejection(.refused, "no"))]
        bench.push(1...2)
        bench.turnAndCommit()
        bench.push(1...5, of: Fixture.otherSession)
        bench.turnAndCommit()
        bench.turn()
        let sessions = [Fixture.session, Fixture.otherSession]
        let known = sessions.map { bench.subscribed(to: .receipts($0)).watermarks(of: $0).first?.number }
        #expect(known == [ActionNumber(2), nil])
    }

    /// Records do not have what a running primary forgets, since senders do not need it.
    @Test func `An eviction takes no session at the start of a primary`() throws {
        var bench = PrimaryBench(.with { $0.maxSessionRuns = 4 })
        let sessions = [Fixture.session, Fixture.otherSession]
        for number in UInt64(1)...4 {
            for session in sessions {
                bench.push(number...number, of: session, lowest: number)
                bench.turnAndCommit()
            }
        }
        var next = try replayed(bench)
        next.turn()
        for session in sessions {
            #expect(next.subscribed(to: .receipts(session)).watermarks(of: session).first?.number == ActionNumber(4))
        }
    }

    /// That one has nothing to remember: it must neither evict others, nor be listed in a record.
    @Test func `An eviction takes no session for one whose first number is missing`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.push(1...1)
        bench.turnAndCommit()
        for number in UInt64(1)...100 {
            let session = SessionID(high: 9, low: number)
            bench.push(number + 5...number + 6, of: session, opened: 1, base: number)
            #expect(bench.turn().expected(of: session) == [number])
        }
        bench.push(2...2)
        #expect(bench.turnAndCommit().receipts() == [2: .applied(Revision(2))])
        #expect(bench.engine.log.records.map(\.record.forgotten) == [[], []])
        let opened = SessionID(high: 9, low: 7)
        bench.push(7...8, of: opened, opened: 1, base: 7)
        #expect(bench.turnAndCommit().receipts(of: opened).count == 2, "its first number has arrived")
        #expect(bench.engine.log.records.last?.record.forgotten == [Fixture.session])
    }
}

@Suite struct `An evicted session` {
    /// A sender pushes more than the inbox holds, and then waits because it is overloaded. Without the other refusal
    /// it would push the same frames in the same session again.
    @Test func `An evicted session is refused as unknown even if a later frame of it was refused for lack of room`() {
        var bench = PrimaryBench(
            .with {
                $0.maxSessions = 1
                $0.maxHeldBytes = 0
            }
        )
        bench.push(1...1)
        bench.turnAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turnAndCommit()
        var answers = bench.push(2...2)
        for _ in 0..<2 { answers += bench.push(3...3) }
        answers += bench.turn()
        #expect(answers.refusals() == [.overloaded, .unknownSession], "each once a turn")
        #expect(answers.refusals(on: .receipts(Fixture.session)).map(\.frame?.first.rawValue) == [3, 2])
    }

    /// An incarnation had evicted it, and told its sender the later sequence, but ended before that was durable. The
    /// late duplicate of the frame with which the sender went on must not open the session again.
    @Test func `An evicted session is refused from the sequence on that its sender adopted`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.push(1...1)
        bench.turnAndCommit()
        bench.push(2...2, opened: 1, base: 2)
        bench.turnAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turnAndCommit()
        let head = bench.engine.engine.published.revision
        let answers = bench.push(2...2, opened: 1, base: 2) + bench.turnAndCommit()
        #expect(answers.refusals() == [.unknownSession])
        #expect(bench.engine.engine.published.revision == head)
    }
}
