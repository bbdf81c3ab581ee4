import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `Sessions on the primary` {
    private func session(_ number: UInt64) -> SessionID { SessionID(high: 77, low: number) }

    @Test func `the watermark of an unknown session has no number, and says where it would open`() throws {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 5 })
        bench.advance(by: 2)
        let answer = bench.subscribed(to: .receipts(Fixture.session))
        let watermark = try #require(answer.watermarks().first)
        #expect(watermark.number == nil)
        #expect(watermark.opened == JournalSequence(2))
        #expect(watermark.endpoint == Fixture.endpoint)
        #expect(watermark.maxWindowActions == 5)
        #expect(watermark.maxActionBytes == bench.limits.maxActionBytes)
        #expect(watermark.maxFrameBytes == bench.limits.maxFrameBytes)
    }

    @Test func `the watermark is the last durable number, followed by the remembered receipts`() throws {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 4 })
        for number in UInt64(1)...6 {
            bench.push(number...number)
            bench.turnAndCommit()
        }
        bench.reduce(7...7)
        let answer = bench.subscribed(to: .receipts(Fixture.session))
        #expect(answer.watermarks().map(\.number) == [ActionNumber(6)])
        #expect(answer.watermarks().map(\.opened) == [JournalSequence(0)])
        // Of the four remembered ones the last is not durable.
        #expect(answer.receipts().keys.sorted() == [4, 5, 6])
        guard case .watermark = answer.frames(on: .receipts(Fixture.session)).first else {
            Issue.record("the watermark has to come first")
            return
        }
    }

    @Test func `subscriptions to receipts get one answer per turn`() {
        var bench = PrimaryBench()
        for _ in 0..<2 {
            for _ in 0..<2 { #expect(bench.engine.subscribed(to: .receipts(Fixture.session)) == []) }
            #expect(bench.hasWork)
            #expect(bench.turn().watermarks().count == 1)
            #expect(!bench.hasWork)
        }
    }

    @Test func `the session that was idle longest is evicted`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 2 })
        for number in [1, 2, 1] as [UInt64] {
            let known = bench.subscribed(to: .receipts(session(number))).watermarks(of: session(number)).first
            let next = (known?.number?.rawValue ?? 0) + 1
            bench.push(next...next, of: session(number))
            bench.turnAndCommit()
            bench.turn()
        }
        bench.push(1...1, of: session(3), opened: 3)
        bench.turnAndCommit()
        let numbers = (1...3).map { number in
            bench.subscribed(to: .receipts(session(number))).watermarks(of: session(number)).first?.number
        }
        #expect(numbers == [ActionNumber(2), nil, ActionNumber(1)])
    }

    @Test func `maxSessionRuns runs of outcomes are remembered, one more evicts the session that was idle longest`() {
        var bench = PrimaryBench(.with { $0.maxSessionRuns = 4 })
        bench.verdicts[2] = .rejected(Rejection(.refused, "no"))
        func known() -> [UInt64] {
            bench.turn()
            return (1...3).filter { number in
                bench.subscribed(to: .receipts(session(number))).watermarks(of: session(number)).first?.number != nil
            }
        }
        // Applied, rejected, applied; and one more run.
        bench.push(1...3, of: session(1))
        bench.turnAndCommit()
        bench.push(1...1, of: session(2))
        bench.turnAndCommit()
        #expect(known() == [1, 2])
        bench.push(1...1, of: session(3), opened: 2)
        bench.turnAndCommit()
        #expect(known() == [2, 3])
    }

    @Test func `actions of an evicted session are never applied again`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.push(1...1, of: session(1))
        bench.turnAndCommit()
        bench.push(1...1, of: session(2), opened: 1)
        bench.turnAndCommit()
        bench.push(1...1, of: session(1))
        bench.push(2...2, of: session(1))
        #expect(bench.turn().refusals(of: session(1)) == [.unknownSession], "once a turn")
        #expect(bench.reduced == Revision(2))
    }

    @Test func `a refusal names its frame, and a late duplicate's does not replace the own frame's`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.push(1...1, of: session(1))
        bench.turnAndCommit()
        bench.push(1...1, of: session(2), opened: 1)
        bench.turnAndCommit()
        bench.push(1...1, of: session(3), opened: 2)
        bench.turnAndCommit()
        let topic = Topic.receipts(session(1))
        bench.push(1...1, of: session(1))
        bench.push(2...3, of: session(1), opened: 1, base: 2)
        bench.push(4...4, of: session(1), opened: 1, base: 2)
        let refusals = bench.turn().refusals(on: topic)
        let late = Refusal.PushedFrame(opened: JournalSequence(0), first: ActionNumber(1))
        let own = Refusal.PushedFrame(opened: JournalSequence(1), first: ActionNumber(2))
        #expect(refusals.map(\.frame) == [late, own], "once a turn")
    }

    @Test func `a session that is opened again after its eviction agrees with the records before`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 2 })
        for number in UInt64(1)...2 {
            bench.push(1...1, of: session(number))
            bench.turnAndCommit()
        }
        let recorded = try #require(bench.context).sessions
        // The record that lists the evicted sessions is not stored yet.
        bench.push(1...1, of: session(3), opened: 1)
        bench.push(2...2, of: session(1), opened: 2, base: 2)
        bench.turn()
        let sessions = try #require(bench.context).sessions
        #expect(sessions.agrees(with: recorded))
        #expect(!recorded.agrees(with: sessions))
    }

    @Test func `a session whose sender adopted a later sequence agrees with the records before`() throws {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.turnAndCommit()
        let recorded = try #require(bench.context).sessions
        bench.push(2...2, opened: 1, base: 2)
        bench.turn()
        let sessions = try #require(bench.context).sessions
        #expect(sessions != recorded)
        #expect(sessions.agrees(with: recorded))
        #expect(!recorded.agrees(with: sessions))
    }

    @Test func `a fresh session is admitted after an eviction`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        for number in UInt64(1)...5 {
            let asked = bench.subscribed(to: .receipts(session(number)))
            let opened = try #require(asked.watermarks(of: session(number)).first?.opened.rawValue)
            bench.push(1...1, of: session(number), opened: opened)
            #expect(bench.turnAndCommit().receipts(of: session(number)).count == 1)
        }
    }

    @Test func `a fresh session is admitted even if the evicted ones never applied an action`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 2 })
        // Each opens a session, and nothing is written: the first number of each is missing.
        for number in UInt64(1)...5 { bench.push(2...2, of: session(number)) }
        bench.turn()
        let asked = bench.subscribed(to: .receipts(Fixture.session))
        let opened = try #require(asked.watermarks().first?.opened.rawValue)
        bench.push(1...1, opened: opened)
        #expect(bench.turnAndCommit().receipts() == [1: .applied(Revision(1))])
    }

    @Test func `a session that claims a future opening is unknown`() {
        var bench = PrimaryBench()
        #expect(bench.reduce(1...1, opened: 1).refusals() == [.unknownSession])
        #expect(bench.reduce(1...1, of: Fixture.otherSession, opened: 0).refusals(of: Fixture.otherSession) == [])
        #expect(bench.reduced == Revision(1))
    }

    @Test func `while all sessions have uncommitted actions another one is refused as overloaded`() throws {
        var bench = PrimaryBench(.with { $0.maxSessions = 2 })
        bench.push(1...1, of: session(1))
        bench.push(1...1, of: session(2))
        bench.turn()
        let refused = bench.reduce(1...1).refusals(on: .receipts(Fixture.session))
        #expect(refused.map(\.reason.code) == [.overloaded])
        #expect(refused.first?.retryAfter == bench.limits.minRetryDelay)
        _ = bench.commit()
        _ = bench.turn()
        let asked = bench.subscribed(to: .receipts(Fixture.session))
        let opened = try #require(asked.watermarks().first?.opened.rawValue)
        bench.push(1...1, opened: opened)
        #expect(bench.turnAndCommit().receipts() == [1: .applied(Revision(3))])
    }

    @Test func `maxSessions sessions are remembered, one more evicts another`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 3 })
        for number in UInt64(1)...3 { bench.push(1...1, of: session(number)) }
        bench.turnAndCommit()
        func known() -> Int {
            bench.turn()
            return (1...4).count { number in
                bench.subscribed(to: .receipts(session(number))).watermarks(of: session(number)).first?.number
                    != nil
            }
        }
        #expect(known() == 3)
        bench.push(1...1, of: session(4), opened: 1)
        bench.turnAndCommit()
        #expect(known() == 3)
    }

    @Test func `a subscription to the schema gets the actions, the state version and the store's position`() {
        var bench = PrimaryBench()
        bench.push(1...2)
        bench.turnAndCommit()
        bench.push(3...3)
        bench.turn()
        let schema = StoreSchema(
            lineage: Fixture.lineage,
            stateVersion: 99,
            actions: PrimaryBench.table.entries,
            epoch: Fixture.epoch,
            head: Revision(2),
            sessions: 1,
            durability: "full"
        )
        bench.turn()
        #expect(bench.subscribed(to: .schema) == [.publish(.schema, .schema(schema))])
    }

    @Test(arguments: [4, 3, 0] as [UInt64])
    func `a snapshot has the durable number of a session, however many actions are in flight`(underway: UInt64) throws {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 4 })
        bench.push(1...4)
        bench.turnAndCommit()
        if underway > 0 { bench.reduce(5...(4 + underway)) }
        let context = try #require(bench.context)
        let read = try SnapshotContext(decoding: context.encoded)
        let history = History(
            lineage: Fixture.lineage,
            epoch: Epoch(2),
            epochs: [],
            from: read,
            at: JournalSequence(1),
            Revision(4)
        )
        var next = PrimaryBench(history: history)
        next.reduce(1...6)
        #expect(next.commit().receipts() == [5: .applied(Revision(5)), 6: .applied(Revision(6))])
    }
}

@Suite struct `A known session` {
    @Test func `A known session is identified by its numbers alone`() {
        var bench = PrimaryBench()
        bench.advance(by: 1)
        bench.push(5...6, opened: 1, base: 5)
        bench.turnAndCommit()
        #expect(bench.reduce(6...7, opened: 0, base: 1).receipts() == [6: .applied(Revision(3))])
        #expect(bench.commit().receipts() == [7: .applied(Revision(4))])
    }

    @Test func `A known session does not answer numbers below its first one`() {
        var bench = PrimaryBench()
        bench.push(5...6, base: 5)
        bench.turnAndCommit()
        #expect(bench.reduce(1...4).topics == [])
        #expect(bench.reduce(3...6).receipts() == [5: .applied(Revision(1)), 6: .applied(Revision(2))])
        #expect(bench.turn().topics == [] && bench.records.isEmpty)
    }

    @Test func `A known session answers a frame of another lineage with its watermark and receipts`() {
        var bench = PrimaryBench()
        bench.push(1...2)
        bench.turnAndCommit()
        let answer = bench.reduce(3...3, lineage: Fixture.otherLineage)
        #expect(answer.watermarks().map(\.number) == [ActionNumber(2)])
        #expect(answer.receipts() == [1: .applied(Revision(1)), 2: .applied(Revision(2))])
        #expect(bench.turn().topics == [] && bench.records.isEmpty)
    }
}
