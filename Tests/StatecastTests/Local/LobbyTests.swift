import CounterApp
import StateCore
import Testing

@testable import Statecast

@Suite struct `The lobby of a replica` {
    private let lobby = Lobby<Counter>()
    private let log = EventLog()

    /// An observer that says what it is told, and when it is released.
    private func observer(_ name: String, onRelease: @escaping @Sendable () -> Void = {}) -> Listener<Change<Counter>> {
        let log = log
        let held = Held {
            log.add("\(name) released")
            onRelease()
        }
        return Listener { _ in
            held.touch()
            log.add("\(name) told")
        }
    }

    /// Cancels, as a subscription does.
    private func leave(_ observer: Listener<Change<Counter>>) {
        _ = observer.deactivate()
        lobby.leave(observer)
    }

    @Test func `lets in those who wait in the order in which they came`() {
        let names = (0..<20).map { "\($0)" }
        for name in names { lobby.join(observer(name), replay: false) }
        var audience = Audience<Counter>()
        audience.show(Counter(), revision: 0)
        lobby.admit(to: &audience)
        audience.show(Counter(), revision: 1)
        #expect(log.events == names.map { "\($0) told" })
    }

    @Test func `forgets who leaves before it was let in, and keeps the others`() {
        lobby.join(observer("first"), replay: true)
        do {
            let second = observer("second")
            lobby.join(second, replay: true)
            leave(second)
        }
        #expect(log.events == ["second released"])
        var audience = Audience<Counter>()
        audience.show(Counter(), revision: 1)
        lobby.admit(to: &audience)
        #expect(log.events == ["second released", "first told"])
    }

    @Test func `lets out who was let in`() {
        var audience = Audience<Counter>()
        do {
            let first = observer("first")
            lobby.join(first, replay: true)
            lobby.admit(to: &audience)
            leave(first)
        }
        #expect(log.events == [])
        lobby.admit(to: &audience)
        #expect(log.events == ["first released"])
    }

    @Test func `once closed holds nobody, whoever waits, comes or leaves`() {
        let stayed = observer("stayed")
        lobby.join(observer("waited"), replay: true)
        lobby.close()
        #expect(log.events == ["waited released"])
        lobby.join(observer("came"), replay: true)
        #expect(log.events == ["waited released", "came released"])
        do {
            let left = observer("left")
            leave(left)
        }
        #expect(log.events == ["waited released", "came released", "left released"])
        lobby.join(stayed, replay: true)
        var audience = Audience<Counter>()
        lobby.admit(to: &audience)
        #expect(audience.isEmpty)
    }

    @Test func `may be entered by what it lets go of`() {
        let (lobby, last) = (lobby, observer("last"))
        lobby.join(observer("first") { lobby.leave(last) }, replay: true)
        lobby.close()
        #expect(log.events == ["first released"])
    }
}
