package import ArgumentParser
package import Logging
package import StateCoding
package import Statecast

/// The options of whoever talks to a primary.
package struct UpstreamOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the primary publishes. (STATECAST_FROM, default: \(Upstream.standardEndpoint))",
            valueName: "endpoint"
        )
    )
    package var from: String?

    @Option(help: ArgumentHelp("The store's name. (STATECAST_STORE, default: fleet)", valueName: "name"))
    package var store: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Connect beyond this machine, though nothing encrypts or checks what passes there. (STATECAST_INSECURE)"
    )
    package var insecure: Bool?

    /// For argument-parser.
    package init() {}

    /// As flags for ``Settings``.
    package var flags: [SettingKey: SettingFlag] {
        [
            .from: .text(from), .store: .text(store),
            .insecure: .isOn(insecure),
        ]
    }
}

/// A store at a primary.
package struct Upstream: Sendable {
    /// Where the primary publishes.
    package let endpoint: String
    /// The store's name.
    package let store: String
    private let insecure: Bool

    static let standardEndpoint = "tcp://127.0.0.1:7100"

    /// Reads where to go from the settings.
    package init(_ settings: Settings) async throws {
        endpoint = try await settings.endpoint(.from) ?? Self.standardEndpoint
        store = try await settings.text(.store) ?? "fleet"
        insecure = try await settings.isOn(.insecure)
    }

    /// Begins to follow the store without knowing its types.
    package func replica(logger: Logger) throws -> Replica<Value> {
        var configuration = ReplicaConfiguration()
        configuration.insecure = insecure
        return try usage { try Replica(untyped: store, from: endpoint, configuration: configuration, logger: logger) }
    }

    /// Begins a session, or goes on with the one in a file.
    package func sender(session file: SessionFile? = nil, logger: Logger) throws -> ActionSender {
        var configuration = SenderConfiguration()
        configuration.insecure = insecure
        return try usage {
            try ActionSender(
                store: store,
                from: endpoint,
                session: file,
                configuration: configuration,
                logger: logger
            )
        }
    }

    /// Nothing is connected yet: what is wrong at this point was given wrong.
    private func usage<Node>(_ make: () throws -> Node) throws -> Node {
        do { return try make() } catch let error as StatecastError where error.code != .session {
            throw CommandFailure.wrongUsage(error.message)
        }
    }
}
