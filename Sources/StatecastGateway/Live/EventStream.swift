import Statecast
import StatecastCoding
import StatecastJSON
import StatecastProtocol

/// The events of one client: the state at its paths, then patches of it, rows of the log, and the status.
struct EventStream: Sendable {
    /// The parameters of a request.
    struct Request: Sendable {
        let paths: [[String]]
        let depth: Int
        let hasLog: Bool
        /// The state that the client has.
        let since: Position?
    }

    let store: ServedStore
    let request: Request
    /// Returns when the client has taken the bytes.
    let write: @Sendable ([UInt8]) async throws -> Void
    /// Called with each position that the client has.
    let progress: @Sendable (Position) -> Void

    static let maxEventBytes = 1 << 20
    /// A state that was delivered longer ago is not kept for a client that takes nothing: the nodes that it does not
    /// share with the present one occupy memory, some 8 MiB at 500 bytes of a change.
    private static let maxRetainedRevisions = 16_384

    /// Writes events until the client leaves or the gateway stops.
    func run() async throws {
        do { try await follow() } catch is CancellationError {
            try? await write(
                Self.event("end") {
                    $0.member("reason", "stopping"); $0.member("retry", 1000)
                }
            )
        }
    }

    private func follow() async throws {
        if request.since != nil { try await store.waitUntilResumable() }
        var seen = store.feed.now
        // The first event names the status.
        var shown: ReplicaStatus?
        // What the client has.
        var (position, state) = (request.since, nil as Value?)
        if let since = position, let snapshot = seen.snapshot { state = await store.resumed(since, before: snapshot) }
        let isResumed = state != nil
        try await write(
            Self.event("hello") { writer in
                writer.member("version", 1)
                writer.member("resumed", isResumed)
                writer.member(seen.snapshot?.position)
                GatewayLimits.write(to: &writer)
            }
        )
        while true {
            if shown != seen.status {
                try await write(Self.event("status") { ServedStore.write(seen, to: &$0) })
                shown = seen.status
            }
            if let snapshot = seen.snapshot, !request.paths.isEmpty, position != snapshot.position {
                let reason = Self.reason(from: position, to: snapshot.position, hasState: state != nil)
                let patch = state.flatMap { old in
                    reason == nil ? position.flatMap { self.patch(from: old, $0, to: snapshot, seen) } : nil
                }
                // Not retained while the client takes the event.
                state = nil
                guard let bytes = patch ?? self.state(snapshot, because: reason ?? "behind") else {
                    return try await write(
                        Self.event("end") { writer in
                            writer.member("reason", "too-large")
                            writer.member("retry", 60_000)
                        }
                    )
                }
                try await write(bytes)
                (position, state) = (snapshot.position, retained(snapshot))
            }
            if let position = position ?? seen.snapshot?.position { progress(position) }
            let before = seen
            seen = try await store.feed.next(after: before, hasLog: request.hasLog)
            if request.hasLog, seen.rowCount != before.rowCount {
                let (rows, skipped) = seen.rows(after: before.rowCount)
                try await write(
                    Self.event("log") { writer in
                        writer.array("actions") { writer in for row in rows { writer.json(row) } }
                        writer.member("skipped", skipped)
                    }
                )
            }
            if seen.beats != before.beats { try await write(Array(":\n\n".utf8)) }
        }
    }

    /// Why a client gets a whole state; `nil`: a patch leads to it.
    private static func reason(from old: Position?, to new: Position, hasState: Bool) -> String? {
        guard let old else { return "joined" }
        if old.lineage != new.lineage { return "lineage" }
        if new.revision < old.revision { return "rewound" }
        return hasState ? nil : "behind"
    }

    /// The state, unless the present one is far ahead when the client has taken it.
    private func retained(_ snapshot: StateSnapshot<Value>) -> Value? {
        let newest = store.feed.now.snapshot?.revision ?? snapshot.revision
        return newest.distance(beyond: snapshot.revision) > Self.maxRetainedRevisions ? nil : snapshot.state
    }

    // MARK: Events

    /// `nil` if it would be too large.
    private func patch(
        from old: Value,
        _ position: Position,
        to new: StateSnapshot<Value>,
        _ seen: StoreFeed.Current
    ) -> [UInt8]? {
        let key = StoreFeed.EventKey(from: position, to: new.position, paths: request.paths, depth: request.depth)
        return store.feed.event(key, version: seen.version) {
            var operations = JSONWriter(maxBytes: Self.maxEventBytes)
            operations.array { writer in
                let changes = StateChanges(hidden: store.hidden, depth: request.depth)
                for path in request.paths {
                    changes.run(from: old.part(at: path), to: new.state.part(at: path), at: path) { change in
                        write(change, below: path.count, to: &writer)
                        return !writer.isTooLarge
                    }
                }
            }
            guard !operations.isTooLarge else { return nil }
            // Also without operations: the client learns how far its values are.
            return Self.event("patch", id: new.position) { writer in
                writer.member("from", position.revision)
                writer.member("to", new.revision)
                writer.member(new.position)
                writer.key("ops")
                writer.json(operations.bytes)
            }
        }
    }

    private func write(_ change: StateChange, below level: Int, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("op", change.kind.rawValue)
            writer.member("path", JSONPointer.text(of: change.path))
            guard let value = change.new else { return }
            writer.key("value")
            let depth = request.depth == .max ? .max : request.depth - (change.path.count - level)
            writer.value(value, hiding: store.hidden.inside(change.path), depth: depth)
        }
    }

    /// `nil` if it would be too large.
    private func state(
        _ snapshot: StateSnapshot<Value>,
        because reason: String
    ) -> [UInt8]? {
        let event = Self.event("state", id: snapshot.position) { writer in
            writer.member(snapshot.position)
            writer.member("reason", reason)
            writer.object("values") { writer in
                for path in request.paths where !store.hidden.hides(path) {
                    guard let value = snapshot.state.part(at: path) else { continue }
                    writer.key(JSONPointer.text(of: path))
                    writer.value(value, hiding: store.hidden.inside(path), depth: request.depth)
                }
            }
        }
        return event.count > Self.maxEventBytes ? nil : event
    }

    private static func event(
        _ name: String,
        id: Position? = nil,
        _ data: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(maxBytes: maxEventBytes)
        writer.object(data)
        let head = (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: "
        return Array(head.utf8) + writer.bytes + Array("\n\n".utf8)
    }
}
