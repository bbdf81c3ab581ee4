import StatecastCore
import Testing

@MainActor
@Suite struct `A view component` {
    @Test func `A view component is connected by key path, transform, connector or to the whole state`() async {
        let core = Lorry.core(miles: 1)
        let disposer = Disposer()
        let (byPath, byTransform, byConnector) = (Gauge(0), Gauge(""), Gauge(MilesConnector.Props(miles: 0)))
        let whole = Gauge(Lorry())
        core.connect(byPath, to: \.miles).store(in: disposer)
        core.connect(byTransform) { "\($0.miles) miles" }.store(in: disposer)
        core.connect(byConnector, via: MilesConnector(), now: { .epoch }).store(in: disposer)
        core.connect(whole).store(in: disposer)
        core.dispatch(Driven(miles: 42))
        #expect(await byPath.seen.next(2) == [1, 42])
        #expect(await byTransform.seen.next(2) == ["1 miles", "42 miles"])
        #expect(await byConnector.seen.next(2).map(\.miles) == [1, 42])
        #expect(await whole.seen.next(2).map(\.miles) == [1, 42])
        #expect(whole.props == core.state)
    }

    @Test func `A view component is connected to a scope like to a core`() async {
        let core = Lorry.core(miles: 1)
        let gauge = Gauge(0)
        let connection = core.scope(\.miles).connect(gauge)
        core.dispatch(Refuelled(fuel: 1))
        core.dispatch(Driven(miles: 42))
        #expect(await gauge.seen.next(2) == [1, 42])
        connection.cancel()
    }

    @Test func `A view component does not receive equal props`() async {
        let core = Lorry.core()
        let gauge = Gauge(-1)
        let connection = core.connect(gauge, to: \.miles)
        for miles in [0, 0, 1, 1, 0] { core.dispatch(Driven(miles: miles)) }
        core.dispatch(Refuelled(fuel: 1))
        core.dispatch(Driven(miles: 9))
        #expect(await gauge.seen.next(4) == [0, 1, 0, 9])
        connection.cancel()
    }

    @Test func `A view component receives the first props even if it already has equal ones, so that it draws`() async {
        let core = Lorry.core()
        let gauge = Gauge(0)
        let connection = core.connect(gauge, to: \.miles)
        #expect(await gauge.seen.next() == 0)
        connection.cancel()
    }

    @Test func `A view component may use a custom equality`() async {
        let core = Lorry.core()
        let coarse = Gauge(0)
        let always = Gauge(0)
        let connections = [
            core.connect(coarse, to: \.miles, removeDuplicates: { $0 / 10 == $1 / 10 }),
            core.connect(always, to: \.miles, removeDuplicates: { _, _ in false }),
        ]
        // Compared with the last delivered props, so that small steps add up.
        for miles in [9, 9, 10, 19, 20] { core.dispatch(Driven(miles: miles)) }
        #expect(await coarse.seen.next(3) == [0, 10, 20])
        #expect(await always.seen.next(6) == [0, 9, 9, 10, 19, 20])
        connections.forEach { $0.cancel() }
    }

    @Test func `A view component renders once for each change`() {
        let core = Lorry.core()
        let gauge = Gauge(MilesConnector.Props(miles: 0))
        let connector = MilesConnector()
        let connection = core.connect(gauge, via: connector, now: { .epoch })
        for miles in 1...3 { core.dispatch(Driven(miles: miles)) }
        #expect(connector.renderings.count == 4)
        connection.cancel()
    }

    @Test func `A view component needs only a property for its props`() async {
        let core = Lorry.core(miles: 42)
        let label = Label()
        let connection = core.connect(label, to: \.miles)
        await label.drawn.reaching(1)
        #expect(label.props == 42)
        connection.cancel()
    }

    private final class Label: ViewComponent {
        nonisolated let drawn = Recorder<Void>()
        var props = 0 {
            didSet { drawn.record(()) }
        }
    }

    @Test
    func `A view component dispatches through the commands in its props, which are equal at each rendering`() async {
        struct Props: Equatable, Sendable {
            var miles: Int
            var onDrive: Command<Int>
        }
        let core = Lorry.core()
        let gauge = Gauge(Props(miles: -1, onDrive: Command { _ in }))
        let connection = core.connect(gauge) { [weak core] lorry in
            Props(
                miles: lorry.miles,
                onDrive: Command(id: "drive") { core?.dispatch(Driven(miles: $0)) }
            )
        }
        #expect(await gauge.seen.next()?.miles == 0)
        core.dispatch(Refuelled(fuel: 1))
        gauge.props.onDrive(42)
        #expect(await gauge.seen.next()?.miles == 42)
        connection.cancel()
    }

    @Test func `A view component is connected by a connector of a part of the state`() async {
        struct TankConnector: Connector {
            func props(from tank: Lorry.Tank, at now: Timestamp) -> Int { tank.fuel }
        }
        let core = Lorry.core()
        let gauge = Gauge(-1)
        let connection = core.connect(gauge, via: TankConnector(), state: \.tank)
        core.dispatch(Driven(miles: 1))
        core.dispatch(Refuelled(fuel: 9))
        #expect(await gauge.seen.next(2) == [0, 9])
        connection.cancel()
    }

    @Test func `A view component that dispatches has its new props when dispatch returns`() {
        let core = Lorry.core()
        let gauge = Gauge(-1)
        let connection = core.connect(gauge, to: \.miles)
        #expect(gauge.props == 0)
        core.dispatch(Driven(miles: 1))
        #expect(gauge.props == 1)
        connection.cancel()
    }

    @Test func `A view component receives no props synchronously while others are queued`() async {
        let core = Lorry.core()
        let gauge = Gauge(-1)
        let connection = core.connect(gauge, to: \.miles)
        elsewhere { core.dispatch(Driven(miles: 1)) }
        core.dispatch(Driven(miles: 2))
        #expect(gauge.props == 0)
        #expect(await gauge.seen.next(3) == [0, 1, 2])
        connection.cancel()
    }

    @Test func `A view component may cancel its connection while it receives its props`() {
        let core = Lorry.core()
        let quitter = Quitter()
        quitter.connection = core.connect(quitter, to: \.miles)
        core.dispatch(Driven(miles: 1))
        core.dispatch(Driven(miles: 2))
        #expect(quitter.drawn == [0, 1])
    }

    private final class Quitter: ViewComponent {
        var connection: Subscription?
        var drawn: [Int] = []
        var props = -1 {
            didSet {
                drawn.append(props)
                if props == 1 { connection?.cancel() }
            }
        }
    }

    @Test func `A view component that is its own connector is not retained`() {
        final class Board: ViewComponent, Connector {
            var props = -1
            nonisolated func props(from lorry: Lorry, at now: Timestamp) -> Int { lorry.miles }
        }
        let core = Lorry.core()
        weak var held: Board?
        let connection: Subscription
        do {
            let board = Board()
            held = board
            connection = core.connect(board, via: board)
            core.dispatch(Driven(miles: 1))
            #expect(board.props == 1)
        }
        #expect(held == nil)
        core.dispatch(Driven(miles: 2))
        connection.cancel()
    }
}
