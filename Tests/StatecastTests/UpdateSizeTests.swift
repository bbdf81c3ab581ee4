import StateCoding
import Statecast
import SyncProtocol
import Testing

/// What an observer pays for one changed row, on the wire.
@Suite(.timeLimit(.minutes(10))) struct `An update of one row's field, beside eleven other fields` {
    @Test func `is a message of at most 96 bytes, whose patch has at most 40`() async throws {
        let primary = try Primary(
            store: "depot",
            state: Depot(rows: 10_000),
            actions: [Loaded.self],
            configuration: .anyPorts,
            reducer: Reducer { depot, action, _ in
                if let action = action as? Loaded { depot.trucks[action.truck]?.load = action.load }
                return .none
            }
        )
        let peer = try await RawPeer(try await primary.start())
        try await peer.subscribe("sc1/depot/feed")
        // A heartbeat says that the subscription is there.
        _ = try await peer.next(on: "sc1/depot/feed")
        try await primary.send(Loaded(truck: "truck-4321", load: 48_211))

        var message = try await peer.nextMessage(on: "sc1/depot/feed")
        while case .heartbeat = message.frame { message = try await peer.nextMessage(on: "sc1/depot/feed") }
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
