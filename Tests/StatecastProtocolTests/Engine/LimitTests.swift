import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

/// Each limit at the last value that is within it, and at the next one.
@Suite struct `The limits of an engine` {
    @Test func `maxHeldBytes bytes of frames wait, one more byte is refused as overloaded`() {
        let bytes = Inbox.bytes(ofMessage: PrimaryBench().frame(1...3).actions.count)
        for (maxBytes, refusals) in [(2 * bytes, []), (2 * bytes - 1, [Rejection.Code.overloaded])] {
            var bench = PrimaryBench(.with { $0.maxHeldBytes = maxBytes })
            #expect(bench.push(1...3) == [])
            let answers = bench.push(1...3, of: Fixture.otherSession)
            #expect(answers.refusals(of: Fixture.otherSession) == refusals)
            for refusal in answers.refusals(on: .receipts(Fixture.otherSession)) {
                #expect(refusal.retryAfter == bench.limits.minRetryDelay)
                #expect(refusal.frame?.first == ActionNumber(1))
            }
            bench.turn()
            #expect(bench.reduced == Revision(refusals.isEmpty ? 6 : 3))
            #expect(bench.push(1...3, of: Fixture.otherSession) == [], "the inbox is empty again")
        }
    }

    @Test func `one frame always fits the inbox`() {
        var bench = PrimaryBench(.with { $0.maxHeldBytes = 0 })
        #expect(bench.push(1...3) == [])
        #expect(bench.push(4...4).refusals() == [.overloaded])
        bench.turn()
        #expect(bench.reduced == Revision(3))
    }

    @Test func `a frame that does not fit does not keep a sender from learning that its session is unknown`() {
        var bench = PrimaryBench(.with { ($0.maxSessions, $0.maxHeldBytes) = (1, 0) })
        bench.push(1...1)
        bench.turnAndCommit()
        bench.push(1...1, of: Fixture.otherSession, opened: 1)
        bench.turnAndCommit()
        #expect(bench.push(2...2) == [])
        #expect(bench.push(3...3).refusals() == [.overloaded])
        #expect(bench.turn().refusals() == [.unknownSession])
    }

    @Test func `maxHeldBytes bounds the number of frames, however small their actions are`() throws {
        var bench = PrimaryBench(.with { $0.maxHeldBytes = 100_000 })
        var count = 0
        var messageBytes = 0
        var isRefused = false
        while !isRefused {
            count += 1
            let secret = SessionSecret(high: 8, low: UInt64(count))
            let frame = Fixture.frame([[]], of: secret.session)
            let message = Message.encode(frame, secret, to: Address(Fixture.store(), .actions).bytes)
            isRefused = bench.receive(try Message.decodeActions(message)) != []
            messageBytes = message.count
        }
        // A frame keeps its message.
        #expect((count - 1) * (messageBytes + MemoryLayout<PendingFrame>.stride) <= 100_000)
    }

    /// PROTOCOL.md, section 6: elements after the known ones are skipped.
    @Test(arguments: [false, true]) func `a frame keeps its message, and not if that has further elements`(
        hasElement: Bool
    ) throws {
        let frame = PrimaryBench().frame(1...3)
        var message = Message.encode(frame, Fixture.secret, to: Address(Fixture.store(), .actions).bytes)
        if hasElement {
            let head = try #require(message.firstIndex(of: 0)) + 1
            #expect(message[head] == 0x88, "an array of eight elements")
            message[head] = 0x89
            message += Value.bytes(Array(repeating: 0, count: 100_000)).encoded
        }
        let read = try Message.decodeActions(message)
        #expect(read == frame)
        let isPart = message.withUnsafeBytes { all in
            read.actions.withUnsafeBytes { part in
                guard let start = all.baseAddress, let first = part.baseAddress else { return false }
                return first >= start && first < start + all.count
            }
        }
        #expect(isPart == !hasElement)
        // What the inbox counts is what the array of the frame occupies.
        #expect(read.actions.endIndex == (hasElement ? read.actions.count : message.count))
    }

    @Test func `a store is behind while its inbox is full and its journal has room`() {
        var bench = PrimaryBench(.with { ($0.maxHeldBytes, $0.maxUncommittedRecords) = (0, 2) })
        func isBehind() -> Bool { bench.engine.engine.isBehind(at: bench.now) }
        #expect(!isBehind() && bench.engine.engine.wantsFrames)
        bench.push(1...1)
        #expect(isBehind() && !bench.engine.engine.wantsFrames)
        bench.turn()
        #expect(!isBehind() && bench.engine.engine.wantsFrames)
        bench.push(2...2)
        #expect(isBehind())
        bench.turn()
        bench.push(3...3)
        // Others must not wait for the journal.
        #expect(!isBehind() && !bench.engine.engine.wantsFrames)
        bench.commit(1)
        #expect(isBehind())
        bench.fill()
        #expect(!isBehind(), "frames are refused")
    }

    @Test func `the answer to a known action counts as an action of the turn`() {
        var bench = PrimaryBench()
        bench.push(1...4)
        bench.turnAndCommit()
        bench.engine.budget = TurnBudget(actions: 4)
        for _ in 0..<3 { bench.push(1...4) }
        bench.push(2...6)
        for _ in 0..<3 { #expect(bench.turn().filter { $0 == .count(.duplicates(4)) }.count == 1) }
        #expect(bench.turn().contains(.count(.duplicates(3))))
        #expect(bench.reduced == Revision(5), "three answers and one action")
        bench.turn()
        #expect(bench.reduced == Revision(6))
        #expect(!bench.hasWork)
    }

    @Test func `a frame that is not admitted counts as an action of the turn`() {
        var bench = PrimaryBench()
        bench.engine.budget = TurnBudget(actions: 4)
        // Ahead, of an unknown session, and beyond the room of its session.
        for _ in 0..<3 { bench.push(2...2) }
        for _ in 0..<3 { bench.push(1...1, of: Fixture.otherSession, opened: 9) }
        bench.push(1...1)
        #expect(bench.turn().expected() == [1])
        #expect(bench.hasWork && bench.reduced == Revision(0))
        bench.turn()
        #expect(bench.reduced == Revision(1))
        #expect(!bench.hasWork)
    }

    @Test func `a turn ends once the own actions of the process reach its budget of bytes`() {
        let bytes = TestAction(number: 0).encoded.count
        for (maxBytes, reduced) in [(1, 1), (2 * bytes, 2), (2 * bytes + 1, 3), (4 * bytes, 4)] as [(Int, UInt64)] {
            var bench = PrimaryBench()
            bench.engine.budget.bytes = maxBytes
            bench.act(4)
            bench.turn()
            #expect(bench.reduced == Revision(reduced), "\(maxBytes) bytes")
            while bench.hasWork { bench.turn() }
            #expect(bench.reduced == Revision(4))
        }
    }

    @Test func `an engine wants a frame while one of maxFrameBytes bytes surely fits`() {
        let bytes = Inbox.bytes(ofMessage: PrimaryBench().frame(1...3).actions.count)
        let largest = Inbox.bytes(ofMessage: 5000)
        for (maxBytes, wants) in [(bytes + largest, true), (bytes + largest - 1, false)] {
            var bench = PrimaryBench(
                .with {
                    $0.maxFrameBytes = 5000
                    $0.maxHeldBytes = maxBytes
                }
            )
            #expect(bench.engine.engine.wantsFrames)
            bench.push(1...3)
            #expect(bench.engine.engine.wantsFrames == wants)
        }
    }

    @Test(arguments: [(3, [3, 1]), (4, [4])] as [(Int, [UInt64])])
    func `a turn reduces at most its budget of actions`(maxActions: Int, turns: [UInt64]) {
        var bench = PrimaryBench()
        bench.engine.budget = TurnBudget(actions: maxActions)
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
    func `a turn reduces at most its budget of own actions`(maxActions: Int, turns: [UInt64]) {
        var bench = PrimaryBench()
        bench.engine.budget = TurnBudget(actions: maxActions)
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
        for (maxBytes, reduced) in [(1, 1), (2 * bytes, 2), (2 * bytes + 1, 3), (4 * bytes, 4)] as [(Int, UInt64)] {
            for frames in [[frame], (UInt64(1)...4).map { PrimaryBench().frame($0...$0) }] {
                var bench = PrimaryBench()
                bench.engine.budget.bytes = maxBytes
                for frame in frames { bench.receive(frame) }
                bench.turn()
                #expect(bench.reduced == Revision(reduced), "\(maxBytes) bytes, \(frames.count) frames")
                while bench.hasWork { bench.turn() }
                #expect(bench.reduced == Revision(4))
            }
        }
    }

    @Test func `maxUncommittedRecords records are in flight, and further actions wait`() {
        var bench = PrimaryBench(.with { $0.maxUncommittedRecords = 2 })
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

    @Test
    func `The limits of an engine records of maxUncommittedBytes bytes are not stored, and further actions wait`() {
        var probe = PrimaryBench()
        probe.reduce(1...1)
        let bytes = probe.records.reduce(0) { $0 + $1.body.count }
        for (maxBytes, reduced) in [(bytes, 1), (bytes + 1, 2)] as [(Int, UInt64)] {
            var bench = PrimaryBench(.with { $0.maxUncommittedBytes = maxBytes })
            bench.reduce(1...1)
            bench.reduce(2...2)
            #expect(bench.reduced == Revision(reduced), "\(maxBytes) bytes")
            bench.commit()
            bench.turn()
            bench.commit()
            #expect(bench.head == Revision(2))
        }
    }
}
