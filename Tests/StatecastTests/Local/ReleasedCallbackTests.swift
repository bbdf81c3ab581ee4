import StateCore
import SyncProtocol
import Testing

@testable import Statecast

/// What becomes of callbacks that nobody needs any more, and of what they hold.
@Suite(.timeLimit(.minutes(10))) struct `A callback of a primary` {
    private static func primary() throws -> Primary<Diary> {
        try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            configuration: .anyPorts,
            reducer: Diary.reducer()
        )
    }

    /// What a callback holds; it comes back to the store when it ends.
    private final class Guest: Sendable {
        private let ended: @Sendable () -> Void

        init(ended: @escaping @Sendable () -> Void) { self.ended = ended }

        deinit { ended() }
    }

    private func body(holding guest: Guest) -> @Sendable (Change<Diary>) -> Void {
        { _ in withExtendedLifetime(guest) {} }
    }

    private func entrance() -> LocalEntrance<Diary> { LocalEntrance(Diary()) { _ in } }

    private func audience(of observer: Listener<Change<Diary>>) -> Audience<Diary> {
        var audience = Audience<Diary>()
        audience.join(observer, replay: false)
        return audience
    }

    @Test func `may come back when it ends at a stop`() {
        let entrance = entrance()
        let log = EventLog()
        do {
            let guest = Guest { [weak entrance] in
                entrance?.dispatch(Written(line: "from the end"))
                log.add("ended")
            }
            entrance.close(keeping: audience(of: Listener(body(holding: guest))))
        }
        #expect(log.events == [])
        // The next stop keeps another audience.
        entrance.close(keeping: Audience())
        #expect(log.events == ["ended"])
    }

    @Test func `ends when it is cancelled after a restart, not at the next stop`() {
        let entrance = entrance()
        let log = EventLog()
        var taken: Audience<Diary>
        do {
            let observer = Listener(body(holding: Guest { log.add("ended") }))
            entrance.close(keeping: audience(of: observer))
            taken = entrance.open {}
            taken.leave(observer)
        }
        #expect(log.events == ["ended"])
        entrance.close(keeping: taken)
    }

    @Test func `ends with the primary, though somebody holds its subscription`() async throws {
        let log = EventLog()
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let subscription: Subscription
        do {
            let primary = try Self.primary()
            try await primary.start()
            let guest = Guest {
                log.add("ended")
                ended.finish()
            }
            subscription = primary.observe(body(holding: guest))
            try await primary.send(Written(line: "a"))
            await primary.stop()
            #expect(log.events == [], "there may be another start")
        }
        for await _ in ends {}
        subscription.cancel()
    }

    @Test func `so that states end with the primary`() async throws {
        var primary: Primary<Diary>? = try Self.primary()
        let states = try #require(primary).states
        var iterator = states.makeAsyncIterator()
        try await primary?.start()
        #expect(await iterator.next(isolation: #isolation) == Diary())
        await primary?.stop()
        primary = nil
        #expect(await iterator.next(isolation: #isolation) == nil)
    }

    @Test(arguments: ["ahead of the start", "after a stop"])
    func `leaves nothing behind when it is cancelled`(moment: String) {
        let entrance = entrance()
        if moment == "after a stop" { entrance.close() }
        let ended = EventLog()
        for number in 1...3 {
            let observer = Listener(body(holding: Guest { ended.add("\(number)") }))
            entrance.enter(.observe(observer, replay: true))
            #expect(observer.deactivate())
            entrance.enter(.ignore(observer))
        }
        #expect(ended.events == ["1", "2", "3"])
        #expect(!entrance.hasRequests)
    }

    @Test func `that a stop keeps leaves nothing behind when it is cancelled then`() {
        let entrance = entrance()
        let ended = EventLog()
        do {
            let observer = Listener(body(holding: Guest { ended.add("ended") }))
            entrance.close(keeping: audience(of: observer))
            #expect(observer.deactivate())
            entrance.enter(.ignore(observer))
        }
        #expect(ended.events == ["ended"])
        #expect(!entrance.hasRequests)
    }

    @Test func `that was cancelled in the last turn is not kept by the stop`() {
        let entrance = entrance()
        let ended = EventLog()
        do {
            let observer = Listener(body(holding: Guest { ended.add("ended") }))
            let audience = audience(of: observer)
            #expect(observer.deactivate())
            entrance.close(keeping: audience, leaving: [.ignore(observer)])
        }
        #expect(ended.events == ["ended"])
        #expect(!entrance.hasRequests)
    }

    @Test func `sees a state end outside the store's lock`() {
        struct Shown: Sendable { let guest: Guest }
        let log = EventLog()
        let entrance = LocalEntrance(Shown(guest: Guest {})) { _ in }
        entrance.show(
            Shown(
                guest: Guest { [weak entrance] in
                    _ = entrance?.state
                    log.add("ended")
                }
            )
        )
        entrance.show(Shown(guest: Guest {}))
        #expect(log.events == ["ended"])
    }
}
