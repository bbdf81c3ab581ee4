import Testing

@testable import Statecast

@Suite struct `A broadcast` {
    @Test func `may be asked by a value that it lets go of`() {
        let (broadcast, log) = (Broadcast<Held>(), EventLog())
        broadcast.send(Held { log.add(broadcast.latest == nil ? "nothing" : "another") })
        broadcast.send(Held {})
        #expect(log.events == ["another"])
    }

    @Test func `may be asked by a value that a slow follower never took`() async {
        let (broadcast, log) = (Broadcast<Held>(), EventLog())
        let values = broadcast.values(buffered: 2)
        broadcast.send(Held { log.add(broadcast.latest == nil ? "nothing" : "another") })
        broadcast.send(Held {})
        #expect(log.events == [])
        broadcast.send(Held {})
        #expect(log.events == ["another"])
        broadcast.finish()
        var count = 0
        for await _ in values { count += 1 }
        #expect(count == 2)
    }
}
