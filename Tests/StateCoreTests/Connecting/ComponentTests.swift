import StateCore
import Testing

@Suite struct `A component` {
    @Test func `is given its props in order`() async {
        let core = Lorry.core()
        let logbook = Logbook<Int>()
        let connection = core.connect(logbook, to: \.miles)
        for miles in 1...500 { core.dispatch(Driven(miles: miles)) }
        #expect(await logbook.seen.next(501) == Array(0...500))
        connection.cancel()
    }

    @Test func `is given the next props only when it is done with the ones before`() async {
        let core = Lorry.core()
        let clerk = Clerk()
        let connection = core.connect(clerk, to: \.miles)
        core.dispatch(Driven(miles: 1))
        core.dispatch(Driven(miles: 2))
        #expect(await clerk.events.next() == "0 begins")
        for miles in 0...1 {
            clerk.goOn()
            #expect(await clerk.events.next(2) == ["\(miles) ends", "\(miles + 1) begins"])
        }
        clerk.goOn()
        connection.cancel()
    }

    @Test func `that is slow holds up nobody`() async {
        let core = Lorry.core()
        let clerk = Clerk()
        let logbook = Logbook<Int>()
        let connections = [core.connect(clerk, to: \.miles), core.connect(logbook, to: \.miles)]
        _ = await clerk.events.next()
        core.dispatch(Driven(miles: 1))
        #expect(core.state.miles == 1)
        #expect(await logbook.seen.next(2) == [0, 1])
        connections.forEach { $0.cancel() }
        clerk.goOn()
    }

    @Test func `is given nothing more once the connection was cancelled`() async {
        let core = Lorry.core()
        let clerk = Clerk()
        let connection = core.connect(clerk, to: \.miles)
        #expect(await clerk.events.next() == "0 begins")
        core.dispatch(Driven(miles: 1))
        connection.cancel()
        clerk.goOn()
        let other = core.connect(clerk, to: { -$0.miles })
        #expect(await clerk.events.next(2) == ["0 ends", "-1 begins"])
        other.cancel()
        clerk.goOn()
    }

    /// A service that goes on when it is told to.
    private final class Clerk: Component {
        let events = Arrivals<String>()
        private let permits = Arrivals<Void>()

        func goOn() { permits.record(()) }

        func update(_ props: Int) async {
            events.record("\(props) begins")
            _ = await permits.next()
            events.record("\(props) ends")
        }
    }
}
