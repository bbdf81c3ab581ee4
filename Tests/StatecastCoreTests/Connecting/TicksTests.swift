import Dispatch
import StatecastCore
import Synchronization
import Testing

@Suite struct `Ticks` {
    private let time = Timestamp.epoch.advanced(by: .seconds(7))

    @Test func `Ticks render the last state again with their time`() async {
        let core = Lorry.core(miles: 1)
        let logbook = Logbook<MilesConnector.Props>()
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        let connection = core.connect(logbook, via: MilesConnector(), now: { .epoch }, ticks: ticks)
        core.dispatch(Driven(miles: 2))
        #expect(await logbook.seen.next(2).map(\.miles) == [1, 2])
        tick.yield(time)
        #expect(await logbook.seen.next() == MilesConnector.Props(miles: 2, time: time))
        connection.cancel()
    }

    @Test func `Ticks deliver nothing if the props stay equal`() async {
        let core = Lorry.core()
        let logbook = Logbook<MilesConnector.Props>()
        let connector = MilesConnector()
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        let connection = core.connect(logbook, via: connector, now: { .epoch }, ticks: ticks)
        tick.yield(.epoch)
        tick.yield(time)
        #expect(await logbook.seen.next(2).map(\.time) == [.epoch, time])
        #expect(connector.renderings.count == 3)
        connection.cancel()
    }

    @Test func `Ticks render nothing before the first state, and continue`() async {
        let source = ManualSource<Lorry>()
        let logbook = Logbook<MilesConnector.Props>()
        let (requests, times) = (Arrivals<Void>(), Arrivals<Timestamp>())
        let ticks = AsyncStream {
            requests.record(())
            return await times.next()
        }
        let connection = source.connect(logbook, via: MilesConnector(), now: { .epoch }, ticks: ticks)
        times.record(time)
        // A request for the second tick follows the processing of the first.
        _ = await requests.next(2)
        source.deliver(Change(replay: Lorry(miles: 3), revision: 1))
        times.record(time)
        #expect(await logbook.seen.next(2).map(\.time) == [.epoch, time])
        connection.cancel()
    }

    @Test func `Ticks are superseded by a state that arrives while they are compared`() async {
        let core = Lorry.core()
        let logbook = Logbook<MilesConnector.Props>()
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        let early = Timestamp.epoch.advanced(by: .seconds(1))
        let connection = core.connect(
            logbook,
            via: MilesConnector(),
            removeDuplicates: { [weak core] last, next in
                if next.time == early { core?.dispatch(Driven(miles: 1)) }
                return last == next
            },
            now: { .epoch },
            ticks: ticks
        )
        tick.yield(early)
        tick.yield(time)
        #expect(
            await logbook.seen.next(3) == [
                MilesConnector.Props(miles: 0), MilesConnector.Props(miles: 1),
                MilesConnector.Props(miles: 1, time: time),
            ]
        )
        connection.cancel()
    }

    @Test func `Ticks that arrive while a state is compared are followed by that state`() async {
        let core = Lorry.core()
        let logbook = Logbook<MilesConnector.Props>()
        let (requests, times, isTicked) = (Tally(), Arrivals<Timestamp>(), Gate())
        let ticks = AsyncStream {
            // A request for the second tick follows the processing of the first.
            if requests.counting(requests.count) > 0 { isTicked.open() }
            return await times.next()
        }
        let connection = core.connect(
            logbook,
            via: MilesConnector(),
            removeDuplicates: { [time] last, next in
                if next.miles > 0, !isTicked.isOpen {
                    times.record(time)
                    isTicked.block()
                }
                return last == next
            },
            now: { .epoch },
            ticks: ticks
        )
        // Not on a thread that the tick may need.
        DispatchQueue(label: "driver").async { core.dispatch(Driven(miles: 1)) }
        #expect(
            await logbook.seen.next(3) == [
                MilesConnector.Props(miles: 0), MilesConnector.Props(miles: 0, time: time),
                MilesConnector.Props(miles: 1),
            ]
        )
        connection.cancel()
    }

    @Test func `Ticks are no longer awaited after the connection ends`() async {
        let core = Lorry.core()
        let logbook = Logbook<MilesConnector.Props>()
        let ends = Arrivals<Void>()
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        tick.onTermination = { _ in ends.record(()) }
        core.connect(logbook, via: MilesConnector(), ticks: ticks).cancel()
        _ = await ends.next()
    }

    @Test func `Ticks are no longer awaited after the core is deallocated`() async {
        let logbook = Logbook<MilesConnector.Props>()
        let ends = Arrivals<Void>()
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        tick.onTermination = { _ in ends.record(()) }
        do {
            let core = Lorry.core()
            core.connect(logbook, via: MilesConnector(), ticks: ticks).detach()
        }
        _ = await ends.next()
    }

    @Test func `Ticks end the connection after the component is deallocated`() async {
        let core = Lorry.core()
        let (ends, deaths) = (Arrivals<Void>(), Arrivals<Void>())
        let (ticks, tick) = AsyncStream.makeStream(of: Timestamp.self)
        let connection: Subscription
        do {
            let component = Mortal<MilesConnector.Props>(deaths)
            connection = core.connect(component, via: MilesConnector(life: Life(ends)), ticks: ticks)
        }
        _ = await deaths.next()
        tick.yield(time)
        _ = await ends.next()
        withExtendedLifetime(connection) {}
    }

    @Test func `Ticks of a clock are one period apart, without missed ones`() async {
        let clock = JumpingClock()
        let ticks = Timestamp.ticks(every: .seconds(2), pacedBy: clock, now: { .epoch })
        var iterator = ticks.makeAsyncIterator()
        for seconds in [2, 4, 6] {
            #expect(await iterator.next(isolation: #isolation) == .epoch)
            #expect(clock.now.seconds == seconds)
        }
        clock.jump(to: 13)
        _ = await iterator.next(isolation: #isolation)
        _ = await iterator.next(isolation: #isolation)
        #expect(clock.now.seconds == 14)
        // As late as the next tick, which is missed.
        clock.jump(to: 18)
        _ = await iterator.next(isolation: #isolation)
        _ = await iterator.next(isolation: #isolation)
        #expect(clock.now.seconds == 20)
    }

    @Test func `Ticks of a clock that wakes late do not drift`() async {
        let clock = JumpingClock(lateness: 1)
        var iterator = Timestamp.ticks(every: .seconds(10), pacedBy: clock, now: { .epoch }).makeAsyncIterator()
        for seconds in [11, 21, 31] {
            #expect(await iterator.next(isolation: #isolation) == .epoch)
            #expect(clock.now.seconds == seconds)
        }
    }

    @Test func `Ticks of a clock end with their task`() async {
        let task = Task {
            // Only a cancellation ends such a long period.
            for await _ in Timestamp.ticks(every: .seconds(1_000_000)) {}
        }
        task.cancel()
        await task.value
    }

    /// A clock on which sleeps end at once, a number of seconds after their deadline.
    private final class JumpingClock: Clock {
        struct Instant: InstantProtocol {
            var seconds: Int

            func advanced(by duration: Duration) -> Instant {
                Instant(seconds: seconds + Int(duration.components.seconds))
            }

            func duration(to other: Instant) -> Duration { .seconds(other.seconds - seconds) }

            static func < (left: Instant, right: Instant) -> Bool { left.seconds < right.seconds }
        }

        private let seconds = Mutex(0)
        private let lateness: Int
        let minimumResolution = Duration.seconds(1)

        init(lateness: Int = 0) { self.lateness = lateness }

        var now: Instant { Instant(seconds: seconds.withLock { $0 }) }

        func jump(to time: Int) { seconds.withLock { $0 = max($0, time) } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { jump(to: deadline.seconds + lateness) }
    }
}
