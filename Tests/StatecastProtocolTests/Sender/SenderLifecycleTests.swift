import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `A sender that stops` {
    @Test func `a sender that stops tells sent actions from others, once`() {
        var bench = SenderBench.open()
        let sent = bench.send(3)
        bench.push()
        bench.receipts(2...2)
        let queued = bench.send(2)
        let directives = bench.handle { $0.stop(because: "the end") }
        #expect(sent.map { bench.code($0) } == [.outcomeUnknown, nil, .outcomeUnknown])
        #expect(queued.map { bench.code($0) } == [.notSent, .notSent])
        #expect(bench.outcomes[sent[2]]?.number == ActionNumber(3))
        #expect(directives.last == .close(because: "the end"))
        #expect(bench.machine.isStopped)
        #expect(bench.handle { $0.stop(because: "again") } == [])
    }

    @Test func `a sender that stops before it has started has sent no action`() {
        var machine = SenderMachine(Fixture.secret, limits: Limits(), now: .origin)
        _ = machine.submitted(ActionChunk([[1], [2]], first: Ticket(rawValue: 1)))
        let reason = Rejection(.notSent, "the end before the action was sent; it will not be applied")
        let run = ResolvedRun(Ticket(rawValue: 1), count: 2, sent: nil, .rejected(reason))
        #expect(machine.stop(because: "the end").first == .giveUp([run], because: "the end"))
    }
}

@Suite struct `A sender's socket` {
    @Test func `A sender's socket without a connection is reported, and gets no frame until it is writable`() {
        var bench = SenderBench.open()
        bench.send()
        #expect(bench.machine.awaitsWritable)
        bench.blocked()
        #expect(bench.status == .unreachable(Fixture.endpoint))
        #expect(bench.push() == [] && bench.machine.awaitsWritable)
        bench.writable()
        #expect(bench.status == .open && bench.asked == 1, "it had no connection before")
        #expect(bench.push().map(\.numbers) == [1...1])
        #expect(!bench.machine.awaitsWritable)
    }

    @Test
    func `A sender's socket that reconnects asks for the watermark first, since the peer may be another primary`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        bench.send()
        bench.blocked()
        bench.writable()
        #expect(bench.asked == 2)
        #expect(bench.push() == [])
        bench.watermark(1)
        #expect(bench.push().map(\.numbers) == [2...2])
        bench.writable()
        #expect(bench.asked == 2, "it was not blocked")
    }

    @Test func `A sender's socket that is refused rejects the queued actions, and the sender is never open`() {
        var bench = SenderBench()
        let reason = Rejection(.endpointRefused, "not there")
        bench.refusal = reason
        let ticket = bench.send()[0]
        bench.watermark(nil)
        #expect(bench.statuses == [.connecting, .refused(reason)])
        #expect(bench.code(ticket) == .endpointRefused)
        #expect(bench.push() == [])
        bench.refusal = nil
        bench.wait()
        bench.watermark(nil, endpoint: "tcp://127.0.0.1:2")
        #expect(bench.status == .open)
        bench.send()
        #expect(bench.push().map(\.numbers) == [1...1])
    }
}

@Suite struct `A sender's schema` {
    @Test func `A sender's schema is requested once for all who ask, and the answer is for all`() {
        var bench = SenderBench.open()
        bench.handle { $0.requestSchema() }
        bench.handle { $0.requestSchema() }
        #expect(bench.subscriptions.count { $0 == .schema } == 1)
        bench.handle { $0.cancelSchemaRequest() }
        #expect(bench.subscriptions.contains(.schema))
        bench.receive(.refusal(Refusal(Rejection(.unknownStore, "no"))), on: .schema)
        #expect(bench.schemas == [.failure(Rejection(.unknownStore, "no"))])
        #expect(!bench.subscriptions.contains(.schema))
        bench.receive(.refusal(Refusal(Rejection(.unknownStore, "no"))), on: .schema)
        #expect(bench.schemas.count == 1, "no request is left")
        bench.handle { $0.requestSchema() }
        bench.handle { $0.cancelSchemaRequest() }
        #expect(!bench.subscriptions.contains(.schema))
    }

    @Test func `A sender's schema that is requested before the start is requested then, and none after the end`() {
        var machine = SenderMachine(Fixture.secret, limits: Limits(), now: .origin)
        var generator = SeededGenerator(seed: 1)
        #expect(machine.requestSchema() == [])
        #expect(machine.start(at: .origin, using: &generator).contains(.subscribe(.schema)))
        _ = machine.stop(because: "the end")
        #expect(machine.requestSchema() == [.close(because: "the sender was closed")])
    }
}
