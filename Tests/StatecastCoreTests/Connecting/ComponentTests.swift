import Dispatch
import StatecastCore
import Testing

@Suite struct `A component` {
    @Test func `A component receives its props in order`() async {
        let core = Lorry.core()
        let logbook = Logbook<Int>()
        let connection = core.connect(logbook, to: \.miles)
        for miles in 1...500 { core.dispatch(Driven(miles: miles)) }
        #expect(await logbook.seen.next(501) == Array(0...500))
        connection.cancel()
    }

    @Test func `A component receives the next props only after its update has returned`() async {
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

    @Test func `A component that is slow delays no other code`() async {
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

    @Test func `A component receives nothing after the connection is cancelled`() async {
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

    #if os(Linux)
        @Test func `A component with an executor is woken once for all props that are queued`() async {
            let core = Lorry.core()
            let porter = Porter()
            await porter.isBusy.passed()
            let connection = core.connect(porter, to: \.miles)
            for miles in 1...500 { core.dispatch(Driven(miles: miles)) }
            porter.gate.open()
            #expect(await porter.seen.next(501) == Array(0...500))
            // One job of the reader, and those of this test's own calls.
            #expect(porter.executor.jobCount < 10)
            connection.cancel()
        }

        /// An actor with an executor that counts jobs, whose first job blocks it.
        private actor Porter: Component {
            nonisolated let seen = Arrivals<Int>()
            nonisolated let (isBusy, gate) = (Gate(), Gate())
            nonisolated let executor = CountingExecutor()

            nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

            init() { Task { await block() } }

            func update(_ props: Int) { seen.record(props) }

            private func block() {
                isBusy.open()
                gate.block()
            }
        }

        private final class CountingExecutor: SerialExecutor {
            private let queue = DispatchQueue(label: "executor")
            private let jobs = Tally()

            var jobCount: Int { jobs.count }

            func enqueue(_ job: consuming ExecutorJob) {
                let job = jobs.counting(UnownedJob(job))
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }
    #endif

    @Test func `A component may share the executor of an actor without a custom one`() async {
        let core = Lorry.core()
        let lodger = Lodger()
        let connection = core.connect(lodger, to: \.miles)
        for miles in 1...500 { core.dispatch(Driven(miles: miles)) }
        #expect(await lodger.seen.next(501) == Array(0...500))
        connection.cancel()
    }

    /// An actor on the executor of another one.
    private actor Lodger: Component {
        private actor Host {}

        nonisolated let seen = Arrivals<Int>()
        private let host = Host()

        nonisolated var unownedExecutor: UnownedSerialExecutor { host.unownedExecutor }

        func update(_ props: Int) { seen.record(props) }
    }

    /// A service whose updates end on demand.
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

/// The number of rounds that catches queued props at each stage.
private let rounds = 200

@Suite struct `After the cancellation of a connection` {
    @MainActor
    @Test func `After its connection is cancelled, a view on the main actor receives not even queued props`() async {
        for _ in 0..<rounds {
            let core = Lorry.core()
            let gauge = Gauge(-1)
            let gate = Gate()
            let connection = await Task.detached { core.connect(gauge, to: \.miles) }.value
            #expect(await gauge.seen.next() == 0)
            let bell = Bell(gate)
            let ringing = core.connect(bell, to: \.miles)
            elsewhere { core.dispatch(Driven(miles: 1)) }
            // Later props have arrived elsewhere, while the main actor was busy.
            withExtendedLifetime(bell) { gate.block() }
            connection.cancel()
            let other = core.connect(gauge, to: { -$0.miles })
            #expect(await gauge.seen.next() == -1)
            ringing.cancel()
            other.cancel()
        }
    }

    @Test
    func `After its connection is cancelled, a component on its own actor receives not even queued props`() async {
        for _ in 0..<rounds {
            let core = Lorry.core()
            let clerk = Clerk()
            await clerk.cancelWithQueuedProps(from: core)
            let other = core.connect(clerk, to: { -$0.miles })
            #expect(await clerk.seen.next() == -1)
            other.cancel()
        }
    }

    /// An actor with its own thread, which it may block.
    private actor Clerk: Component {
        nonisolated let seen = Arrivals<Int>()
        private let executor = QueueExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func update(_ props: Int) { seen.record(props) }

        func cancelWithQueuedProps(from core: Core<Lorry>) async {
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
