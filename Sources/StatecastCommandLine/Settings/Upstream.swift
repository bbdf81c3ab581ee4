package import ArgumentParser
package import Logging
import ServiceLifecycle
package import Statecast
package import StatecastCoding
import StatecastThreading

/// The options of executables that connect to a primary.
package struct UpstreamOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The endpoint at which the primary publishes; for sending with keys, the one for receipts. Commas separate "
                + "the nodes of one primary. (STATECAST_FROM, default: \(Upstream.standardEndpoint), and with keys "
                + "\(Upstream.standardReceipts))",
            valueName: "endpoint"
        )
    )
    package var from: String?

    @Option(help: ArgumentHelp("The store's name. (STATECAST_STORE, default: fleet)", valueName: "name"))
    package var store: String?

    @OptionGroup package var connection: ConnectionOptions

    package init() {}

    /// The options as flags for ``Settings``.
    package var flags: [SettingKey: SettingFlag] {
        [.from: .text(from), .store: .text(store)].merging(connection.flags) { $1 }
    }
}

/// The options of a connection to a primary.
package struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with this node's keys, which encrypt the connection; see statecast-keys. (STATECAST_KEYS)",
            valueName: "file"
        ),
        completion: .file()
    )
    package var keys: String?

    @Option(
        // A key may begin with a hyphen.
        parsing: .unconditional,
        help: ArgumentHelp(
            "The primary's public key, with --keys: no other primary is trusted. (STATECAST_PRIMARY_KEY)",
            valueName: "key"
        )
    )
    package var primaryKey: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Connect beyond this machine, without encryption or authentication. (STATECAST_INSECURE)"
    )
    package var insecure: Bool?

    @OptionGroup package var node: NodeOptions

    package init() {}

    /// The options as flags for ``Settings``.
    package var flags: [SettingKey: SettingFlag] {
        [
            .keys: .text(keys), .primaryKey: .text(primaryKey), .insecure: .isOn(insecure),
        ].merging(node.flags) { $1 }
    }
}

/// A store at a primary.
package struct Upstream: Sendable {
    /// The endpoint at which the primary publishes, or those of its nodes.
    package let endpoint: String
    /// The store's name.
    package let store: String
    /// Under which a replica is listed; `nil` for the default.
    private let name: String?
    private let plaintext: PlaintextPolicy
    private let security: ClientSecurity?
    private let sends: Bool
    /// Of replicas and senders; `nil` for the default.
    let busyPollingMax: Duration?
    private let maxMemory: Int?

    fileprivate static let standardEndpoint = "tcp://127.0.0.1:7100"
    package static let standardReceipts = "tcp://127.0.0.1:7102"

    /// - Parameters:
    ///   - sends: whether the command sends actions; otherwise it follows the store or reads its schema.
    ///   - ofPeers: whether it follows the list of the store's peers.
    package init(_ settings: Settings, sends: Bool = false, ofPeers: Bool = false) async throws {
        self.sends = sends
        let keys = try await settings.nodeKeys()
        security = try await settings.text(.primaryKey, with: keys).flatMap { text in
            guard let primary = NodePublicKey(text) else {
                throw CommandFailure.wrongUsage(
                    "expected a public key of 40 characters, as statecast-keys show prints it, for "
                        + "\(SettingKey.primaryKey.places)"
                )
            }
            return keys.map { ClientSecurity(keys: $0, primary: primary) }
        }
        endpoint =
            try await settings.endpoints(.from)
            ?? (sends && security != nil ? Self.standardReceipts : Self.standardEndpoint)
        store = (try await settings.text(.store) ?? "fleet") + (ofPeers ? StoreName.suffixOfPeers : "")
        name = try await settings.text(.name)
        plaintext = try await settings.isOn(.insecure) ? .trustedNetwork : .thisMachine
        busyPollingMax = try await settings.busyPollingMax()
        maxMemory = try await settings.maxMemory()
    }

    /// Makes a replica of the store, as an untyped tree.
    package func replica(logger: Logger) throws -> Replica<Value> {
        var configuration = ReplicaConfiguration()
        apply(to: &configuration)
        return try usage { try Replica(untyped: store, from: endpoint, configuration: configuration, logger: logger) }
    }

    /// Applies the settings of a replica.
    package func apply(to configuration: inout ReplicaConfiguration) {
        (configuration.plaintext, configuration.security) = (plaintext, security)
        if let busyPollingMax { configuration.maxBusyPolling = busyPollingMax }
        configuration.maxMemory = maxMemory
        if let name { configuration.name = name }
    }

    /// Applies the settings of a sender.
    package func apply(to configuration: inout SenderConfiguration) {
        (configuration.plaintext, configuration.security) = (plaintext, security)
        if let busyPollingMax { configuration.maxBusyPolling = busyPollingMax }
        configuration.maxMemory = maxMemory
    }

    /// Makes a sender with a new session, or with the one in a file.
    package func sender(session file: SessionFile? = nil, logger: Logger) throws -> ActionSender {
        var configuration = SenderConfiguration()
        apply(to: &configuration)
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

    /// Maps errors of the arguments to wrong usage.
    private func usage<Node>(_ make: () throws -> Node) throws -> Node {
        do { return try make() } catch let error as StatecastError
            where error.code != .session && error.code != .resources
        {
            throw CommandFailure.wrongUsage(error.message)
        }
    }

    /// Sends the primary a request and waits until it answers, the time limit expires or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` if no answer came.
    func answer<T: Sendable>(
        within timeout: Duration?,
        to request: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        do {
            let answer = try await cancelWhenGracefulShutdown {
                if let timeout { try await StatecastThreading.within(timeout, request) } else { try await request() }
            }
            if let answer { return answer }
        } catch is CancellationError { throw unanswered("interrupted") }
        throw unanswered("no answer" + (timeout.map { " within \($0)" } ?? ""))
    }

    private func unanswered(_ cause: String) -> CommandFailure {
        .failed(
            "\(cause): no primary answered at \(endpoint); check that statecast-primary runs there\(keyAdvice), or "
                + "wait for it with --wait"
        )
    }

    /// The message for an endpoint for actions at which nothing answers.
    func unreachable(actions: String) -> String {
        "the primary at \(endpoint) accepts actions at \(actions), where no process answers; check its "
            + "--advertise-actions and --actions"
    }

    /// What else to check if no primary answers a node with keys: libzmq does not say why a connection fails.
    var keyAdvice: String {
        guard security != nil else { return "" }
        return ", that it has the key of --primary-key, that its access list permits this node's key, and that the "
            + "endpoint is the one for \(sends ? "receipts (to send)" : "states (to follow)")"
    }
}
