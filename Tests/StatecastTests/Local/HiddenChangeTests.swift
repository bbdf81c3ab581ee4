import Statecast
import Testing

/// A state whose `==` hides a change.
@Suite(.timeLimit(.minutes(10))) struct `A change that == hides` {
    @Test func `is found when a snapshot is encoded, and logged`() async throws {
        let log = EventLog()
        let primary = try Primary(
            store: "blind",
            state: Room(),
            actions: [Peeked.self],
            configuration: .anyPorts,
            logger: LogBook.logger(log),
            reducer: Reducer { room, _, _ in
                room.blind.hidden += 1
                return .none
            }
        )
        let address = try await primary.start()
        try await primary.send(Peeked())
        let replica = try Replica<Room>(store: "blind", from: address.publish, configuration: .quick)
        while !log.events.contains(where: { $0.hasPrefix("error: the state differs from what was published") }) {
            try Task.checkCancellation()
            await Task.yield()
        }
        await replica.close()
        await primary.stop()
    }
}

private struct Room: Codable, Equatable, Sendable {
    var blind = Blind()
}

private struct Blind: Codable, Equatable, Sendable {
    var seen = 0
    var hidden = 0

    static func == (left: Blind, right: Blind) -> Bool { left.seen == right.seen }
}

private struct Peeked: Action, Equatable {}
