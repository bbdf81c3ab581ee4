import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

/// What an authenticated user may send, and whose a session is.
@Suite struct `Permissions on the primary` {
    /// Records the users of the actions that reach it.
    private struct Seen: Codable, Equatable, Sendable {
        var users: [String?] = []
    }

    private struct Allowed: Action { var number: UInt64 }

    /// Its payload says when it is decoded.
    private struct Forbidden: Action {
        init() {}
        init(from decoder: any Decoder) throws { RecordedMarks.observer?.record(.decoded(0)) }
        func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: Key.self) }
        private enum Key: CodingKey {}
    }

    private static let member = FrameSender(user: "member", sendingTo: Fixture.store(), actions: [Allowed.name])
    private let id = Fixture.session

    /// A user who may send every action.
    private func user(_ name: String) -> FrameSender {
        FrameSender(user: name, sendingTo: Fixture.store(), actions: nil)
    }

    private func bench() throws -> EngineBench<Seen> {
        let program = StoreProgram<Seen>(
            try ActionTable([Allowed.self, Forbidden.self]),
            reducer: .withContext { state, _, context in
                state.users.append(context.user)
                return .none
            },
            middleware: [],
            dispatcher: KeptDispatcher()
        )
        return EngineBench(program, history: try Fixture.history(of: Seen()), state: Seen())
    }

    private func frame(_ first: UInt64, _ actions: [any Action], of session: SessionID? = nil) throws -> ActionsFrame {
        Fixture.frame(try actions.map { try ActionTable.encode($0) }, first: first, of: session ?? id)
    }

    // MARK: Actions

    @Test func `an action without the right is rejected for good, before its payload is decoded`() throws {
        var bench = try bench()
        try bench.receive(frame(1, [Allowed(number: 1), Forbidden(), Allowed(number: 2)]), from: Self.member)
        let marks = bench.marks
        RecordedMarks.$observer.withValue(marks) { _ = bench.turn() }
        let record = try #require(bench.records.first).record
        let entries = record.runs.flatMap(\.entries)
        #expect(record.runs.map(\.user) == ["member"])
        #expect(entries.map(\.rejection?.code) == [nil, .notPermitted, nil])
        #expect(entries[1].action == [], "the record has nothing of what was not permitted")
        #expect(
            entries[1].rejection?.message
                == "the access list of the primary has no send=fleet/Forbidden for the key of this sender"
        )
        #expect(!marks.marks.contains(.decoded(0)))
        let receipts = bench.commit().receipts()
        #expect(receipts.keys.sorted() == [1, 2, 3])
        #expect(bench.engine.state.users == ["member", "member"])
        // Sent again with the right, it gets the same answer: the first one was final.
        let again = try bench.receive(frame(2, [Forbidden()]), from: user("member")) + bench.turns()
        #expect(again.receipts()[2]?.code == .notPermitted)
    }

    /// The name in another form than the shortest is found on another way.
    @Test func `the right is needed in each form of an action`() throws {
        var bench = try bench()
        let name = Array(Forbidden.name.utf8)
        let long: [UInt8] = [0x98, 2, 0x78, UInt8(name.count)] + name + [0xA0]
        bench.receive(Fixture.frame([long, long], of: id), from: Self.member)
        bench.turn()
        #expect(bench.commit().receipts().values.allSatisfy { $0.code == .notPermitted })
        #expect(bench.engine.state.users == [])
        try bench.receive(self.frame(3, [Forbidden()]), from: user("member"))
        bench.turn()
        #expect(bench.engine.state.users == ["member"])
    }

    @Test func `a batch that is reduced again in parts keeps the rights and the users of its frames`() throws {
        var bench = PrimaryBench()
        bench.verdicts[3] = .breaksState
        let (own, other) = (Fixture.session, Fixture.otherSession)
        bench.receive(
            bench.frame(1...4, of: own),
            from: FrameSender(user: "none", sendingTo: Fixture.store(), actions: [])
        )
        bench.receive(bench.frame(1...4, of: other), from: user("admin"))
        bench.turn()
        let receipts = bench.records.map(\.record).flatMap(\.runs)
        #expect(Set(receipts.map { "\($0.session) \($0.user ?? "nil")" }) == ["\(own) none", "\(other) admin"])
        func codes(_ session: SessionID) -> [Rejection.Code?] {
            receipts.filter { $0.session == session }.flatMap(\.entries).map(\.rejection?.code)
        }
        #expect(codes(own) == Array(repeating: .notPermitted, count: 4))
        #expect(codes(other) == [nil, nil, .unencodable, nil])
        // All who may send can read it, so it says nothing of the state. The log has the failure.
        let messages = receipts.filter { $0.session == other }.flatMap(\.entries).compactMap(\.rejection?.message)
        #expect(
            messages == [
                "the action, or the state after it, cannot be encoded: the primary's log says why, at level debug"
            ]
        )
    }

    @Test func `Permissions on the primary without keys, actions have no user and every one is permitted`() throws {
        var bench = try bench()
        try bench.receive(frame(1, [Forbidden()]))
        bench.turn()
        #expect(bench.engine.state.users == [nil])
        #expect(bench.records.first?.record.runs.map(\.user) == [nil])
    }

    // MARK: Sessions

    @Test func `a session belongs to the user who opened it, and another one gets no answer`() throws {
        var bench = PrimaryBench()
        bench.receive(bench.frame(1...1), from: user("first"))
        bench.turn()
        bench.commit()
        for numbers in [1...1, 2...2, 9...9] as [ClosedRange<UInt64>] {
            let answers = bench.receive(bench.frame(numbers), from: user("second")) + bench.turn()
            #expect(answers == [.count(.refused(.notPermitted))])
        }
        #expect(bench.records.isEmpty)
        // Not even what the session has already, and the log says so once.
        let topic = Topic.receipts(Fixture.session)
        let asked = bench.engine.subscribed(to: topic, from: user("second")) + bench.turn()
        #expect(asked == [.count(.refused(.notPermitted))])
        let notices = bench.engine.log.notices.filter { if case .otherUser = $0 { true } else { false } }
        #expect(notices == [.otherUser(Fixture.session, "second", owner: "first")])
        #expect(bench.engine.subscribed(to: topic, from: user("first")) + bench.turn() != [])
        bench.receive(bench.frame(2...2), from: user("first"))
        #expect(bench.turnAndCommit().receipts().keys.sorted() == [2])
    }

    /// Both frames arrive before the session exists.
    @Test func `a session that two users open in one turn belongs to the first`() throws {
        var bench = PrimaryBench()
        bench.receive(bench.frame(1...1), from: user("first"))
        bench.receive(bench.frame(2...2), from: user("second"))
        bench.turn()
        #expect(bench.records.flatMap(\.record.runs).map(\.user) == ["first"])
    }

    @Test func `a session from before the keys goes to the first user who continues it`() throws {
        var bench = PrimaryBench()
        bench.reduce(1...1)
        bench.commit()
        bench.receive(bench.frame(2...2), from: user("first"))
        bench.turnAndCommit()
        #expect(
            bench.receive(bench.frame(3...3), from: user("second")) == [.count(.refused(.notPermitted))]
        )
    }

    @Test(arguments: [true, false]) func `the user of a session outlives the process`(ofSnapshot: Bool) throws {
        var bench = PrimaryBench()
        bench.receive(bench.frame(1...1), from: user("first"))
        bench.turn()
        let record = try #require(bench.records.first).record
        bench.commit()
        let context = try #require(bench.context)
        var history = History(lineage: Fixture.lineage, epoch: Fixture.epoch.next, summary: PrimaryBench.summary(0))
        if ofSnapshot {
            let read = try SnapshotContext(decoding: context.encoded)
            (history.head, history.sequence, history.sessions) = (Revision(1), JournalSequence(1), read.sessions)
        } else {
            try history.replay(record, at: JournalSequence(1), limits: Limits())
        }
        #expect(context.sessions.agrees(with: history.sessions))
        var next = PrimaryBench(history: history)
        #expect(next.receive(next.frame(2...2), from: user("second")) == [.count(.refused(.notPermitted))])
        next.receive(next.frame(2...2), from: user("first"))
        #expect(next.turnAndCommit().receipts().keys.sorted() == [2])
    }

    /// The list may change between two turns.
    @Test func `the rest of a frame keeps the rights with which the frame arrived`() throws {
        var bench = try bench()
        try bench.receive(frame(1, [Allowed(number: 1), Forbidden(), Forbidden()]), from: Self.member)
        bench.turn(TurnBudget(actions: 2, bytes: .max))
        try bench.receive(frame(4, [Forbidden()]), from: user("member"))
        bench.turns()
        let entries = bench.records.map(\.record).flatMap(\.runs).flatMap(\.entries)
        #expect(entries.map(\.rejection?.code) == [nil, .notPermitted, .notPermitted, nil])
    }

    @Test func `a session keeps its user when its actions are rolled back`() {
        var bench = PrimaryBench()
        bench.receive(bench.frame(1...2), from: user("first"))
        bench.turn()
        bench.fill()
        bench.now = bench.now.advanced(by: .seconds(60))
        #expect(bench.receive(bench.frame(1...2), from: user("second")) == [.count(.refused(.notPermitted))])
        bench.receive(bench.frame(1...2), from: user("first"))
        #expect(bench.turnAndCommit().receipts().keys.sorted() == [1, 2])
    }

    /// A frame of known actions leaves no record, so a later start would not know its user.
    @Test func `a user owns a session from the first new action on`() {
        var bench = PrimaryBench()
        bench.reduce(1...1)
        bench.commit()
        bench.receive(bench.frame(1...1), from: user("first"))
        #expect(bench.turn().receipts().keys.sorted() == [1])
        bench.receive(bench.frame(2...2), from: user("second"))
        bench.turn()
        #expect(bench.records.flatMap(\.record.runs).map(\.user) == ["second"])
    }

    @Test func `an evicted session that another user opens belongs to that user, also after a replay`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.receive(bench.frame(1...1), from: user("first"))
        bench.turnAndCommit()
        bench.receive(bench.frame(1...1, of: Fixture.otherSession, opened: 1), from: user("other"))
        bench.turnAndCommit()
        bench.receive(bench.frame(5...5, opened: 2, base: 5), from: user("second"))
        bench.turnAndCommit()
        var history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0))
        for record in bench.engine.log.stored {
            try history.replay(record.record, at: record.sequence, limits: bench.limits)
        }
        var next = PrimaryBench(history: history)
        #expect(
            next.receive(next.frame(6...6, opened: 2, base: 5), from: user("first")) == [
                .count(.refused(.notPermitted))
            ]
        )
        next.receive(next.frame(6...6, opened: 2, base: 5), from: user("second"))
        #expect(next.turnAndCommit().receipts().keys.sorted() == [6])
    }

    @Test func `a user with too many sessions loses its own longest idle one, and not those of others`() {
        var bench = PrimaryBench(.with { $0.maxUserSessions = 2 })
        func session(_ number: UInt64) -> SessionID { SessionID(high: 77, low: number) }
        func open(_ number: UInt64, _ user: FrameSender?) -> [Answer] {
            let opened = bench.head.rawValue
            bench.receive(bench.frame(1...1, of: session(number), opened: opened), from: user)
            return bench.turn()
        }
        for (number, user) in [(UInt64(1), user("other")), (2, nil), (3, user("many")), (4, user("many"))] {
            _ = open(number, user)
            bench.commit()
        }
        _ = open(5, user("many"))
        #expect(bench.records.flatMap(\.record.forgotten) == [session(3)])
        bench.commit()
        // Both of its sessions are active, so none can be evicted for a third one. Other users still open some.
        bench.receive(bench.frame(2...2, of: session(4), opened: 3), from: user("many"))
        bench.receive(bench.frame(2...2, of: session(5), opened: 4), from: user("many"))
        bench.turn()
        #expect(open(6, user("many")).refusals(of: session(6)) == [.overloaded])
        #expect(open(7, user("other")).refusals(of: session(7)) == [])
        #expect(bench.records.flatMap(\.record.forgotten) == [])
    }

    /// The limit was lowered, or the journal is from a primary without keys.
    @Test func `more sessions than a user may have stay until it opens the next one`() throws {
        var bench = PrimaryBench()
        func session(_ number: UInt64) -> SessionID { SessionID(high: 77, low: number) }
        for number in UInt64(1)...4 {
            bench.receive(bench.frame(1...1, of: session(number), opened: number - 1), from: user("many"))
            bench.turnAndCommit()
        }
        var history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0))
        for record in bench.engine.log.stored {
            try history.replay(record.record, at: record.sequence, limits: bench.limits)
        }
        var next = PrimaryBench(history: history, .with { $0.maxUserSessions = 2 })
        next.receive(next.frame(2...2, of: session(1), opened: 0), from: user("many"))
        next.turn()
        #expect(next.records.flatMap(\.record.forgotten) == [])
        next.commit()
        next.receive(next.frame(1...1, of: session(5), opened: 5), from: user("many"))
        next.turn()
        // Session 1 was used last.
        #expect(next.records.flatMap(\.record.forgotten) == [session(2), session(3), session(4)])
    }
}
