public import Logging
public import ServiceLifecycle
public import Statecast
import StatecastCoding
import StatecastCore
import StatecastHTTP
import StatecastJSON
import StatecastProtocol
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

#if HTTP
    import NIOCore
    import NIOHTTP1
#endif

/// Serves stores over HTTP: an inspector for browsers, and an API with which browsers and Node programs follow stores
/// and send actions.
///
/// ```swift
/// var configuration = GatewayConfiguration(
///     stores: [.init("fleet", journal: "/var/lib/statecast/fleet")],
///     from: "tcp://127.0.0.1:7100",
///     token: token,
///     sessionSecret: secret
/// )
/// configuration.allowsSending = true
/// try await Gateway(configuration).run()
/// ```
///
/// It follows each store without knowing its types, and reads the journal without changing it. Every request for data
/// needs the token; docs/GATEWAY.md describes the API.
public final class Gateway: Service {
    private let configuration: GatewayConfiguration
    private let host: String
    private let port: Int
    let stores: [ServedStore]
    private let pages: PageFolder
    private let logger: Logger
    private let bound = Monitor<Int?>(nil)

    /// Creates a gateway; it listens from ``run()`` on.
    ///
    /// - Throws: `StatecastError` with code `definition`, `insecure` or `endpoint`.
    public init(
        _ configuration: GatewayConfiguration,
        logger: Logger = Logger(label: "statecast.gateway")
    ) throws(StatecastError) {
        (self.configuration, self.logger) = (configuration, logger)
        let address = configuration.address
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            colon > address.startIndex
        else {
            throw StatecastError(
                .definition,
                "expected HOST:PORT, such as 127.0.0.1:7190, to listen at, not \(address)"
            )
        }
        (host, self.port) = (String(address[..<colon]), Int(port))
        guard configuration.plaintextHTTP == .trustedNetwork || Loopback.contains(host) else {
            throw StatecastError(
                .insecure,
                "the gateway at \(address) would send token and data unencrypted: use 127.0.0.1 with a proxy for "
                    + "TLS, or permit it with plaintextHTTP: .trustedNetwork (--insecure-http)"
            )
        }
        guard configuration.token.utf8.count >= 16, configuration.sessionSecret.count >= 16 else {
            throw StatecastError(.definition, "the token and the session secret have at least 16 bytes each")
        }
        guard configuration.token.utf8.allSatisfy(AccessRules.isOfToken) else {
            throw StatecastError(.definition, "a token consists of the characters A-Z a-z 0-9 - . _ ~ + / and =")
        }
        for origin in configuration.allowedOrigins where !origin.contains("://") || origin.hasSuffix("/") {
            throw StatecastError(
                .definition,
                "an origin is a scheme and a host, as https://boards.example.com, not \(origin)"
            )
        }
        for name in configuration.hosts where name.contains(where: { "/:".contains($0) }) {
            throw StatecastError(.definition, "a host is a name without scheme, port and path, not \(name)")
        }
        guard Set(configuration.stores.map(\.name)).count == configuration.stores.count, !configuration.stores.isEmpty
        else { throw StatecastError(.definition, "expected at least one store, and each once") }
        let hidden = HiddenPaths(
            try configuration.hiddenPaths.map { text throws(StatecastError) in try Self.pattern(text) }
        )
        let hiddenFields = HiddenPaths(
            try configuration.hiddenFields.map { text throws(StatecastError) in try Self.pattern("/" + text) }
        )
        do { pages = try configuration.pages.map { try PageFolder(at: $0) } ?? PageFolder() } catch {
            throw StatecastError(
                .definition,
                "the folder \(configuration.pages ?? "") of the pages does not exist, or cannot be read",
                cause: error
            )
        }
        stores = try configuration.stores.map { store throws(StatecastError) in
            try ServedStore(store, configuration, hiding: hidden, row: ActionRow(hidden: hiddenFields), logger)
        }
    }

    private static func pattern(_ text: String) throws(StatecastError) -> [String] {
        guard let path = JSONPointer.components(of: text), !path.isEmpty, !path.contains("") else {
            throw StatecastError(
                .definition,
                "expected a JSON Pointer without empty keys to hide, such as /users/*/email, or of a payload "
                    + "NoteAdded/text, got \"\(text)\""
            )
        }
        return path
    }

    /// The replicas of the stores, for a monitor.
    public var nodes: [any MonitoredNode] { stores.map(\.replica) }

    /// The port, once it is bound: that of the configuration, or a free one for port 0.
    public var boundPort: Int { get async throws { try await bound.wait { $0 } } }

    #if HTTP
        /// Serves until the task is cancelled or the service group shuts down.
        ///
        /// - Throws: `StatecastError` with code `endpoint` if the address cannot be bound, or of a replica.
        public func run() async throws {
            let server = Locked<HTTPServer?>(nil)
            let access = AccessRules(configuration, allowsAnyHost: !Loopback.contains(host))
            let report = GatewayReport { await server.withLock(\.self)?.connectionCount ?? 0 }
            let router = Router(stores, access: access, pages: pages, report: report)
            var limits = HTTPLimits()
            limits.maxConnections = GatewayLimits.maxConnections
            limits.maxBodyBytes = GatewayLimits.maxBodyBytes
            // The streams of many boards begin at once.
            limits.backlog = 1024
            let started: HTTPServer
            do {
                started = try await HTTPServer.start(
                    host: host.filter { $0 != "[" && $0 != "]" },
                    port: port,
                    limits: limits,
                    permitsHost: { access.permitsHost($0) },
                    respond: { request in Self.response(await router.respond(to: GatewayRequest(request))) }
                )
            } catch {
                let isUsed = (error as? IOError)?.errnoCode == EADDRINUSE
                throw StatecastError(
                    .endpoint,
                    "the gateway cannot listen at \(host):\(port): "
                        + (isUsed
                            ? "another process listens there; stop it, or choose another port with --listen"
                            : "\(error)"),
                    cause: error
                )
            }
            server.withLock { $0 = started }
            let port = started.address.port ?? port
            bound.change { $0 = port }
            logger.notice("serving", metadata: ["address": "http://\(host):\(port)"])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask { try await store.replica.run() }
                    group.addTask { await cancelWhenGracefulShutdown { await store.run() } }
                }
                group.addTask { try? await gracefulShutdown() }
                defer { group.cancelAll() }
                // The first that ends, on a failure or because the gateway stops.
                let result = await group.nextResult()
                server.withLock { $0 = nil }
                await started.stop(grace: .seconds(1))
                try result?.get()
            }
        }

        private static func response(_ answer: GatewayAnswer) -> HTTPResponse {
            let status = HTTPResponseStatus(statusCode: answer.status)
            let headers = HTTPHeaders(answer.headers)
            switch answer.body {
            case .bytes(let bytes): return HTTPResponse(status, headers, .bytes(ByteBuffer(bytes: bytes)))
            case .events(let write):
                return HTTPResponse(
                    status,
                    headers,
                    .stream { stream in try await write { bytes in try await stream.write(ByteBuffer(bytes: bytes)) } }
                )
            }
        }
    #else
        /// Not available: the package was built without its trait `HTTP`.
        ///
        /// - Throws: `StatecastError` with code `definition`.
        public func run() async throws {
            throw StatecastError(
                .definition,
                "this build has no gateway: build it with the trait HTTP, which the package enables by default"
            )
        }
    #endif
}

#if HTTP
    extension GatewayRequest {
        init(_ request: HTTPRequest) {
            let headers = request.headers
            self.init(
                method: request.method.rawValue,
                path: request.path,
                query: request.query,
                header: { name in
                    let values = headers[name]
                    return values.isEmpty ? nil : values.joined(separator: ", ")
                },
                body: Array(request.body.readableBytesView),
                address: request.address
            )
        }
    }
#endif
