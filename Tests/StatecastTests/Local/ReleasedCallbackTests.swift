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

    @Test func `A callback of a primary may call the mailbox when a stop releases it`() {
        let mailbox = mailbox()
        let log = EventLog()
        do {
            let guest = Guest { [weak mailbox] in
                mailbox?.dispatch(Written(line: "from the end"))
                log.add("ended")
            }
            mailbox.enqueue(.observe(Listener(body(holding: guest)), replay: .none))
        }
        #expect(log.events == [])
        mailbox.close()
        #expect(log.events == ["ended"])
    }

    @Test func `A callback of a primary is released when it stops even if its subscription is kept`() async throws {
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
