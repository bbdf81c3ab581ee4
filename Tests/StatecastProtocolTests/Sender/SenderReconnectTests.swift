import StatecastCore
import StatecastProtocol
import Testing

/// A connection may stay open and deliver nothing, as when a proxy or a NAT has forgotten it.
@Suite struct `A sender on connections that deliver nothing` {
    @Test func `A sender replaces both connections after two unanswered requests, and sends again`() {
        var bench = SenderBench.open()
        let ticket = bench.send()[0]
        bench.push()
        bench.wait()
        #expect(bench.asked == 2 && bench.reconnections == [])
        bench.wait()
        #expect(bench.asked == 3 && bench.reconnections == [])
        bench.wait()
        #expect(bench.asked == 4 && bench.reconnections.count == 1)
        #expect(bench.reconnections[0] <= .seconds(20))
        #expect(bench.subscriptions == [.receipts(Fixture.session)])
        #expect(bench.connections == [Fixture.endpoint])
        bench.watermark(0)
        #expect(bench.connections == [Fixture.endpoint, Fixture.endpoint])
        #expect(bench.push().map(\.numbers) == [1...1])
        bench.receipts(1...1)
        #expect(bench.revision(ticket) == 1)
    }

    @Test func `A sender waits for twice as many requests before each new connection, up to eight times as many`() {
        var bench = SenderBench()
        var requests: [Int] = []
        while requests.count < 6 {
            let (asked, count) = (bench.asked, bench.reconnections.count)
            while bench.reconnections.count == count { bench.wait() }
            requests.append(bench.asked - asked)
        }
        #expect(requests == [2, 4, 8, 16, 16, 16])
    }

    @Test func `A sender on connections that deliver nothing subscribes to the schema again`() {
        var bench = SenderBench()
        bench.handle { $0.requestSchema() }
        while bench.reconnections.isEmpty { bench.wait() }
        #expect(Set(bench.subscriptions) == [.schema, .receipts(Fixture.session)])
        bench.receive(
            .schema(
                StoreSchema(
                    lineage: Fixture.lineage,
                    stateVersion: 0,
                    actions: [],
                    epoch: Fixture.epoch,
                    head: Revision(0),
                    sessions: 0,
                    durability: nil
                )
            ),
            on: .schema
        )
        #expect(bench.schemas.count == 1)
    }

    @Test
    func `A sender replaces only the connection for actions if requests are answered and the number stands still`() {
        var bench = SenderBench.open()
        bench.send()
        for _ in 0..<2 {
            #expect(bench.connections == [Fixture.endpoint])
            bench.push()
            bench.wait()
            bench.watermark(0)
        }
        #expect(bench.reconnections == [] && bench.connections == [Fixture.endpoint, Fixture.endpoint])
        #expect(bench.push().map(\.numbers) == [1...1])
    }

    @Test(arguments: [false, true])
    func `A sender also replaces a connection for actions that accepts no further frame`(isBlockedLater: Bool) {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        if isBlockedLater {
            bench.wait()
            bench.watermark(0)
        }
        bench.blocked()
        for _ in 0..<(isBlockedLater ? 1 : 2) {
            #expect(bench.connections.count == 1)
            bench.wait()
            bench.watermark(0)
        }
        #expect(bench.push().map(\.numbers) == [1...1])
    }

    @Test
    func `A sender stays unreachable, though the primary answers, until the endpoint for actions accepts a frame`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        for _ in 0..<6 {
            bench.blocked()
            bench.wait()
            bench.watermark(0)
        }
        #expect(bench.connections.count > 1)
        #expect(bench.statuses == [.connecting, .open, .unreachable(Fixture.endpoint)])
        #expect(bench.push().map(\.numbers) == [1...1])
        #expect(bench.status == .open)
    }

    @Test func `A sender keeps a connection on which anything that was pushed is answered`() {
        let answers: [(inout SenderBench) -> Void] = [
            { $0.expect(1) }, { $0.refuse(.overloaded, retryAfter: .seconds(1), first: 1) },
        ]
        for answer in answers {
            var bench = SenderBench.open()
            bench.send(2)
            bench.push()
            for round in 0..<20 {
                bench.wait()
                if round.isMultiple(of: 2) { answer(&bench) }
                bench.watermark(0)
                bench.push()
                answer(&bench)
            }
            #expect(bench.reconnections == [] && bench.connections == [Fixture.endpoint])
        }
    }

    @Test
    func `A sender on connections that deliver nothing keeps its connections while a refused session is answered`() {
        var bench = SenderBench()
        for _ in 0..<20 {
            bench.refuse(.unknownStore)
            bench.wait()
        }
        #expect(bench.reconnections == [] && bench.connections == [])
    }
}
