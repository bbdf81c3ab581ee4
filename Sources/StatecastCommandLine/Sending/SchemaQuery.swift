package import Statecast
import StatecastCoding
import StatecastJSON
import StatecastProtocol
import StatecastTerminal

/// Queries a store's schema: its actions, epoch, revision and sessions.
package struct SchemaQuery: Sendable {
    private let sender: ActionSender
    private let upstream: Upstream
    private let timeout: Duration?
    private let output: LineOutput
    private let format: OutputFormat

    package init(
        _ sender: ActionSender,
        of upstream: Upstream,
        timeout: Duration?,
        output: LineOutput,
        format: OutputFormat
    ) {
        self.sender = sender
        self.upstream = upstream
        self.timeout = timeout
        self.output = output
        self.format = format
    }

    /// Prints a line for each action of the store, with an example.
    ///
    /// - Throws: ``CommandFailure`` if no answer came; ``Rejection`` if there is no such store; ``OutputClosed``.
    package func list() async throws {
        let actions = try await upstream.answer(within: timeout) { try await sender.actions() }
        let names = actions.map { VisibleText.line($0.name) }
        let width = names.map(\.displayWidth).max() ?? 0
        for (action, name) in zip(actions, names) {
            let example = action.example.map { JSON.text(of: $0) } ?? "(no example)"
            let line =
                format == .json
                ? JSONLine(["action": .text(action.name), "payload": action.example ?? .null]).description
                : name.padded(to: width) + "  " + VisibleText.line(example)
            try await output.write(line)
        }
    }

    /// Prints the store's epoch, revision, sessions and durability, and the round trip, as one line.
    ///
    /// - Throws: as ``list()``.
    package func ping() async throws {
        let (schema, roundTrip) = try await upstream.answer(within: timeout) {
            // The first answer includes the time of connecting.
            _ = try await sender.schema()
            let clock = ContinuousClock()
            let start = clock.now
            return (try await sender.schema(), start.duration(to: clock.now))
        }
        try await output.write(format == .json ? json(schema, roundTrip) : text(schema, roundTrip))
    }

    private func text(_ schema: StoreSchema, _ roundTrip: Duration) -> String {
        let durability = schema.durability ?? "none (no journal)"
        return VisibleText.line(
            "\(upstream.store)  epoch \(schema.epoch)  revision \(schema.head)  sessions \(schema.sessions)  "
                + "durability \(durability)  round trip \(Self.microseconds(roundTrip)) us"
        )
    }

    private func json(_ schema: StoreSchema, _ roundTrip: Duration) -> String {
        JSONLine([
            "store": .text(upstream.store), "lineage": .text(schema.lineage.description),
            "epoch": Value(schema.epoch.rawValue), "revision": Value(schema.head.rawValue),
            "sessions": Value(schema.sessions), "durability": schema.durability.map { .text($0) } ?? .null,
            "roundTripMicroseconds": Value(Self.microseconds(roundTrip)),
        ]).description
    }

    private static func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }
}
