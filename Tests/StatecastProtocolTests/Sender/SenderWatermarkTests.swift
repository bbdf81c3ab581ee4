import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The watermark at the sender` {
    @Test func `in the same lineage a sender continues after the watermark`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.wait()
        bench.watermark(3)
        #expect(bench.push().map(\.numbers) == [4...5])
        #expect(bench.machine.pendingCount == 5, "receipts for the first three are still to come")
        bench.receipts(1...5)
        #expect(bench.outcomes.count == 5)
    }

    @Test func `A watermark of an incarnation that ended is ignored, and the actions go to the one that leads`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.wait()
        bench.watermark(0, epoch: Fixture.epoch.next, endpoint: "tcp://next:7101")
        #expect(bench.push().map(\.numbers) == [1...2])
        #expect(bench.watermark(0, epoch: Fixture.epoch, endpoint: "tcp://last:7101") == [])
        #expect(bench.push() == [])
    }

    @Test func `a sender never goes back before a receipt`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.receipts(1...3)
        bench.wait()
        bench.watermark(1)
        #expect(bench.push().map(\.numbers) == [4...5])
    }

    @Test func `a watermark without a number lets a sender push everything again`() {
        var bench = SenderBench.open()
        bench.send(3)
        bench.push()
        bench.receipts(1...1)
        bench.wait()
        bench.watermark(nil)
        let frames = bench.push()
        #expect(frames.map(\.numbers) == [2...3])
        #expect(frames.map(\.header.base) == [ActionNumber(1)])
    }

    @Test func `if receipts are lost after the watermark a sender requests the watermark again`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.wait()
        bench.watermark(2)
        #expect(bench.push() == [])
        bench.wait()
        #expect(bench.asked == 3)
    }

    @Test func `an unrequested watermark causes no resend and no delay`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        let deadline = bench.machine.nextDeadline
        for number in [nil, 0, 3, nil, 2] as [UInt64?] {
            #expect(bench.watermark(number) == [])
            #expect(bench.push() == [])
        }
        #expect(bench.machine.nextDeadline == deadline)
        bench.wait()
        #expect(bench.asked == 2)
        bench.watermark(2)
        #expect(bench.push().map(\.numbers) == [3...5], "it asked for this one")
        bench.watermark(2)
        #expect(bench.push() == [], "and not for this one")
    }

    @Test func `an unrequested watermark does not end a pause`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.refuse(.storageFull, retryAfter: .seconds(5), first: 1)
        let until = bench.machine.nextDeadline
        bench.watermark(0)
        #expect(bench.push() == [])
        #expect(bench.machine.nextDeadline == until)
    }

    @Test func `The watermark at the sender of a later incarnation causes an immediate resend`() {
        var bench = SenderBench.open()
        bench.send(5)
        bench.push()
        bench.watermark(2, epoch: Fixture.epoch.next)
        #expect(bench.push().map(\.numbers) == [3...5])
        bench.watermark(2, epoch: Fixture.epoch.next)
        #expect(bench.push() == [])
    }

    @Test func `an unrequested watermark still changes the endpoint`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        #expect(bench.watermark(0, endpoint: "tcp://b:1") == [.connect("tcp://b:1")])
    }

    @Test func `A watermark of another lineage makes sent actions unknown, and gives the others new numbers`() {
        var bench = SenderBench.open()
        let left = bench.send(2)
        bench.push()
        let queued = bench.send()[0]
        let directives = bench.watermark(nil, lineage: Fixture.otherLineage, opened: 4)
        #expect(directives.contains(.count(.lineageChanged)))
        for (ticket, number) in zip(left, [1, 2] as [UInt64]) {
            #expect(bench.code(ticket) == .outcomeUnknown)
            #expect(bench.outcomes[ticket]?.number == ActionNumber(number))
        }
        let frame = bench.machine.nextFrame
        #expect(frame?.header.lineage == Fixture.otherLineage)
        #expect(frame?.frame.numbers == 3...3)
        #expect(frame?.header.base == ActionNumber(3))
        #expect(frame?.header.opened == JournalSequence(4))
        bench.push()
        bench.receipts(3...3, lineage: Fixture.otherLineage)
        #expect(bench.revision(queued) == 3)
        #expect(bench.machine.session == Fixture.session)
    }

    @Test func `The watermark at the sender with nothing outstanding another lineage loses nothing`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        bench.receipts(1...1)
        bench.watermark(nil, lineage: Fixture.otherLineage)
        #expect(bench.outcomes.count == 1)
        #expect(bench.status == .open)
    }

    @Test func `a sender that is back in a lineage with its session begins a new session`() {
        var bench = SenderBench.open()
        bench.send(3)
        bench.push()
        bench.watermark(nil, lineage: Fixture.otherLineage)
        let ticket = bench.send()[0]
        // The old primary applied two of three: it would wait for the third forever.
        bench.watermark(2)
        #expect(bench.machine.session != Fixture.session)
        bench.wait()
        #expect(bench.subscriptions == [.receipts(bench.machine.session)])
        bench.watermark(nil)
        let frame = bench.push().first
        #expect(frame?.header.base == frame?.header.first)
        if let number = frame?.header.first.rawValue { bench.receipts(number...number) }
        #expect(bench.revision(ticket) != nil)
    }

    @Test func `a watermark beyond the sent numbers makes a sender report a diverged session, and begin a new one`() {
        var bench = SenderBench.open()
        let left = bench.send(2)
        bench.push()
        let queued = bench.send()[0]
        bench.watermark(3)
        #expect(left.map { bench.code($0) } == [.outcomeUnknown, .outcomeUnknown])
        #expect(bench.code(queued) == .sessionDiverged)
        guard case .refused(let reason)? = bench.status else {
            Issue.record("expected a refusal")
            return
        }
        #expect(reason.code == .sessionDiverged)
        let late = bench.send()[0]
        #expect(bench.code(late) == .sessionDiverged)
        bench.wait()
        #expect(bench.machine.session != Fixture.session)
        #expect(bench.subscriptions == [.receipts(bench.machine.session)])
        bench.watermark(nil)
        #expect(bench.status == .open)
    }

    @Test
    func `a first watermark with a number belongs to another process: no action is sent in the session`() {
        for number in [0, 5] as [UInt64] {
            var bench = SenderBench()
            bench.send()
            bench.watermark(number)
            #expect(bench.machine.nextFrame == nil, "it would count as a duplicate and get a foreign receipt")
            #expect(bench.machine.session != Fixture.session)
        }
    }

    @Test func `a watermark at the last number sent is no diverged session`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        bench.watermark(2)
        #expect(bench.status == .open)
    }

    @Test func `a sender connects again only when the endpoint in the watermark changed`() {
        var bench = SenderBench.open()
        #expect(!bench.watermark(nil).contains(.connect(Fixture.endpoint)))
        #expect(bench.watermark(nil, endpoint: "tcp://b:1").contains(.connect("tcp://b:1")))
        #expect(
            !bench.watermark(nil, lineage: Fixture.otherLineage, endpoint: "tcp://b:1").contains(.connect("tcp://b:1"))
        )
    }
}
