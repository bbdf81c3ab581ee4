import StatecastCoding
import StatecastProtocol
import Testing

@testable import Statecast

/// The size on the wire of a change of one row.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `An update of one row's field, beside eleven other fields` {
    @Test
    func `An update of one row's field beside eleven other fields has at most 96 bytes, its patch 40`() async throws {
        let primary = try Primary(
            store: "depot",
            state: Depot(rows: 10_000),
            actions: [Loaded.self],
            configuration: .anyPorts,
            reducer: Reducer { depot, action in
                if let action = action as? Loaded { depot.trucks[action.truck]?.load = action.load }
                return .none
            }
        )
        let peer = try await RawPeer(try await primary.start())
        try await peer.subscribe("sc2/depot/feed")
        // A heartbeat confirms the subscription.
        _ = try await peer.next(on: "sc2/depot/feed")
        try await primary.send(Loaded(truck: "truck-4321", load: 48_211))

        var message = try await peer.nextMessage(on: "sc2/depot/feed")
        while case .heartbeat = message.frame { message = try await peer.nextMessage(on: "sc2/depot/feed") }
        guard case .update(let update) = message.frame else {
            Issue.record("expected an update, got \(message.frame)")
            return
        }
        let patch = try Patch(decoding: update.patch)
        #expect(patch.description == #"{"trucks":{"truck-4321":{"load":[48211]}}}"#)
        #expect(update.patch.count <= 40)
        #expect(message.bytes.count <= 96)
        await primary.stop()
    }
}

private struct Loaded: Action, Equatable {
    var truck: String
    var load: Int
}

private struct Depot: Codable, Equatable, Sendable {
    var name = "Depot North", city = "Hamburg", isOpen = true, gates = 12, staff = 48
    var temperature = 18.5, humidity = 0.62, revision = 7, season = "autumn", phone = "040 123"
    var notes: [String] = ["gate 3 is closed"]
    var trucks: Table<String, Truck>

    init(rows: Int) {
        trucks = Table(uniqueKeysWithValues: (0..<rows).map { ("truck-\($0)", Truck(number: $0)) })
    }
}

private struct Truck: Codable, Equatable, Sendable {
    var name: String
    var zone = "north"
    var load = 0
    var speed = 40.5
    var driver: String?

    init(number: Int) { name = "Truck \(number)" }
}

/// A state whose `==` hides a change.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A change that == does not report` {
    @Test func `A change that == does not report is detected when a snapshot is encoded, and logged`() async throws {
        let log = EventLog()
        let primary = try Primary(
            store: "blind",
            state: Room(),
            actions: [Peeked.self],
            configuration: .anyPorts,
            logger: LogBook.logger(log),
            reducer: Reducer { room, _ in
                room.blind.hidden += 1
                return .none
            }
        )
        let address = try await primary.start()
        try await primary.send(Peeked())
        let replica = try Replica<Room>(store: "blind", from: address.publish, configuration: .quick).started()
        while !log.events.contains(where: { $0.hasPrefix("error: the state differs from the published one") }) {
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

/// A state that cannot be encoded is never published.
@Suite struct `An action whose state cannot be encoded` {
    struct Note: Codable, Equatable, Sendable { var text = "" }

    @Test
    func `An action whose state cannot be encoded is rejected with the field and the reason, and rolled back`() throws {
        let bench = try StoreBench(
            Note(),
            actions: [Written.self],
            reducer: Reducer { note, action in note.text += (action as? Written)?.line ?? "" }
        )
        bench.store.begin()
        // Each payload is valid. Two of them in a row exceed the limit of marks in a text.
        let marks = String(repeating: "\u{301}\u{316}", count: 40)
        try bench.push(Written(line: marks), Written(line: marks), Written(line: "."), Written(line: marks))
        bench.runTurns()
        let reason = "text: expected a text with at most 128 combining marks in a row, got one with more"
        #expect(bench.receipts[1] == .applied(Revision(1)))
        #expect(
            bench.receipts[2]
                == .rejected(Rejection(.unencodable, "the state cannot be published after it: \(reason)"))
        )
        #expect(bench.receipts[3] == .applied(Revision(2)))
        #expect(bench.receipts[4] == .applied(Revision(3)))
        var note = Note()
        for update in bench.updates { try Patch(decoding: update.patch).apply(to: &note) }
        #expect(note.text == marks + "." + marks)
    }
}
