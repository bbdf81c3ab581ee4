internal import StateCoding
package import Statecast

/// Whether a primary serves a store, where that stands, and how long an answer takes.
package struct StorePing: Sendable {
    private let sender: ActionSender
    private let output: LineOutput
    private let asJSON: Bool

    /// A command's way to ask.
    package init(_ sender: ActionSender, output: LineOutput, asJSON: Bool) {
        self.sender = sender
        self.output = output
        self.asJSON = asJSON
    }

    /// Asks the primary, and prints one line.
    ///
    /// - Throws: ``CommandFailure`` where no answer came; ``Rejection`` if there is no such store; ``OutputClosed``.
    package func run(at upstream: Upstream, timeout: Duration?) async throws {
        let sender = sender
        let (schema, roundTrip) = try await upstream.answer(within: timeout) {
            // The first answer takes the time of connecting, too.
            _ = try await sender.schema()
            let clock = ContinuousClock()
            let asked = clock.now
            return (try await sender.schema(), asked.duration(to: clock.now))
        }
        try await output.write(asJSON ? Self.json(upstream, schema, roundTrip) : Self.text(upstream, schema, roundTrip))
    }

    private static func text(_ upstream: Upstream, _ schema: StoreSchema, _ roundTrip: Duration) -> String {
        let durability = schema.durability ?? "none (no journal)"
        return VisibleText.line(
            "\(upstream.store)  epoch \(schema.epoch)  revision \(schema.head)  sessions \(schema.sessions)  "
                + "durability \(durability)  round trip \(microseconds(roundTrip)) us"
        )
    }

    private static func json(_ upstream: Upstream, _ schema: StoreSchema, _ roundTrip: Duration) -> String {
        JSONLine([
            "store": .text(upstream.store), "lineage": .text(schema.lineage.description),
            "epoch": Value(schema.epoch.rawValue), "revision": Value(schema.head.rawValue),
            "sessions": Value(schema.sessions), "durability": schema.durability.map { .text($0) } ?? .null,
            "roundTripMicroseconds": Value(microseconds(roundTrip)),
        ]).description
    }

    private static func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }
}
