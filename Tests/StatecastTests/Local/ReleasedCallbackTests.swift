import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// The release of callbacks, and of the objects that they own.
@Suite(.timeLimit(.minutes(10))) struct `A callback of a primary` {
    private static func primary() throws -> Primary<Diary> {
        try Primary.diary(nil, .anyPorts)
    }

    /// An object of a callback; it calls the store when it is released.
    private final class Guest: Sendable {
        private let ended: @Sendable () -> Void

        init(ended: @escaping @Sendable () -> Void) { self.ended = ended }

        deinit { ended() }
    }

    private func body(holding guest: Guest) -> @Sendable (Change<Diary>) -> Void {
        { _ in withExtendedLifetime(guest) {} }
    }

    private func mailbox() -> LocalMailbox<Diary> { LocalMailbox(Diary()) { _ in } }

    private func observers(of observer: Listener<Change<Diary>>) -> ObserverSet<Diary> {
        var observers = ObserverSet<Diary>()
        observers.insert(observer, replay: .none)
        return observers
    }

    @Test func `A callback of a primary may call the mailbox when a stop releases it`() {
        let mailbox = mailbox()
        let log = EventLog()
        do {
            let guest = Guest { [weak mailbox] in
                mailbox?.dispatch(Written(line: "from the end"))
                log.add("ended")
            }
            mailbox.close(keeping: observers(of: Listener(body(holding: guest))))
        }
        #expect(log.events == [])
        // The next stop keeps another set of observers.
        mailbox.close(keeping: ObserverSet())
        #expect(log.events == ["ended"])
    }

    @Test func `A callback of a primary is released when it is cancelled after a restart, not at the next stop`() {
        let mailbox = mailbox()
        let log = EventLog()
        var kept: ObserverSet<Diary>
        do {
            let observer = Listener(body(holding: Guest { log.add("ended") }))
            mailbox.close(keeping: observers(of: observer))
            kept = mailbox.open {}
            kept.remove(observer)
        }
        #expect(log.events == ["ended"])
        mailbox.close(keeping: kept)
    }

    @Test func `A callback of a primary is released with the primary even if its subscription is kept`() async throws {
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

    @Test func `The states of a primary end with the primary`() async throws {
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
    func `A callback of a primary is released when it is cancelled`(moment: String) {
        let mailbox = mailbox()
        if moment == "after a stop" { mailbox.close() }
        let ended = EventLog()
        for number in 1...3 {
            let observer = Listener(body(holding: Guest { ended.add("\(number)") }))
            mailbox.enqueue(.observe(observer, replay: .current))
            #expect(observer.deactivate())
            mailbox.enqueue(.ignore(observer))
        }
        #expect(ended.events == ["1", "2", "3"])
        #expect(!mailbox.hasRequests)
    }

    @Test func `A callback of a primary that a stop keeps is released when it is cancelled then`() {
        let mailbox = mailbox()
        let ended = EventLog()
        do {
            let observer = Listener(body(holding: Guest { ended.add("ended") }))
            mailbox.close(keeping: observers(of: observer))
            #expect(observer.deactivate())
            mailbox.enqueue(.ignore(observer))
        }
        #expect(ended.events == ["ended"])
        #expect(!mailbox.hasRequests)
    }

    @Test func `A callback of a primary that was cancelled in the last turn is not kept by the stop`() {
        let mailbox = mailbox()
        let ended = EventLog()
        do {
            let observer = Listener(body(holding: Guest { ended.add("ended") }))
            let observers = observers(of: observer)
            #expect(observer.deactivate())
            mailbox.close(keeping: observers, returning: [.ignore(observer)])
        }
        #expect(ended.events == ["ended"])
        #expect(!mailbox.hasRequests)
    }

    @Test func `A callback of a primary sees a state released outside of the lock`() {
        struct Shown: Sendable { let guest: Guest }
        let log = EventLog()
        let mailbox = LocalMailbox(Shown(guest: Guest {})) { _ in }
        mailbox.show(
            Shown(
                guest: Guest { [weak mailbox] in
                    _ = mailbox?.state
                    log.add("ended")
                }
            )
        )
        mailbox.show(Shown(guest: Guest {}))
        #expect(log.events == ["ended"])
    }
}
