import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The primary's own session` {
    @Test func `The primary's own session has numbers like any other, and outcomes in the same record`() {
        var bench = PrimaryBench()
        bench.push(1...1)
        bench.act(2)
        bench.turn()
        let runs = bench.records.flatMap(\.record.runs)
        #expect(bench.records.count == 1)
        #expect(Set(runs.map(\.session)) == [Fixture.session, .primary])
        #expect(runs.filter { $0.session == .primary }.first?.first == ActionNumber(1))
        #expect(runs.filter { $0.session == .primary }.reduce(0) { $0 + $1.entries.count } == 2)
        #expect(bench.records.first?.to == Revision(3))
        #expect(bench.commit().receipts() == [1: .applied(Revision(1))])
        bench.act()
        bench.turn()
        #expect(bench.records.first?.record.runs.map(\.first) == [ActionNumber(3)])
    }

    @Test func `The primary's own session gets no published receipts`() {
        var bench = PrimaryBench()
        bench.act(2)
        #expect(bench.turnAndCommit().topics == [.feed])
    }

    @Test func `The primary's own session has room for maxWindowActions actions, and again when they are durable`() {
        var bench = PrimaryBench(.with { $0.maxWindowActions = 3 })
        bench.act(2)
        bench.turn()
        bench.act(3)
        bench.turn()
        #expect(bench.reduced == Revision(3), "there is room for three")
        #expect(!bench.hasWork, "the others wait for the journal")
        _ = bench.commit(1)
        #expect(bench.hasWork)
        bench.turn()
        #expect(bench.reduced == Revision(5))
        _ = bench.commit()
        bench.act(4)
        bench.turn()
        #expect(bench.reduced == Revision(8))
    }

    @Test func `The primary's own session is rolled back with a batch that is reduced again`() {
        var bench = PrimaryBench()
        bench.act()
        bench.turn()
        bench.act()
        bench.engine.request(.action(LocalAction(TestAction(number: 0, verdict: .breaksState), origin: .dispatched)))
        bench.act()
        bench.turn()
        #expect(bench.reduced == Revision(3))
        let entries = bench.records.flatMap(\.record.runs).flatMap { run in
            run.entries.enumerated().map { (run.first.rawValue + UInt64($0.offset), $0.element.rejection?.code) }
        }
        #expect(entries.map(\.0) == [1, 2, 3, 4], "each number once")
        #expect(entries.map(\.1) == [nil, nil, .unencodable, nil])
    }

    @Test func `The primary's own session is not counted and never evicted`() {
        var bench = PrimaryBench(.with { $0.maxSessions = 1 })
        bench.act()
        bench.turnAndCommit()
        bench.push(1...1)
        #expect(bench.turnAndCommit().receipts() == [1: .applied(Revision(2))])
        let other = Fixture.otherSession
        bench.push(1...1, of: other, opened: 2)
        #expect(bench.turnAndCommit().receipts(of: other) == [1: .applied(Revision(3))])
        bench.act()
        bench.turn()
        #expect(bench.records.first?.record.runs.map(\.first) == [ActionNumber(2)])
    }

    @Test func `The primary's own session refuses subscribers to its receipts`() {
        var bench = PrimaryBench()
        bench.act()
        bench.turnAndCommit()
        let answer = bench.subscribed(to: .receipts(.primary))
        #expect(answer.refusals(of: .primary) == [.malformed])
        #expect(answer.frames(on: .receipts(.primary)).count == 1)
    }

    @Test func `The primary's own session gets each outcome after the frames of its batch are published`() {
        var steps: [String] = []
        var engine = PrimaryBench().engine.engine
        var directives: [StoreDirective] = []
        for number in UInt64(1)...2 {
            let action = TestAction(number: number)
            engine.received(PrimaryBench().frame(number...number), from: nil, at: .origin, into: &directives)
            engine.requested(.action(LocalAction(action, id: LocalID(number), origin: .awaited)))
            engine.turn(at: .origin, time: Fixture.time, marking: RecordedMarks(), into: &directives)
        }
        directives = []
        engine.stored(through: JournalSequence(2), into: &directives)
        for directive in directives {
            switch directive {
            case .publish(let topic, _): steps.append(topic == .feed ? "update" : "receipts")
            case .show(let version): steps.append("show \(version.revision)")
            case .answer(let id, _): steps.append("answer \(id.rawValue)")
            default: break
            }
        }
        #expect(
            steps == [
                "update", "receipts", "show 2", "answer 1", "update", "receipts", "show 4", "answer 2",
            ]
        )
    }
}
