import StateCore
import Testing

/// Enough for what is on its way to be caught at each stage.
private let rounds = 200

@Suite struct `After a connection was cancelled` {
    @MainActor
    @Test func `on the main actor, a view hears nothing any more, even of what was on its way`() async {
        for _ in 0..<rounds {
            let core = Lorry.core()
            let gauge = Gauge(-1)
            let gate = Gate()
            let connection = await Task.detached { core.connect(gauge, to: \.miles) }.value
            #expect(await gauge.seen.next() == 0)
            let bell = Bell(gate)
            let ringing = core.connect(bell, to: \.miles)
            elsewhere { core.dispatch(Driven(miles: 1)) }
            // Props that set out later have arrived elsewhere; the main actor was busy all the time.
            withExtendedLifetime(bell) { gate.block() }
            connection.cancel()
            let other = core.connect(gauge, to: { -$0.miles })
            #expect(await gauge.seen.next() == -1)
            ringing.cancel()
            other.cancel()
        }
    }

    @Test func `on its own actor, a component hears nothing any more, even of what was on its way`() async {
        for _ in 0..<rounds {
            let core = Lorry.core()
            let clerk = Clerk()
            await clerk.cancelsWhatIsOnItsWay(from: core)
            let other = core.connect(clerk, to: { -$0.miles })
            #expect(await clerk.seen.next() == -1)
            other.cancel()
        }
    }

    /// An actor with threads of its own, so that it may hold one up.
    private actor Clerk: Component {
        nonisolated let seen = Arrivals<Int>()
        private let executor = QueueExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func update(_ props: Int) { seen.record(props) }

        func cancelsWhatIsOnItsWay(from core: Core<Lorry>) async {
            let gate = Gate()
            let connection = core.connect(self, to: \.miles)
            #expect(await seen.next() == 0)
            let bell = Bell(gate)
            let ringing = core.connect(bell, to: \.miles)
            core.dispatch(Driven(miles: 1))
            withExtendedLifetime(bell) { gate.block() }
            connection.cancel()
            ringing.cancel()
        }
    }
}
