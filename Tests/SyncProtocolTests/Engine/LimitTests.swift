import StateCoding
import StateCore
import Testing

@testable import SyncProtocol

/// Each limit at the last value that is within it, and at the next one.
@Suite struct `The limits of an engine` {
    @Test func `heldBytesMax bytes of frames wait, one more byte is refused as overloaded`() {
        let bytes = Inbox.bytes(ofMessage: PrimaryBench().frame(1...3).actions.count)
        for (bytesMax, refusals) in [(2 * bytes, []), (2 * bytes - 1, [Rejection.Code.overloaded])] {
            var bench = PrimaryBench(.with { $0.heldBytesMax = bytesMax })
            #expect(bench.push(1...3) == [])
            let answers = bench.push(1...3, of: Fixture.otherSession)
            #expect(answers.refusals(of: Fixture.otherSession) == refusals)
            for refusal in answers.refusals(on: .receipts(Fixture.otherSession)) {
                #expect(refusal.retryAfter == bench.limits.retryDelayMin)
                #expect(refusal.frame?.first == ActionNumber(1))
            }
            bench.turn()
            #expect(bench.reduced == Revision(refusals.isEmpty ? 6 : 3))
            #expect(bench.push(1...3, of: Fixture.otherSession) == [], "the inbox is empty again")
        }
    }

    @Test func `one frame always fits the inbox`() {
        var bench = PrimaryBench(.with { $0.heldBytesMax = 0 })
        #expect(bench.push(1...3) == [])
        #expect(bench.push(4...4).refusals() == [.overloaded])
        bench.turn()
        #expect(bench.reduced == Revision(3))
    }

    @Test func `a frame that does not fit does not keep a sender from learning that its session is unknown`() {
        var bench = PrimaryBench(.with { ($0.sessionsMax, $0.heldBytesMax) = (1, 0) })
        bench.push(1...1)
        bench.turnAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turnAndCommit()
        #expect(bench.push(2...2) == [])
        #expect(bench.push(3...3).refusals() == [.overloaded])
        #expect(bench.turn().refusals() == [.unknownSession])
    }

    @Test func `heldBytesMax bounds the number of frames, however small their actions are`() throws {
        var bench = PrimaryBench(.with { $0.heldBytesMax = 100_000 })
        var count = 0
        var messageBytes = 0
        var isRefused = false
        while !isRefused {
            count += 1
            let frame = ActionsFrame(
                lineage: Fixture.lineage,
                session: SessionID(high: 8, low: UInt64(count)),
                opened: JournalSequence(0),
                base: ActionNumber(1),
                first: ActionNumber(1),
                actions: [[]]
            )
            let message = Message.encode(.actions(frame), to: Address(Fixture.store(), .actions))
            guard case .actions(let received) = try Message.decode(message).frame else { return }
            isRefused = bench.receive(received) != []
            messageBytes = message.count
        }
        // A frame keeps its message.
        #expect((count - 1) * (messageBytes + MemoryLayout<PendingFrame>.stride) <= 100_000)
    }

    @Test func `an engine wants a frame while one of frameBytesMax bytes surely fits`() {
        let bytes = Inbox.bytes(ofMessage: PrimaryBench().frame(1...3).actions.count)
        let largest = Inbox.bytes(ofMessage: 5000)
        for (bytesMax, wants) in [(bytes + largest, true), (bytes + largest - 1, false)] {
            var bench = PrimaryBench(
                .with {
                    $0.frameBytesMax = 5000
                    $0.heldBytesMax = bytesMax
                }
            )
            #expect(bench.engine.engine.wantsFrames)
            bench.push(1...3)
            #expect(bench.engine.engine.wantsFrames == wants)
        }
    }

    @Test(arguments: [(3, [3, 1]), (4, [4])] as [(Int, [UInt64])])
    func `a turn reduces at most its budget of actions`(actionsMax: Int, turns: [UInt64]) {
        var bench = PrimaryBench()
        bench.engine.budget = TurnBudget(actions: actionsMax)
        bench.push(1...2)
        bench.push(1...2, of: Fixture.otherSession)
        for reduced in turns {
            let before = bench.reduced.rawValue
            bench.turn()
            #expect(bench.reduced.rawValue - before == reduced)
        }
        #expect(!bench.hasWork)
    }

    @Test(arguments: [(3, [3, 1]), (4, [4])] as [(Int, [UInt64])])
    func `a turn reduces at most its budget of own actions`(actionsMax: Int, turns: [UInt64]) {
        var bench = PrimaryBench()
        bench.engine.budget = TurnBudget(actions: actionsMax)
        bench.act(4)
        for reduced in turns {
            let before = bench.reduced.rawValue
            bench.turn()
            #expect(bench.reduced.rawValue - before == reduced)
        }
        #expect(!bench.hasWork)
    }

    @Test func `a turn ends once its actions reach its budget of bytes`() {
        let frame = PrimaryBench().frame(1...4)
        let bytes = frame.actions.count / 4
        for (bytesMax, reduced) in [(1, 1), (2 * bytes, 2), (2 * bytes + 1, 3), (4 * bytes, 4)] as [(Int, UInt64)] {
            for frames in [[frame], (UInt64(1)...4).map { PrimaryBench().frame($0...$0) }] {
                var bench = PrimaryBench()
                bench.engine.budget.bytes = bytesMax
                for frame in frames { bench.receive(frame) }
                bench.turn()
                #expect(bench.reduced == Revision(reduced), "\(bytesMax) bytes, \(frames.count) frames")
                while bench.hasWork { bench.turn() }
                #expect(bench.reduced == Revision(4))
            }
        }
    }

    @Test func `uncommittedRecordsMax records are in flight, and further actions wait`() {
        var bench = PrimaryBench(.with { $0.uncommittedRecordsMax = 2 })
        bench.reduce(1...1)
        #expect(bench.engine.engine.wantsFrames)
        bench.reduce(2...2)
        #expect(!bench.engine.engine.wantsFrames)
        bench.act()
        bench.reduce(3...3)
        #expect(bench.records.count == 2 && bench.reduced == Revision(2))
        #expect(!bench.hasWork, "a turn would have nothing to do")
        bench.commit(1)
        #expect(bench.hasWork && bench.engine.engine.wantsFrames)
        bench.turn()
        #expect(bench.records.count == 2 && bench.reduced == Revision(4))
    }

    @Test(arguments: [StoreSettings.Commitment.stored, .accepted])
    func `records of uncommittedBytesMax bytes are not stored, and further actions wait`(
        commitment: StoreSettings.Commitment
    ) {
        var probe = PrimaryBench()
        probe.reduce(1...1)
        let bytes = probe.records.reduce(0) { $0 + $1.body.count }
        for (bytesMax, reduced) in [(bytes, 1), (bytes + 1, 2)] as [(Int, UInt64)] {
            var bench = PrimaryBench(.with { $0.uncommittedBytesMax = bytesMax }, commitment: commitment)
            bench.reduce(1...1)
            bench.reduce(2...2)
            #expect(bench.reduced == Revision(reduced), "\(bytesMax) bytes")
            bench.commit()
            bench.turn()
            bench.commit()
            #expect(bench.head == Revision(2))
        }
    }
}
