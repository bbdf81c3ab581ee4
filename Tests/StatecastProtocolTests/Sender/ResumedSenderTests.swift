import StatecastCore
import StatecastProtocol
import Testing

/// A sender that continues the session of another one.
@Suite struct `A resumed sender` {
    /// A session with five saved actions, which the primary has opened.
    private static func saved(_ change: (inout SavedBench) throws -> Void = { _ in }) throws -> SavedSession {
        let first = SenderBench.open()
        var saved = SavedBench()
        try saved.keep(first.machine)
        try saved.enqueue(5)
        try change(&saved)
        return saved.session
    }

    @Test func `A resumed sender pushes actions without outcomes under the same numbers, after the watermark`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        #expect(bench.subscriptions == [.receipts(Fixture.session)])
        #expect(bench.push().isEmpty, "before it has received the watermark")
        let directives = bench.watermark(2)
        #expect(directives.contains(.connect(Fixture.endpoint)))
        let frames = bench.push()
        #expect(frames.map(\.numbers) == [3...5])
        #expect(frames.map(\.header.base) == [ActionNumber(1)])
        bench.receipts(1...5)
        #expect((1...5).map { bench.revision(Ticket(rawValue: $0)) } == [1, 2, 3, 4, 5])
        bench.send()
        #expect(bench.push().map(\.numbers) == [6...6])
    }

    @Test func `A resumed sender sends its actions in another history if none was sent before`() throws {
        var saved = SavedBench()
        try saved.enqueue(3)
        var bench = SenderBench(resuming: saved.session)
        bench.watermark(nil, lineage: Fixture.otherLineage)
        #expect(bench.outcomes.isEmpty)
        let frames = bench.push()
        #expect(frames.map(\.numbers) == [1...3])
        #expect(frames.map(\.header.base) == [ActionNumber(1)])
    }

    @Test func `A resumed sender continues after the resolved numbers`() throws {
        let saved = try Self.saved { saved in
            var bench = SenderBench.open()
            bench.send(5)
            bench.push()
            bench.receipts(1...2)
            for number in UInt64(1)...2 { try saved.resolve(number, SavedBench.applied(number)) }
            try saved.keep(bench.machine)
        }
        var bench = SenderBench(resuming: saved)
        bench.watermark(2)
        #expect(bench.push().map(\.numbers) == [3...5])
    }

    @Test
    func `A resumed sender numbers actions correctly though others were resolved unordered or unnumbered`() throws {
        let saved = try Self.saved { saved in
            try saved.resolve(2, SavedBench.tooLarge)
            try saved.resolve(4, SavedBench.applied(3))
        }
        var bench = SenderBench(resuming: saved)
        bench.watermark(nil)
        #expect(bench.push().map(\.numbers) == [1...4])
        bench.receipts(1...4)
        #expect([1, 3, 5].map { bench.revision(Ticket(rawValue: $0)) } == [1, 2, 4])
        #expect(bench.outcomes.count == 3)
    }

    @Test func `A resumed sender ignores outcomes of a previous session`() throws {
        let saved = try Self.saved { saved in
            try saved.resolve(2, SavedBench.applied(2, of: Fixture.otherSession))
        }
        var bench = SenderBench(resuming: saved)
        bench.watermark(nil)
        #expect(bench.push().map(\.numbers) == [1...4])
    }

    @Test func `A resumed sender reports unknown outcomes if the primary evicted the session`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        bench.watermark(nil)
        #expect(bench.push().count == 1)
        bench.refuse(.unknownSession, first: 1)
        bench.handle { $0.save() }
        #expect((1...5).allSatisfy { bench.code(Ticket(rawValue: $0)) == .outcomeUnknown })
        #expect(bench.machine.session != Fixture.session)
    }

    @Test func `A resumed sender reports unknown outcomes in another history`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        bench.watermark(nil, lineage: Fixture.otherLineage)
        bench.handle { $0.save() }
        #expect((1...5).allSatisfy { bench.code(Ticket(rawValue: $0)) == .outcomeUnknown })
        #expect(bench.machine.checkpoint.registration?.lineage == Fixture.otherLineage)
        #expect(bench.machine.checkpoint.first == ActionNumber(6))
    }

    @Test func `A resumed sender resends acknowledged actions that the primary lost`() throws {
        let saved = try Self.saved { saved in
            var bench = SenderBench.open()
            bench.send(5)
            bench.push()
            bench.receipts(1...3)
            for number in UInt64(1)...3 { try saved.resolve(number, SavedBench.applied(number)) }
            try saved.keep(bench.machine)
        }
        var bench = SenderBench(resuming: saved)
        bench.watermark(nil, epoch: Fixture.epoch.next)
        bench.push()
        bench.wait()
        #expect(bench.watermark(0, epoch: Fixture.epoch.next).contains(.count(.outcomesLost)))
        #expect(bench.machine.session != Fixture.session)
        #expect(bench.machine.checkpoint.registration == nil)
    }

    @Test func `A resumed sender that was copied has diverged, and its sent actions are unknown`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        bench.watermark(9)
        bench.handle { $0.save() }
        #expect((1...5).allSatisfy { bench.code(Ticket(rawValue: $0)) == .outcomeUnknown })
        guard case .refused(let reason)? = bench.status else {
            Issue.record("\(String(describing: bench.status))")
            return
        }
        #expect(reason.code == .sessionDiverged)
        #expect(bench.machine.session != Fixture.session)
    }

    /// PROTOCOL.md, section 8.4: a copy of a session file gives two processes one session.
    @Test func `A copied sender takes the other's outcomes for its own until the numbers differ`() throws {
        let saved = try Self.saved()
        var (original, copy) = (SenderBench(resuming: saved), SenderBench(resuming: saved))
        original.watermark(5)
        copy.watermark(5)
        original.receipts(1...5)
        copy.receipts(1...5)
        let (first, second) = (original.send()[0], copy.send()[0])
        #expect(original.push().map(\.numbers) == [6...6])
        #expect(copy.push().map(\.numbers) == [6...6])
        // The primary applies the first one, takes the second one for a repetition, and all subscribers of the session
        // get the receipt.
        original.receipts(6...6)
        copy.receipts(6...6)
        #expect(original.revision(first) == 6)
        #expect(copy.revision(second) == 6, "it was never applied")
        // It is noticed when the primary has a number that this process did not assign.
        copy.send()
        copy.push()
        copy.wait()
        copy.watermark(9)
        guard case .refused(let reason)? = copy.status else {
            Issue.record("\(String(describing: copy.status))")
            return
        }
        #expect(reason.code == .sessionDiverged)
    }

    @Test func `A resumed sender keeps unsent actions while it is refused, and sends them afterwards`() throws {
        var saved = SavedBench()
        try saved.enqueue(2)
        var bench = SenderBench(resuming: saved.session)
        bench.refuse(.unknownStore)
        #expect(bench.status == .refused(Rejection(.unknownStore, "because")))
        bench.send()
        #expect(bench.outcomes.isEmpty)
        bench.wait()
        bench.watermark(nil)
        #expect(bench.push().map(\.numbers) == [1...3])
    }

    @Test
    func `A resumed sender's actions in flight, counted from the saved number, do not exceed the window`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        bench.watermark(nil, window: 3)
        #expect(bench.push().map(\.numbers) == [1...3])
        bench.isDiskSlow = true
        bench.receipts(1...2)
        #expect(bench.push().isEmpty)
        bench.written()
        #expect(bench.push().map(\.numbers) == [4...5])
    }

    @Test func `A resumed sender states the lowest number whose receipt is not saved`() throws {
        var bench = SenderBench(resuming: try Self.saved())
        bench.watermark(nil)
        #expect(bench.push().map(\.header.lowest) == [ActionNumber(1)])
        bench.isDiskSlow = true
        bench.receipts(1...2)
        bench.expect(4)
        let again = bench.push()
        #expect(again.map(\.numbers) == [4...5])
        #expect(again.map(\.header.lowest) == [ActionNumber(1)])
        bench.written()
        bench.isDiskSlow = false
        bench.send()
        #expect(bench.push().map(\.header.lowest) == [ActionNumber(3)])
    }
}
