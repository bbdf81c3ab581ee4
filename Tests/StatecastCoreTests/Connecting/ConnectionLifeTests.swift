import StatecastCore
import Testing

@Suite struct `A connection` {
    /// A connector whose deallocation is observable.
    private struct Held: Connector {
        let cargo: Lorry.Cargo

        func props(from lorry: Lorry, at now: Timestamp) -> Int { lorry.miles }
    }

    @Test func `A connection retains neither its component nor the core`() async {
        weak var core: Core<Lorry>?
        let ends = Arrivals<Void>()
        let connection: Subscription
        do {
            let (component, local) = (Mortal<Int>(ends), Lorry.core())
            core = local
            connection = local.connect(component, to: \.miles)
            connection.detach()
        }
        _ = await ends.next()
        #expect(core == nil)
        withExtendedLifetime(connection) {}
    }

    @Test func `A connection ends after its component is deallocated, and releases the connector`() async {
        let core = Lorry.core()
        let ends = Arrivals<Void>()
        weak var connector: Lorry.Cargo?
        let connection: Subscription
        do {
            let (component, held) = (Mortal<Int>(ends), Held(cargo: Lorry.Cargo()))
            connector = held.cargo
            connection = core.connect(component, via: held)
            #expect(connector != nil)
        }
        _ = await ends.next()
        core.dispatch(Driven(miles: 1))
        #expect(connector == nil)
        withExtendedLifetime(connection) {}
    }

    @Test func `A connection releases its connector when it is cancelled`() async {
        let core = Lorry.core()
        let logbook = Logbook<Int>()
        weak var connector: Lorry.Cargo?
        let connection: Subscription
        do {
            let held = Held(cargo: Lorry.Cargo())
            connector = held.cargo
            connection = core.connect(logbook, via: held)
        }
        #expect(connector != nil)
        connection.cancel()
        #expect(connector == nil)
    }

    @Test func `A connection does not retain an actor with queued props`() async { await queueProps(of: Porter.init) }

    @Test func `A connection does not retain an object with queued props`() async { await queueProps(of: Carrier.init) }

    /// Releases a component during its first update, while further props are queued.
    private func queueProps<Target: Component<Int>>(of makeComponent: (SlowUpdate) -> Target) async {
        let core = Lorry.core()
        let (ends, gate, seen) = (Arrivals<Void>(), Gate(), Recorder<Int>())
        let connection: Subscription
        do {
            let component = makeComponent(SlowUpdate(life: Life(ends), gate: gate, seen: seen))
            connection = core.connect(component, to: \.miles)
            await seen.reaching(1)
        }
        for miles in 1...3 { core.dispatch(Driven(miles: miles)) }
        gate.open()
        _ = await ends.next()
        #expect(seen.all == [0])
        connection.cancel()
    }

    /// An update that waits at a gate.
    private struct SlowUpdate: Sendable {
        let life: Life
        let gate: Gate
        let seen: Recorder<Int>

        func callAsFunction(_ props: Int) async {
            seen.record(props)
            await gate.passed()
        }
    }

    private actor Porter: Component {
        private let work: SlowUpdate

        init(_ work: SlowUpdate) { self.work = work }

        func update(_ props: Int) async { await work(props) }
    }

    private final class Carrier: Component {
        private let work: SlowUpdate

        init(_ work: SlowUpdate) { self.work = work }

        func update(_ props: Int) async { await work(props) }
    }

    @Test func `A connection may be cancelled by its equality function`() async {
        let core = Lorry.core()
        let logbook = Logbook<Int>()
        let connection = Box<Subscription>()
        connection.set(
            core.connect(logbook, to: \.miles) { _, _ in
                connection.value?.cancel()
                return false
            }
        )
        #expect(await logbook.seen.next() == 0)
        core.dispatch(Driven(miles: 1))
        let other = core.connect(logbook, to: { -$0.miles })
        #expect(await logbook.seen.next() == -1)
        other.cancel()
    }

    @Test func `A connection may be cancelled by the release of a state`() async {
        let source = ManualSource<Witness>()
        let logbook = Logbook<Int>()
        let connection = Box<Subscription>()
        let ends = Arrivals<Void>()
        connection.set(
            source.connect(logbook, via: Presence(), ticks: AsyncStream<Timestamp>.makeStream().stream)
        )
        source.deliver(
            Change(
                replay: Witness {
                    connection.value?.cancel()
                    ends.record(())
                },
                revision: 1
            )
        )
        source.deliver(Change(replay: Witness {}, revision: 2))
        _ = await ends.next()
    }

    /// Renders true for any state.
    private struct Presence: Connector {
        func props(from state: Witness, at now: Timestamp) -> Int { 0 }
    }

    @Test func `A connection ends when it is dropped`() async {
        let core = Lorry.core()
        let logbook = Logbook<Int>()
        do {
            let connection = core.connect(logbook, to: \.miles)
            _ = await logbook.seen.next()
            withExtendedLifetime(connection) {}
        }
        core.dispatch(Driven(miles: 1))
        let other = core.connect(logbook, to: { -$0.miles })
        #expect(await logbook.seen.next() == -1)
        other.cancel()
    }

    @Test func `A connection releases its connector after the core is deallocated, even if it was detached`() async {
        let logbook = Logbook<Int>()
        weak var connector: Lorry.Cargo?
        do {
            let (core, held) = (Lorry.core(), Held(cargo: Lorry.Cargo()))
            connector = held.cargo
            core.connect(logbook, via: held).detach()
            _ = await logbook.seen.next()
            withExtendedLifetime(core) {}
        }
        #expect(connector == nil)
    }

    /// A component that is its own connector.
    private final class Odometer: Component, Connector {
        let seen = Arrivals<Int>()
        private let life: Life

        init(_ ends: Arrivals<Void>) { life = Life(ends) }

        func props(from lorry: Lorry, at now: Timestamp) -> Int { lorry.miles }

        func update(_ miles: Int) async { seen.record(miles) }
    }

    @Test(arguments: [false, true])
    func `A connection does not retain a component that is its own connector, and ends with it`(isOfPart: Bool) async {
        let core = Lorry.core()
        let ends = Arrivals<Void>()
        let connection: Subscription
        do {
            let odometer = Odometer(ends)
            connection =
                isOfPart
                ? core.connect(odometer, via: odometer, state: { $0 }) : core.connect(odometer, via: odometer)
            core.dispatch(Driven(miles: 1))
            #expect(await odometer.seen.next(2) == [0, 1])
        }
        _ = await ends.next()
        core.dispatch(Driven(miles: 2))
        withExtendedLifetime(connection) {}
    }
}
