import Statecast
import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// Answers the requests of all clients.
final class Router: Sendable {
    private let stores: [String: ServedStore]
    private let names: [String]
    private let access: AccessRules
    private let pages: PageFolder
    private let report: GatewayReport
    let streams = StreamTable()

    init(_ stores: [ServedStore], access: AccessRules, pages: PageFolder, report: GatewayReport) {
        self.stores = Dictionary(uniqueKeysWithValues: stores.map { ($0.name, $0) })
        names = stores.map(\.name)
        (self.access, self.pages, self.report) = (access, pages, report)
    }

    func respond(to request: GatewayRequest) async -> GatewayAnswer {
        var answer: GatewayAnswer
        do { answer = try await route(request) } catch { answer = GatewayAnswer(GatewayFailure(error)) }
        answer.headers += access.headers(for: request)
        return answer
    }

    private func route(_ request: GatewayRequest) async throws -> GatewayAnswer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if request.method == "OPTIONS", !access.headers(for: request).isEmpty {
            return GatewayAnswer(status: 204, type: "text/plain", .bytes([]))
        }
        guard parts.first == "v1" else {
            guard request.method == "GET" || request.method == "HEAD" else {
                throw GatewayFailure(.methodNotAllowed, "only GET")
            }
            switch request.path {
            case "/livez": return GatewayAnswer(type: "text/plain", .bytes(Array("live\n".utf8)))
            case "/readyz": return ready()
            default: return try pages.answer(to: request)
            }
        }
        try access.check(request)
        if parts == ["v1", "stores"] {
            try requireMethod("GET", of: request)
            _ = try Query(request.query, known: [])
            return .json(list())
        }
        guard parts.count == 4, parts[1] == "stores" else {
            throw GatewayFailure(.noSuchPath, "there is no route \(request.path); docs/GATEWAY.md lists them")
        }
        guard let store = stores[parts[2]] else {
            let hint =
                parts[2].nearest(among: names).map { "; did you mean \($0)?" }
                ?? ", only \(names.joined(separator: ", "))"
            throw GatewayFailure(.noSuchStore, "this gateway has no store \"\(parts[2])\"\(hint)")
        }
        if request.method == "POST" { return try await post(request, to: parts[3], of: store) }
        try requireMethod("GET", of: request)
        return try await get(request, parts[3], of: store)
    }

    private func requireMethod(_ method: String, of request: GatewayRequest) throws {
        guard request.method == method else {
            throw GatewayFailure(.methodNotAllowed, "expected \(method) for \(request.path), got \(request.method)")
        }
    }

    private func ready() -> GatewayAnswer {
        let missing = names.filter { stores[$0]?.feed.now.snapshot == nil }
        let text = missing.isEmpty ? "ready\n" : "no state yet of \(missing.joined(separator: ", "))\n"
        return GatewayAnswer(status: missing.isEmpty ? 200 : 503, type: "text/plain", .bytes(Array(text.utf8)))
    }

    private func list() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("version", 1)
            writer.object("gateway") { report.write(to: &$0) }
            writer.array("stores") { writer in
                for name in names { writer.object { stores[name]?.write(to: &$0) } }
            }
        }
        return writer.bytes
    }

    // MARK: Reading

    /// The parameters of each route.
    private static let parameters: [String: Set<String>] = [
        "state": ["path", "depth", "limit", "after", "at", "whole"],
        "search": ["q", "path", "at", "limit", "after"],
        "actions": ["before", "after", "id", "at", "limit", "name", "outcome", "code", "session", "user", "path"],
        "diff": ["from", "to", "path", "limit", "after", "whole"],
        "blame": ["path", "at", "limit", "before"],
        "timeline": ["buckets"], "schema": [], "peers": ["sort"], "health": [],
        "events": ["paths", "depth", "log", "since"],
    ]

    private func get(_ request: GatewayRequest, _ route: String, of store: ServedStore) async throws -> GatewayAnswer {
        guard route != "sessions" else {
            throw GatewayFailure(.methodNotAllowed, "POST is for sessions, not \(request.method)")
        }
        guard let known = Self.parameters[route] else {
            let routes = Self.parameters.keys.sorted().joined(separator: ", ")
            throw GatewayFailure(.noSuchPath, "there is no \"\(route)\" of a store, only \(routes)")
        }
        let query = try Query(request.query, known: known)
        switch route {
        case "state": return .json(try await state(query, of: store))
        case "search": return .json(try await search(query, of: store))
        case "actions": return .json(try await actions(query, of: store))
        case "diff": return .json(try await diff(query, of: store))
        case "blame": return .json(try await blame(query, of: store))
        case "timeline":
            let count = try query.number("buckets", in: 1...1000) ?? 300
            return .json(
                try await answer(store) { journal, _, writer in
                    try journal.history.writeTimeline(buckets: count, journal.tail, to: &writer)
                }
            )
        case "schema": return .json(try await schema(of: store))
        case "peers":
            let peers = await store.peers.list()
            return .json(
                try Self.object(at: store.position) { writer in
                    try peers.write(sortedBy: query.text("sort") ?? "lag", to: &writer)
                    streams.write(of: store, to: &writer)
                }
            )
        case "health":
            let connections = await report.connections()
            let peers = await store.peers.list()
            let health = HealthReport(
                store: store,
                peers: peers,
                streams: streams,
                gateway: report,
                connections: connections
            )
            return .json(Self.object(at: store.position) { health.write(to: &$0) })
        default: return try events(query, request, of: store)
        }
    }

    /// An answer that begins with a position.
    private static func object(
        at position: Position?,
        maxBytes: Int = .max,
        _ write: (inout JSONWriter) throws -> Void
    ) rethrows -> [UInt8] {
        var writer = JSONWriter(maxBytes: maxBytes)
        try writer.object { writer in
            writer.member(position)
            try write(&writer)
        }
        return writer.bytes
    }

    /// An answer from the journal, with the present position.
    private func answer(
        _ store: ServedStore,
        _ work: @escaping @Sendable (ServedStore.Journal, inout ReadBudget, inout JSONWriter) throws -> Void
    ) async throws -> [UInt8] {
        try await store.reading { journal, budget in
            try Self.object(at: store.position) { try work(journal, &budget, &$0) }
        }
    }

    /// - Throws: ``GatewayFailure`` with code `no-such-path` for a hidden path.
    private func requireShown(_ path: [String], in store: ServedStore) throws {
        guard !store.hidden.hides(path) else { throw GatewayFailure.nothing(at: path) }
    }

    /// The value at a path of a state.
    private func part(_ path: [String], of state: Value, _ store: ServedStore) throws -> Value {
        try requireShown(path, in: store)
        guard let value = state.part(at: path) else { throw GatewayFailure.nothing(at: path) }
        return value
    }

    private func state(_ query: Query, of store: ServedStore) async throws -> [UInt8] {
        let (path, at) = (try query.path(), try query.revision("at"))
        let page = StateNodes.Page(
            depth: try query.number("depth", in: 1...GatewayLimits.maxDepth) ?? 1,
            limit: try query.number("limit", in: 1...GatewayLimits.maxLimit) ?? 200,
            after: query.text("after")
        )
        let isWhole = try query.flag("whole")
        let (state, position) = try await store.state(at: at)
        let value = try part(path, of: state, store)
        return try await store.comparisons.run {
            try Self.object(at: position, maxBytes: EventStream.maxEventBytes) { writer in
                guard isWhole else {
                    let changes = at == nil ? store.changes.withLock(\.self) : nil
                    return StateNodes(hidden: store.hidden, changes: changes).write(value, at: path, page, to: &writer)
                }
                writer.member("path", JSONPointer.text(of: path))
                writer.member("type", value.jsonType)
                writer.key("value")
                writer.value(value, hiding: store.hidden.inside(path))
                guard writer.isTooLarge else { return }
                throw GatewayFailure(
                    .tooLarge,
                    "the value has more than \(EventStream.maxEventBytes) bytes: ask for its parts"
                )
            }
        }
    }

    private func search(_ query: Query, of store: ServedStore) async throws -> [UInt8] {
        guard let text = query.text("q"), text.utf8.count <= StateSearch.maxTextBytes else {
            throw GatewayFailure(.badRequest, "expected a text of 1 to \(StateSearch.maxTextBytes) bytes in q")
        }
        let (path, limit) = (try query.path(), try query.number("limit", in: 1...GatewayLimits.maxLimit) ?? 50)
        let after = query.text("after") == nil ? nil : try query.path("after")
        let (state, position) = try await store.state(at: query.revision("at"))
        let value = try part(path, of: state, store)
        return try await store.comparisons.run {
            var search = StateSearch(text, after: after, limit: limit, until: .now + ReadBudget.time)
            search.run(in: value, at: path, hiding: store.hidden)
            return Self.object(at: position) { writer in
                writer.array("found") { writer in for row in search.found { writer.json(row) } }
                writer.member("examined", search.examined)
                writer.member("next", search.next.map { JSONPointer.text(of: $0) })
            }
        }
    }

    private func actions(_ query: Query, of store: ServedStore) async throws -> [UInt8] {
        var filter = ActionFilter()
        filter.names = query.text("name").map { Set($0.split(separator: ",").map(String.init)) }
        switch query.text("outcome") {
        case nil: break
        case "applied": filter.isApplied = true
        case "rejected": filter.isApplied = false
        case let other?: throw GatewayFailure(.badRequest, "an outcome is applied or rejected, not \"\(other)\"")
        }
        (filter.code, filter.session, filter.user) = (query.text("code"), query.text("session"), query.text("user"))
        if query.text("path") != nil {
            let path = try query.path()
            try requireShown(path, in: store)
            filter.path = ValuePath(path)
        }
        let limit = try query.number("limit", in: 1...GatewayLimits.maxLimit) ?? 500
        let place: StoreHistory.ActionsPlace =
            if let id = try query.actionID("id") { .one(id) } else if let id = try query.actionID("before") {
                .before(id)
            } else if let id = try query.actionID("after") {
                .after(id)
            } else if let revision = try query.revision("at") { .at(revision) } else { .end }
        let wanted = filter
        return try await answer(store) { journal, budget, writer in
            try journal.history.writeActions(place, wanted, limit: limit, &budget, to: &writer)
        }
    }

    private func diff(_ query: Query, of store: ServedStore) async throws -> [UInt8] {
        let (path, limit) = (try query.path(), try query.number("limit", in: 1...GatewayLimits.maxLimit) ?? 500)
        let skipped = try query.number("after", in: 0...1 << 53) ?? 0
        guard let from = try query.revision("from") else {
            throw GatewayFailure(.badRequest, "expected the first revision in from")
        }
        let to = try query.revision("to")
        let maxValueBytes = try query.flag("whole") ? StateNodes.maxBytes : StateNodes.maxValueBytes
        let present = try store.present()
        return try await answer(store) { journal, budget, writer in
            let old = try journal.history.state(at: from, &budget)
            let new = try to.map { try journal.history.state(at: $0, &budget) }
            writer.member("from", old.place.revision)
            writer.member("to", new?.place.revision ?? present.revision)
            let (before, after) = (old.tree.part(at: path), (new?.tree ?? present.state).part(at: path))
            // The number of changes before this one, and before the next page.
            var (count, next) = (0, nil as Int?)
            writer.array("patch") { writer in
                StateChanges(hidden: store.hidden).run(from: before, to: after, at: path) { change in
                    defer { count += 1 }
                    if count < skipped { return true }
                    guard count < skipped + limit, writer.bytes.count < StateNodes.maxBytes else {
                        next = count
                        return false
                    }
                    writer.object { Self.write(change, maxValueBytes, hiding: store.hidden, to: &$0) }
                    return true
                }
            }
            writer.member("next", next.map { "\($0)" })
        }
    }

    private static func write(
        _ change: StateChange,
        _ maxValueBytes: Int,
        hiding hidden: HiddenPaths,
        to writer: inout JSONWriter
    ) {
        writer.member("op", change.kind.rawValue)
        writer.member("path", JSONPointer.text(of: change.path))
        for (name, value) in [("old", change.old), ("value", change.new)] {
            guard let value else { continue }
            writer.key(name)
            StateNodes.limited(value, maxBytes: maxValueBytes, hiding: hidden.inside(change.path), to: &writer)
        }
    }

    private func blame(_ query: Query, of store: ServedStore) async throws -> [UInt8] {
        let (path, at) = (try query.path(), try query.revision("at"))
        try requireShown(path, in: store)
        let limit = try query.number("limit", in: 1...GatewayLimits.maxChanges) ?? 10
        let before = try query.number("before", in: 0...UInt64(Int64.max)).map { JournalSequence($0) }
        return try await answer(store) { journal, budget, writer in
            try journal.history.writeBlame(path, at: at, before: before, limit: limit, &budget, to: &writer)
        }
    }

    private func schema(of store: ServedStore) async throws -> [UInt8] {
        let actions = try await store.schema()
        return Self.object(at: store.position) { writer in
            writer.array("actions") { writer in
                for action in actions {
                    writer.object { writer in
                        writer.member("name", action.name)
                        writer.key("example")
                        writer.value(action.example ?? .null, hiding: HiddenPaths([]))
                    }
                }
            }
        }
    }

    // MARK: Streams

    private func events(_ query: Query, _ request: GatewayRequest, of store: ServedStore) throws -> GatewayAnswer {
        let paths = try query.paths("paths") ?? []
        for (index, path) in paths.enumerated() {
            for other in paths[..<index] where other.starts(with: path) || path.starts(with: other) {
                throw GatewayFailure(
                    .badRequest,
                    "the path \(JSONPointer.text(of: path)) contains another one or is in it: use two streams"
                )
            }
        }
        let depth = try query.number("depth", in: 0...GatewayLimits.maxDepth) ?? 0
        let id = request.header("last-event-id") ?? query.text("since")
        let since = try id.map { text in
            guard let position = Position(utf8: Array(text.utf8)[...]) else {
                throw GatewayFailure(.badRequest, "expected LINEAGE.EPOCH.REVISION as the last event, got \"\(text)\"")
            }
            return position
        }
        let wanted = EventStream.Request(
            paths: paths,
            depth: depth == 0 ? .max : depth,
            hasLog: try query.flag("log"),
            since: since
        )
        let place = try streams.open(at: request.address, of: store)
        return GatewayAnswer(
            type: "text/event-stream",
            .events { write in
                let stream = EventStream(store: store, request: wanted) { bytes in
                    try await write(bytes)
                    place.sent(bytes.count)
                } progress: {
                    place.reached($0)
                }
                // Comparing and writing states must not delay the server's loop.
                try await withTaskExecutorPreference(globalConcurrentExecutor) { try await stream.run() }
            },
            [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
        )
    }

    // MARK: Sending

    private func post(_ request: GatewayRequest, to route: String, of store: ServedStore) async throws -> GatewayAnswer
    {
        guard route == "actions" || route == "sessions" else {
            throw GatewayFailure(.methodNotAllowed, "POST is for actions and sessions, not for \(request.path)")
        }
        // Pages of other origins cannot set either without a question of the browser.
        guard request.header("statecast") == "1" else {
            throw GatewayFailure(.origin, "expected the header \"Statecast: 1\" with a POST")
        }
        guard let type = request.header("content-type"),
            type.lowercased().split(separator: ";").first == "application/json"
        else {
            throw GatewayFailure(.badRequest, "expected the header \"Content-Type: application/json\"")
        }
        guard let sessions = store.sessions else {
            throw GatewayFailure(.readOnly, "this gateway only reads; start it with --allow-send to let clients send")
        }
        let body: Value
        do { body = try JSON.value(parsing: request.body) } catch {
            throw GatewayFailure(.badRequest, "the body is no JSON: \(error)")
        }
        if route == "sessions" { return .json(try await sessions.open(body)) }
        let (json, isPending) = try await sessions.send(body)
        return .json(json, status: isPending ? 202 : 200)
    }
}
