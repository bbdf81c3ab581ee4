import StatecastCore
import Testing

@Suite struct `A command` {
    @Test func `A command without an id equals only its copies`() {
        let command = Command<Int> { _ in }
        let copy = command
        #expect(command == copy)
        #expect(command != Command<Int> { _ in })
        #expect(Set([command, copy, Command<Int> { _ in }]).count == 2)
    }

    @Test func `A command with an id equals those with an equal id`() {
        #expect(Command<Int>(id: "drive") { _ in } == Command(id: "drive") { _ in })
        #expect(Command<Int>(id: "drive") { _ in } != Command(id: "stop") { _ in })
        #expect(Command<Int>(id: 1) { _ in } != Command(id: "1") { _ in })
        #expect(Command<Int>(id: 1) { _ in } != Command { _ in })
        #expect(Set([1, 1, 2].map { id in Command<Int>(id: id) { _ in } }).count == 2)
    }

    @Test func `A command differs from those with an id of another type, even if the values are equal`() {
        let command = Command<Int>(id: 1) { _ in }
        #expect(command != Command(id: UInt8(1)) { _ in })
        #expect(command != Command(id: 1.0) { _ in })
        #expect(Set([command, Command(id: UInt8(1)) { _ in }]).count == 2)
    }

    @Test func `A command is called like a function`() {
        let seen = Recorder<Int>()
        let withValue = Command<Int> { seen.record($0) }
        let plain = Command<Void> { seen.record(0) }
        let named = Command<Void>(id: "named") { seen.record(-1) }
        withValue(42)
        plain()
        named()
        #expect(seen.all == [42, 0, -1])
    }

    @Test func `A command dispatches the action created from its value`() {
        let core = Lorry.core()
        let drive: Command<Int> = core.command(id: "drive") { Driven(miles: $0) }
        let refuel: Command<Void> = core.scope(\.tank).command(id: "refuel") { Refuelled(fuel: 100) }
        drive(42)
        refuel()
        #expect(core.state.miles == 42)
        #expect(core.state.tank.fuel == 100)
        #expect(drive == core.command(id: "drive") { Driven(miles: -$0) })
    }

    @Test func `A command of a core does not retain it, and does nothing after the core is deallocated`() {
        weak var core: Core<Lorry>?
        let drive: Command<Int>
        do {
            let local = Lorry.core()
            core = local
            drive = local.command(id: "drive") { Driven(miles: $0) }
            drive(1)
            #expect(local.state.miles == 1)
        }
        #expect(core == nil)
        drive(2)
    }

    @Test func `A command of a scope's dispatcher does not retain the core`() {
        weak var core: Core<Lorry>?
        let commands: [Command<Int>]
        do {
            let local = Lorry.core()
            core = local
            commands = [
                local.scope(\.tank).dispatcher.command(id: 1) { Driven(miles: $0) },
                local.scope { $0.tank }.dispatcher.command(id: 2) { Driven(miles: $0) },
            ]
            for (index, drive) in commands.enumerated() {
                drive(index + 1)
                #expect(local.state.miles == index + 1)
            }
        }
        #expect(core == nil)
        commands.forEach { $0(2) }
    }

    @Test func `A command bound to a value is called without one, and equals those bound to an equal value`() {
        let seen = Recorder<Int>()
        let (named, other) = (Command<Int>(id: "drive") { seen.record($0) }, Command<Int>(id: "stop") { _ in })
        let unique = Command<Int> { seen.record(-$0) }
        named.bound(to: 42)()
        unique.bound(to: 7)()
        #expect(seen.all == [42, -7])
        #expect(named.bound(to: 42) == Command<Int>(id: "drive") { _ in }.bound(to: 42))
        #expect(named.bound(to: 42) != named.bound(to: 43))
        #expect(named.bound(to: 42) != other.bound(to: 42))
        #expect(unique.bound(to: 7) == unique.bound(to: 7))
        #expect(unique.bound(to: 7) != Command<Int> { _ in }.bound(to: 7))
    }
}
