import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A sender that is refused` {
    @Test func `A sender refused for now pauses for the given time, keeps its actions, and asks again`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.refuse(.overloaded, retryAfter: .seconds(5))
        #expect(bench.status == .waiting(Rejection(.overloaded, "because")))
        #expect(bench.push() == [])
        bench.wait(until: .seconds(5))
        #expect(bench.asked == 1)
        bench.wait()
        #expect(bench.asked == 2)
        #expect(bench.outcomes.isEmpty)
        bench.watermark(nil)
        #expect(bench.push().map(\.numbers) == [1...2])
        #expect(bench.machine.session == Fixture.session)
    }

    @Test func `A sender that is refused for now, several times: a further refusal only extends the pause`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.refuse(.overloaded, retryAfter: .seconds(5))
        let until = bench.machine.nextDeadline
        for _ in 0..<20 { bench.refuse(.overloaded, retryAfter: .seconds(5)) }
        #expect(bench.machine.nextDeadline == until)
        bench.refuse(.overloaded, retryAfter: .seconds(50))
        #expect(bench.machine.nextDeadline == .origin.advanced(by: .seconds(50)))
        bench.wait()
        #expect(bench.asked == 2)
    }

    @Test
    func `A sender that is refused for now: it is waiting until an action has a receipt, or the primary is silent`() {
        var bench = SenderBench.open()
        bench.send(2)
        let waiting = SenderStatus.waiting(Rejection(.storageFull, "because"))
        for _ in 1...2 {
            bench.push()
            bench.refuse(.storageFull, retryAfter: .seconds(1))
            bench.wait()
            bench.watermark(nil)
        }
        #expect(bench.statuses == [.connecting, .open, waiting], "once")
        bench.push()
        bench.receipts(1...1)
        #expect(bench.status == .open)
        bench.refuse(.storageFull, retryAfter: .seconds(1))
        bench.wait()
        #expect(bench.status == waiting, "it was asked, and may answer")
        bench.wait()
        #expect(bench.status == .connecting)
    }

    @Test
    func `A sender that is refused for now: with an empty outbox it is open again when the primary answers`() throws {
        var bench = SenderBench.open()
        let ticket = try #require(bench.send().first)
        bench.push()
        bench.refuse(.storageFull, retryAfter: .seconds(1))
        bench.receipts(1...1)
        #expect(bench.revision(ticket) == 1)
        bench.wait()
        bench.watermark(1)
        #expect(bench.status == .open)
    }

    @Test func `a receipt during a pause counts`() {
        var bench = SenderBench.open()
        let ticket = bench.send()[0]
        bench.push()
        bench.refuse(.overloaded, retryAfter: .seconds(5))
        bench.receipts(1...1)
        #expect(bench.revision(ticket) == 1)
    }

    @Test func `If the only frame is refused as of an unknown session, it was not applied, and is sent again`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        bench.receipts(1...1)
        let left = bench.send(2)
        bench.push()
        bench.refuse(.unknownSession, first: 2)
        #expect(bench.machine.session != Fixture.session)
        #expect(left.allSatisfy { bench.outcomes[$0] == nil })
        bench.wait()
        bench.watermark(nil, opened: 9)
        #expect(bench.push().map(\.numbers) == [2...3])
        bench.receipts(2...3)
        #expect(left.map { bench.revision($0) } == [2, 3])
    }

    @Test func `If a later frame is refused as of an unknown session, the outcomes of sent actions are unknown`() {
        var bench = SenderBench.open()
        let left = bench.send(3)
        bench.push()
        bench.refuse(.unknownSession, first: 2)
        #expect(left.map { bench.code($0) } == [.outcomeUnknown, .outcomeUnknown, .outcomeUnknown])
    }

    @Test(arguments: [
        (Rejection.Code.unknownSession, Duration?.none), (.storageFull, .seconds(1)), (.unknownStore, nil),
    ])
    func `a sender continues after the refusal of a frame that is not outstanding`(
        code: Rejection.Code,
        retryAfter: Duration?
    ) {
        var bench = SenderBench()
        bench.watermark(nil, opened: 7)
        bench.send()
        bench.push()
        bench.receipts(1...1)
        let left = bench.send(2)
        bench.push()
        let before = bench.machine
        // Resolved, never pushed, and outstanding but of another opening.
        for (first, opened) in [(1, 7), (4, 7), (0, 7), (.max, 7), (2, 6), (2, 8)] as [(UInt64, UInt64)] {
            #expect(bench.refuse(code, retryAfter: retryAfter, first: first, opened: opened) == [])
        }
        #expect(bench.machine == before)
        bench.receipts(2...3)
        #expect(left.map { bench.revision($0) } == [2, 3])
        #expect(bench.refuse(code, retryAfter: retryAfter, first: 2, opened: 7) == [], "nothing is outstanding")
    }

    @Test func `If a session is unknown, outcomes of sent actions are unknown, and others get a new session`() {
        var bench = SenderBench.open()
        var left: [Ticket] = []
        for _ in 0..<2 {
            left += bench.send()
            bench.push()
        }
        let queued = bench.send()[0]
        bench.refuse(.unknownSession, first: 1)
        #expect(left.map { bench.code($0) } == [.outcomeUnknown, .outcomeUnknown])
        #expect(bench.outcomes[queued] == nil)
        let session = bench.machine.session
        #expect(session != Fixture.session)
        #expect(bench.subscriptions == [], "it asked a moment ago, so it pauses")
        bench.wait()
        #expect(bench.subscriptions == [.receipts(session)])
        bench.watermark(nil, opened: 9)
        #expect(bench.machine.nextFrame?.header.session == session)
        #expect(bench.machine.nextFrame?.header.base == bench.machine.nextFrame?.header.first)
        #expect(bench.machine.nextFrame?.header.opened == JournalSequence(9))
    }

    @Test
    func `If the primary lacks the store, all actions fail with the reason, and the sender retries now and then`() {
        var bench = SenderBench()
        let ticket = bench.send()[0]
        bench.refuse(.unknownStore)
        #expect(bench.code(ticket) == .unknownStore)
        #expect(bench.status == .refused(Rejection(.unknownStore, "because")))
        let second = bench.send()[0]
        #expect(bench.code(second) == .unknownStore)
        bench.wait()
        #expect(bench.asked == 2)
        #expect(bench.subscriptions == [.receipts(bench.machine.session)])
        let third = bench.send()[0]
        #expect(bench.code(third) == .unknownStore)
        bench.watermark(nil)
        #expect(bench.status == .open)
        let later = bench.send()[0]
        let numbers = bench.push().map(\.numbers)
        #expect(numbers.count == 1)
        for number in numbers { bench.receipts(number) }
        #expect(bench.revision(later) != nil)
    }

    @Test func `outcomes of actions sent before a final refusal are unknown`() {
        var bench = SenderBench.open()
        let left = bench.send()[0]
        bench.push()
        let queued = bench.send()[0]
        bench.refuse(.malformed)
        #expect(bench.code(left) == .outcomeUnknown)
        #expect(bench.code(queued) == .malformed)
        #expect(bench.machine.pendingCount == 0)
    }

    @Test func `the reason of an unknown outcome names session and number`() {
        var bench = SenderBench.open()
        let ticket = bench.send()[0]
        bench.push()
        bench.send()
        bench.push()
        bench.refuse(.unknownSession, first: 1)
        guard case .failure(let rejection)? = bench.outcomes[ticket]?.result else {
            Issue.record("expected a rejection")
            return
        }
        #expect(rejection.message.contains("\(Fixture.session)"))
        #expect(rejection.message.contains("action 1 "))
    }
}

/// A primary that did not wait for the disk restarts without outcomes that it had published.
@Suite struct `Lost outcomes at the sender` {
    private static let later = Fixture.epoch.next

    /// Numbers 1 to 3 have receipts, 4 and 5 do not.
    private static func bench() -> SenderBench {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.receipts(1...3)
        return bench
    }

    @Test func `actions without a receipt move to another session: they cannot have been applied`() {
        var bench = Self.bench()
        let session = bench.machine.session
        let directives = bench.watermark(1, epoch: Self.later)
        #expect(directives.contains(.count(.outcomesLost)))
        #expect(bench.machine.session != session)
        bench.wait()
        bench.watermark(nil, epoch: Self.later)
        let frames = bench.push()
        #expect(frames.map(\.numbers) == [4...5])
        #expect(frames.map(\.header.base) == [ActionNumber(4)])
        #expect(bench.outcomes.count == 3)
    }

    @Test func `an old watermark of the same incarnation is no loss`() {
        var bench = Self.bench()
        let session = bench.machine.session
        bench.watermark(1)
        #expect(bench.machine.session == session)
    }

    @Test func `a lost session differs from an evicted one`() {
        var bench = Self.bench()
        let session = bench.machine.session
        bench.watermark(nil, epoch: Self.later)
        #expect(bench.machine.session == session)
        #expect(bench.push().map(\.numbers) == [4...5])
        // The primary has opened the session anew, with its base.
        #expect(bench.expect(1) == [])
        bench.wait()
        #expect(bench.watermark(0, epoch: Self.later).contains(.count(.outcomesLost)))
        #expect(bench.machine.session != session)
    }
}
