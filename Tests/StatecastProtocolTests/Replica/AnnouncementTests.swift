import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `The announcement of a replica` {
    private let name = PeerName("kiosk")
    private let nonce = Nonce(bits: 7)

    private func topic(_ revision: UInt64?) -> Topic { .peer(nonce, name, revision.map { Fixture.position($0) }) }
    private func at(_ seconds: Double) -> Instant { .origin.advanced(by: .seconds(seconds)) }

    @Test func `a subscription is replaced when the revision has moved, at most every three seconds`() {
        var announcement = Announcement(name, nonce, now: .origin)
        #expect(announcement.deadline(nil) == .origin)
        #expect(announcement.update(nil, at: .origin) == [.subscribe(topic(nil))])
        #expect(announcement.deadline(nil) == nil, "unchanged: the same subscription stays")
        #expect(announcement.deadline(Fixture.position(1)) == at(3))
        #expect(announcement.update(Fixture.position(1), at: at(2.999)) == [])
        // The new one first: the replica is always listed.
        #expect(
            announcement.update(Fixture.position(2), at: at(3)) == [.subscribe(topic(2)), .unsubscribe(topic(nil))]
        )
        #expect(announcement.update(Fixture.position(2), at: at(99)) == [])
        #expect(announcement.update(Fixture.position(3), at: at(99)) == [.subscribe(topic(3)), .unsubscribe(topic(2))])
    }

    @Test func `a new connection is announced at once`() {
        var announcement = Announcement(name, nonce, now: .origin)
        _ = announcement.update(Fixture.position(1), at: .origin)
        announcement.reconnected(at: at(1))
        #expect(announcement.update(Fixture.position(1), at: at(1)) == [.subscribe(topic(1))])
    }

    @Test func `without a name nothing is announced`() {
        var announcement = Announcement(nil, nonce, now: .origin)
        #expect(announcement.deadline(Fixture.position(1)) == nil)
        #expect(announcement.update(Fixture.position(1), at: at(9)) == [])
    }

    @Test func `a replica announces itself at the start, and after each reconnection`() {
        var machine = ReplicaMachine(limits: Limits(), name: name, nonce: nonce, now: .origin)
        var generator = SeededGenerator(seed: 1)
        #expect(machine.start(at: .origin, using: &generator).contains(.subscribe(topic(nil))))
        #expect(machine.reconnect(at: at(1), using: &generator).contains(.subscribe(topic(nil))))
    }
}
