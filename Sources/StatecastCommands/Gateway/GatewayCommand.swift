package import ArgumentParser
import Logging
import ServiceLifecycle
import Statecast
import StatecastCommandLine
import StatecastGateway
import StatecastProtocol

package struct GatewayCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-gateway",
        abstract: "Serves stores over HTTP: an inspector for browsers, and an API.",
        discussion: """
            It follows the stores, and serves a page that shows their states, actions and history, and the API that \
            docs/GATEWAY.md describes. With --journal it also reads the history of the first store, without changing \
            it; for several stores, give --journal once for each, in their order.

            Every request for data needs a token. Without --token-file a new one is made at each start; the address \
            with the token is printed once, for a browser. It listens on this machine only; for others, put a proxy \
            with TLS in front of it.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-gateway")
    )

    @Option(
        help: ArgumentHelp(
            "The endpoint at which the primary publishes states. (STATECAST_FROM, default: tcp://127.0.0.1:7100)",
            valueName: "endpoint"
        )
    )
    var from: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("A store; may be repeated. (STATECAST_STORE, default: fleet)", valueName: "name")
    )
    var store: [String] = []

    @Option(
        help: ArgumentHelp(
            "The directory of a store's journal on this machine; once for each store. (STATECAST_JOURNAL)",
            valueName: "directory"
        ),
        completion: .directory
    )
    var journal: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where to listen; port 0 takes a free one. (STATECAST_LISTEN, default: 127.0.0.1:7190)",
            valueName: "host:port"
        )
    )
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The file with the token that requests need; made if it does not exist. (STATECAST_TOKEN_FILE)",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Flag(inversion: .prefixedNo, help: "Let clients send actions. (STATECAST_ALLOW_SEND)")
    var allowSend: Bool?

    @Option(
        help: ArgumentHelp(
            "The file with the secret of clients' sessions, which a restarted gateway then continues; made if it does "
                + "not exist. (STATECAST_SESSION_SECRET_FILE)",
            valueName: "file"
        ),
        completion: .file()
    )
    var sessionSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "Leave a part of the states out of all answers, such as /users/*/email; may be repeated. (STATECAST_HIDE)",
            valueName: "path"
        )
    )
    var hide: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave a field of an action's payload out of all answers, such as NoteAdded/text, or with NoteAdded all "
                + "of it; may be repeated. "
                + "(STATECAST_HIDE_PAYLOAD)",
            valueName: "action/field"
        )
    )
    var hidePayload: [String] = []

    @Option(
        help: ArgumentHelp(
            "A name under which a proxy serves the gateway; may be repeated. (STATECAST_HOST)",
            valueName: "name"
        )
    )
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "An origin whose pages may use the API, such as https://boards.example.com; may be repeated. "
                + "(STATECAST_ALLOW_ORIGIN)",
            valueName: "origin"
        )
    )
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "A folder with a page of your own, which is served instead of the inspector. (STATECAST_PAGES)",
            valueName: "directory"
        ),
        completion: .directory
    )
    var pages: String?

    @Option(
        help: ArgumentHelp(
            "With keys: where the primary publishes receipts. (STATECAST_RECEIPTS, default: tcp://127.0.0.1:7102)",
            valueName: "endpoint"
        )
    )
    var receipts: String?

    @Option(
        help: ArgumentHelp(
            "With keys: where the primary publishes the lists of peers. (STATECAST_PEERS, default: the lists are not "
                + "shown)",
            valueName: "endpoint"
        )
    )
    var peers: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var common: CommonOptions

    package init() {}

    /// Several values of an option, in the form that the environment has them.
    private static func list(_ values: [String]) -> SettingFlag {
        .text(values.isEmpty ? nil : values.joined(separator: ","))
    }

    private var flags: [SettingKey: SettingFlag] {
        let own: [SettingKey: SettingFlag] = [
            .from: .text(from), .store: Self.list(store), .journal: Self.list(journal), .listen: .text(listen),
            .tokenFile: .text(tokenFile), .allowSend: .isOn(allowSend), .sessionSecretFile: .text(sessionSecretFile),
            .hide: Self.list(hide), .hidePayload: Self.list(hidePayload), .host: Self.list(host),
            .allowOrigin: Self.list(allowOrigin), .pages: .text(pages), .receipts: .text(receipts),
            .peers: .text(peers),
        ]
        return own.merging(connection.flags) { $1 }
    }

    package func run() async throws {
        try await reportingFailures {
            let settings = try await common.settings(flags)
            let upstream = try await Upstream(settings)
            let (configuration, token) = try await Self.configuration(settings, upstream)
            let logger = Logger(label: "statecast.gateway")
            let monitoring = try await Monitoring(settings)
            let gateway = try Self.gateway(configuration, logger)
            let host = configuration.address.lastIndex(of: ":").map { configuration.address[..<$0] } ?? ""
            try await SignalledRun.until(
                done: {
                    let port = try await cancelWhenGracefulShutdown { try await gateway.boundPort }
                    let address = "http://\(host == "0.0.0.0" ? "127.0.0.1" : host):\(port)/"
                    try LineOutput.writeNow(Array("\(address)#token=\(token.replacing("+", with: "%2B"))\n".utf8))
                    try? await gracefulShutdown()
                },
                beside: try monitoring.services(for: gateway.nodes, logger: logger) + [gateway],
                observedBy: monitoring.observers(of: gateway.nodes),
                logger: logger
            )
        }
    }

    /// Maps errors of the arguments to wrong usage.
    private static func gateway(_ configuration: GatewayConfiguration, _ logger: Logger) throws -> Gateway {
        do { return try Gateway(configuration, logger: logger) } catch {
            guard error.code != .resources else { throw error }
            throw CommandFailure.wrongUsage(error.message)
        }
    }

    private static func configuration(
        _ settings: Settings,
        _ upstream: Upstream
    ) async throws -> (GatewayConfiguration, token: String) {
        func list(_ key: SettingKey) async throws -> [String] {
            try await settings.text(key).map { $0.split(separator: ",").map(String.init) } ?? []
        }
        let names = try await list(.store)
        let journals = try await list(.journal)
        let stores = names.isEmpty ? ["fleet"] : names
        guard journals.count <= stores.count else {
            throw CommandFailure.wrongUsage("expected at most one --journal for each --store, got \(journals.count)")
        }
        for path in journals where path.hasPrefix("postgresql:") || path.hasPrefix("postgres:") {
            throw CommandFailure.wrongUsage(
                "the gateway cannot read a shared journal in PostgreSQL yet: leave out --journal; states and sends work"
            )
        }
        let tokenFile = try await settings.text(.tokenFile)
        let token = try tokenFile.map { try SecretFile(path: $0).text() } ?? SecretFile.random()
        let secretFile = try await settings.text(.sessionSecretFile)
        let secret = try secretFile.map { try SecretFile(path: $0).text() }
        var configuration = GatewayConfiguration(
            stores: stores.enumerated().map { index, name in
                .init(name, journal: journals.indices.contains(index) ? journals[index] : nil)
            },
            from: upstream.endpoint,
            token: token,
            sessionSecret: Array((secret ?? SecretFile.random()).utf8)
        )
        upstream.apply(to: &configuration.replica)
        upstream.apply(to: &configuration.sender)
        let hasKeys = configuration.replica.security != nil
        configuration.receipts = try await settings.endpoints(.receipts) ?? (hasKeys ? Upstream.standardReceipts : nil)
        configuration.peers = try await settings.endpoints(.peers)
        configuration.address = try await settings.text(.listen) ?? configuration.address
        configuration.allowsSending = try await settings.isOn(.allowSend)
        configuration.hiddenPaths = try await list(.hide)
        configuration.hiddenFields = try await list(.hidePayload)
        configuration.hosts = try await list(.host)
        configuration.allowedOrigins = try await list(.allowOrigin)
        configuration.pages = try await settings.text(.pages)
        configuration.plaintextHTTP = try await settings.isOn(.insecureHttp) ? .trustedNetwork : .thisMachine
        return (configuration, token)
    }
}
