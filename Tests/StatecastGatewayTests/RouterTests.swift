import FleetApp
import Foundation
import Logging
import Statecast
import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastProtocol
import StatecastSQLite
import StatecastThreading
import Testing

@testable import StatecastGateway

/// A gateway without its HTTP server, at a real primary with a journal.
private struct ServedFleet: Sendable {
    let primary: Primary<Fleet>
    let router: Router
    let store: ServedStore
    let token: String

    /// Asks with the token.
    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> (status: Int, body: Value) {
        try await ask("GET", path, headers.merging(["authorization": "Bearer \(token)"]) { own, _ in own })
    }

    func post(_ path: String, _ body: String) async throws -> (status: Int, body: Value) {
        let headers = [
            "authorization": "Bearer \(token)", "statecast": "1", "content-type": "Application/JSON; charset=utf-8",
        ]
        return try await ask("POST", path, headers, body)
    }

    func ask(
        _ method: String,
        _ path: String,
        _ headers: [String: String],
        _ body: String = ""
    ) async throws -> (status: Int, body: Value) {
        let answer = await router.respond(to: Self.request(method, path, headers, body))
        guard case .bytes(let bytes) = answer.body else { throw Unexpected() }
        return (answer.status, (try? JSON.value(parsing: bytes)) ?? .text(String(decoding: bytes, as: UTF8.self)))
    }

    struct Unexpected: Error {}

    static func request(_ method: String, _ path: String, _ headers: [String: String], _ body: String) -> GatewayRequest
    {
        let parts = path.split(separator: "?", maxSplits: 1)
        return GatewayRequest(
            method: method,
            path: String(parts[0]),
            query: parts.count > 1 ? String(parts[1]) : nil,
            header: { headers[$0] },
            body: Array(body.utf8),
            address: "127.0.0.1"
        )
    }
}

private func withFleet(
    sending: Bool = true,
    hiding paths: [String] = [],
    fields: [String] = [],
    _ body: @escaping @Sendable (ServedFleet) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let primary = try Primary(
        store: "fleet",
        state: Fleet(),
        actions: Fleet.actions,
        journal: SQLiteJournal(at: folder),
        configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*"),
        reducer: Fleet.reducer
    )
    try await withPrimary(primary) { primary in
        let address = try await primary.address
        var configuration = GatewayConfiguration(
            stores: [.init("fleet", journal: folder)],
            from: address.publish,
            token: "a-token-of-the-test",
            sessionSecret: Array("a secret of the test".utf8)
        )
        (configuration.allowsSending, configuration.hiddenPaths) = (sending, paths)
        (configuration.hiddenFields, configuration.address) = (fields, "127.0.0.1:0")
        let gateway = try Gateway(configuration)
        let running = Task { try await gateway.run() }
        _ = try await gateway.boundPort
        let store = try #require(gateway.stores.first)
        let access = AccessRules(configuration, allowsAnyHost: false)
        let router = Router(
            gateway.stores,
            access: access,
            pages: PageFolder(),
            report: GatewayReport(connections: { 0 })
        )
        let fleet = ServedFleet(primary: primary, router: router, store: store, token: configuration.token)
        do {
            try await store.waitUntilResumable()
            _ = try store.journal()
            try await body(fleet)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        _ = try? await running.value
    }
}

@Suite(.timeLimit(.minutes(10))) struct RouterTests {
    private static let base = "/v1/stores/fleet/"
    private static let session = "0123456789abcdef0123456789abcdef"

    @Test func `A gateway refuses settings that would not do what they say`() throws {
        let valid = GatewayConfiguration(
            stores: [.init("fleet")],
            from: "tcp://127.0.0.1:1",
            token: "0123456789abcdef",
            sessionSecret: Array(repeating: 7, count: 16)
        )
        func code(_ change: (inout GatewayConfiguration) -> Void) -> StatecastError.Code? {
            var configuration = valid
            change(&configuration)
            do throws(StatecastError) { _ = try Gateway(configuration) } catch { return error.code }
            return nil
        }
        #expect(code { _ in } == nil)
        // They would hide nothing.
        #expect(code { $0.hiddenFields = ["/NoteAdded/text"] } == .definition)
        #expect(code { $0.hiddenFields = ["NoteAdded/text/"] } == .definition)
        #expect(code { $0.hiddenPaths = ["users/*/email"] } == .definition)
        // A header or an address could not hold it.
        #expect(code { $0.token = "0123456789%cd&ef#" } == .definition)
        #expect(code { $0.token = "short" } == .definition)
        #expect(code { $0.address = "0.0.0.0:7190" } == .insecure)
        #expect(code { $0.stores = [] } == .definition)
    }

    @Test func `Only requests with the token, from no foreign page, get data`() async throws {
        try await withFleet(sending: false) { fleet in
            func code(_ headers: [String: String], _ method: String = "GET", _ path: String = "state") async throws
                -> String?
            {
                try await fleet.ask(method, Self.base + path, headers).body["error"]?["code"]?.textValue
            }
            let right = ["authorization": "Bearer \(fleet.token)", "host": "localhost:1"]
            try await #expect(code(right) == nil)
            try await #expect(code([:]) == "token")
            try await #expect(code(["authorization": "Bearer \(fleet.token)x"]) == "token")
            try await #expect(code(right.merging(["origin": "http://localhost:1"]) { $1 }) == nil)
            try await #expect(code(right.merging(["origin": "http://localhost:2"]) { $1 }) == "origin")
            try await #expect(code(right.merging(["sec-fetch-site": "cross-site"]) { $1 }) == "origin")
            try await #expect(code(right, "POST", "actions") == "origin", "without its header")
            let json = ["statecast": "1", "content-type": "Application/JSON; charset=utf-8"]
            try await #expect(code(right.merging(json) { $1 }, "POST", "actions") == "read-only")
            try await #expect(code(right, "PUT") == "method")
            try await #expect(code(right, "GET", "stat") == "no-such-path")
            try await #expect(fleet.get("/v1/stores/flet/state").body["error"]?["code"] == "no-such-store")
        }
    }

    @Test func `A state, its history and its changes agree`() async throws {
        try await withFleet { fleet in
            for index in 1...20 {
                try await fleet.primary.send(NoteAdded(host: "web-\(index % 3)", text: "note \(index)"))
            }
            let end = try await fleet.primary.send(NoteAdded(host: "web-1", text: "the last"))
            try await fleet.store.replica.reached(end)
            let actions = try await fleet.get(Self.base + "actions?limit=5").body
            let rows = try #require(actions["actions"]?.arrayValue)
            #expect(rows.count == 5)
            #expect(rows[0]["payload"]?["text"] == "the last")
            // Pages continue without a gap or a repetition.
            let next = try #require(actions["next"]?.textValue)
            let older = try await fleet.get(Self.base + "actions?limit=1000&before=\(next)").body
            let ids = (rows + (older["actions"]?.arrayValue ?? [])).compactMap { $0["id"]?.textValue }
            #expect(Set(ids).count == ids.count && ids.count == 21)
            for revision in [1, 7, 20] {
                let past = try await fleet.get(Self.base + "state?whole=1&at=\(revision)").body
                #expect(past["position"]?["revision"]?.intValue == revision)
                #expect(past["value"]?["totals"]?["notes"]?.intValue == min(revision, 20) || revision == 20)
                let change = try await fleet.get(Self.base + "diff?from=\(revision - 1)&to=\(revision)&path=/totals")
                    .body
                #expect(change["patch"]?.arrayValue?.isEmpty == false)
                let blame = try await fleet.get(Self.base + "blame?path=/totals&limit=1&at=\(revision)").body
                #expect(blame["changes"]?[0]?["revision"]?.intValue == revision)
                #expect(blame["changes"]?[0]?["exact"] == true)
            }
            try await #expect(fleet.get(Self.base + "state?at=0").status == 200)
            try await #expect(fleet.get(Self.base + "actions?name=Other").body["actions"] == [])
            try await #expect(fleet.get(Self.base + "timeline").body["newest"]?.intValue == Int(end.revision.rawValue))
            // The first request waits for the list.
            try await #expect(fleet.get(Self.base + "peers").body["reported"] == true)
            for route in ["health", "schema"] { try await #expect(fleet.get(Self.base + route).status == 200) }
        }
    }

    @Test func `Requests that cannot be answered get an error that helps`() async throws {
        try await withFleet { fleet in
            try await fleet.store.replica.reached(try await fleet.primary.send(NoteAdded(host: "web-1", text: "1")))
            func code(_ route: String) async throws -> Value? {
                try await fleet.get(Self.base + route).body["error"]?["code"]
            }
            for wrong in ["stat", "state?paht=", "state?depth=9", "events?paths=/a,/a%2Fb", "search?q=", "diff"] {
                let expected: Value = wrong == "stat" ? "no-such-path" : "bad-request"
                let answer = try await code(wrong)
                #expect(answer == expected, "\(wrong)")
            }
            try await #expect(code("sessions") == "method")
            for route in ["state?path=/nothing", "actions?id=1.99", "actions?id=99999.0"] {
                try await #expect(code(route) == "no-such-path", "\(route)")
            }
            // Beyond all ends.
            for route in ["actions?before=99999.0", "diff?from=0&after=9007199254740992", "state?at=99999"] {
                try await #expect(fleet.get(Self.base + route).status == 200, "\(route)")
            }
            try await #expect(fleet.get(Self.base + "actions?before=99999.0").body["actions"]?.arrayValue?.count == 1)
        }
    }

    @Test func `A stream whose client leaves before it is written gives its place back`() async throws {
        try await withFleet { fleet in
            let request = ServedFleet.request(
                "GET",
                Self.base + "events?paths=",
                ["authorization": "Bearer \(fleet.token)"],
                ""
            )
            for _ in 0..<GatewayLimits.maxStreamsPerAddress + 1 {
                let answer = await fleet.router.respond(to: request)
                // The optimizer may release it after its last use.
                withExtendedLifetime(answer) {
                    #expect(answer.status == 200 && fleet.router.streams.count == 1)
                }
            }
            #expect(fleet.router.streams.count == 0)
        }
    }

    @Test func `Hidden parts are in no answer of any route`() async throws {
        try await withFleet(hiding: ["/notes"], fields: ["NoteAdded/text"]) { fleet in
            // The message of the rejection quotes the value.
            struct WrongNote: Action {
                static let name = "NoteAdded"
                let text: Int
            }
            await #expect(throws: Rejection.self) {
                try await withSender(ActionSender(store: "fleet", from: fleet.primary.address.publish)) { sender in
                    try await sender.send(WrongNote(text: 4_711_081_500))
                }
            }
            let end = try await fleet.primary.send(NoteAdded(host: "web-1", text: "private"))
            try await fleet.store.replica.reached(end)
            let routes = [
                "state?whole=1", "state?depth=4", "search?q=private", "actions", "actions?id=1.0", "diff?from=0",
                "blame?path=", "blame?path=/totals", "schema", "health",
            ]
            for route in routes {
                let answer = try await fleet.get(Self.base + route)
                #expect(answer.status == 200, "\(route)")
                #expect(!answer.body.description.contains("\"private\""), "\(route)")
                #expect(!answer.body.description.contains("4711081500"), "\(route)")
            }
            try await #expect(fleet.get(Self.base + "state?path=/notes").status == 404)
            try await #expect(fleet.get(Self.base + "blame?path=/notes/0").status == 404)
        }
    }

    @Test func `An action that is sent again is applied once, also by another gateway with the same secret`()
        async throws
    {
        try await withFleet { fleet in
            let opened = try await fleet.post(Self.base + "sessions", #"{"session":"\#(Self.session)"}"#).body
            let opening = try #require(opened["opened"]?.textValue)
            func send(_ number: Int, lowest: Int = 1, text: String = "a", to fleet: ServedFleet) async throws -> (
                status: Int, body: Value
            ) {
                try await fleet.post(
                    Self.base + "actions",
                    #"{"session":"\#(Self.session)","opened":"\#(opening)","number":\#(number),"lowest":\#(lowest),"#
                        + #""action":"NoteAdded","payload":{"host":"web-1","text":"\#(text)"}}"#
                )
            }
            let first = try await send(1, to: fleet)
            #expect(first.body["status"] == "applied")
            try await #expect(send(1, to: fleet).body == first.body)
            try await #expect(send(1, text: "b", to: fleet).status == 409)
            // Concurrent requests arrive in any order.
            async let third = send(3, to: fleet)
            let second = try await send(2, to: fleet)
            #expect(second.body["revision"]?.intValue == 2)
            try await #expect(third.body["revision"]?.intValue == 3)
            // As after a restart of the gateway, which knows nothing of the session.
            await fleet.store.sessions?.close()
            let reopened = try await fleet.post(Self.base + "sessions", #"{"session":"\#(Self.session)"}"#).body
            #expect(reopened == opened)
            async let again = send(3, lowest: 2, to: fleet)
            try await #expect(send(2, lowest: 2, to: fleet).body == second.body)
            try await #expect(again.body["revision"]?.intValue == 3)
            try await #expect(send(4, lowest: 4, to: fleet).body["revision"]?.intValue == 4)
            try await #expect(send(2, lowest: 2, to: fleet).status == 409, "its outcome was released")
            let late = #"{"session":"\#(Self.session)","opened":"0000000000000001.5","number":5,"action":"NoteAdded"}"#
            try await #expect(fleet.post(Self.base + "actions", late).body["status"] == "unknown")
            // As if another gateway had sent 5 and 6.
            let gap = try await send(7, lowest: 7, to: fleet)
            #expect(gap.body["status"] == "unknown", "the primary has not seen 5 and 6")
            let wrong = try await fleet.post(Self.base + "actions", #"{"session":"\#(Self.session)","number":5}"#)
            #expect(wrong.status == 400)
        }
    }

    @Test func `A stream gives the state, then patches, and resumes with one patch`() async throws {
        try await withFleet { fleet in
            try await fleet.store.replica.reached(try await fleet.primary.send(NoteAdded(host: "web-1", text: "1")))
            func events(since: String?, until isLast: @escaping @Sendable (String) -> Bool) async throws -> [String] {
                let seen = Locked<[String]>([])
                let query = "events?paths=%2Ftotals" + (since.map { "&since=\($0)" } ?? "")
                let request = ServedFleet.request(
                    "GET",
                    Self.base + query,
                    ["authorization": "Bearer \(fleet.token)"],
                    ""
                )
                guard case .events(let write) = await fleet.router.respond(to: request).body else {
                    throw ServedFleet.Unexpected()
                }
                struct Done: Error {}
                do {
                    try await write { bytes in
                        let text = String(decoding: bytes, as: UTF8.self)
                        seen.withLock { $0.append(text) }
                        if isLast(text) { throw Done() }
                    }
                } catch is Done {}
                return seen.withLock(\.self)
            }
            let first = try await events(since: nil) { $0.contains("event: state") }
            #expect(first.first?.contains(#""resumed":false"#) == true)
            let id = try #require(first.last?.split(separator: "\n").first?.dropFirst("id: ".count))
            try await fleet.store.replica.reached(try await fleet.primary.send(NoteAdded(host: "web-1", text: "2")))
            let resumed = try await events(since: String(id)) {
                $0.contains(#"notes","value":2"#) || $0.contains("event: state")
            }
            #expect(resumed.first?.contains(#""resumed":true"#) == true)
            #expect(resumed.last?.contains(#"{"op":"replace","path":"/totals/notes","value":2}"#) == true)
            let other = try await events(since: "0000000000000001.1.1") { $0.contains("event: state") }
            #expect(other.last?.contains(#""reason":"lineage""#) == true)
            let ahead = id.split(separator: ".").dropLast().joined(separator: ".") + ".99"
            let rewound = try await events(since: ahead) { $0.contains("event: state") }
            #expect(rewound.last?.contains(#""reason":"rewound""#) == true)
            #expect(fleet.router.streams.count == 0)
        }
    }
}
