public import Logging
public import ServiceLifecycle
public import Statecast
import StatecastHTTP

#if HTTP
    import NIOCore
    import NIOHTTP1
    import StatecastJSON
    import StatecastThreading
#endif

/// Shows nodes over HTTP: their metrics to Prometheus, and their health to probes and operators.
///
/// ```swift
/// let metrics = PrometheusMetrics()
/// MetricsSystem.bootstrap(metrics)
/// let primary = try Primary(store: "counter", state: Counter(), actions: actions, reducer: reducer)
/// let monitor = try MonitorService(at: "127.0.0.1:7180", metrics: metrics, nodes: [primary])
/// // Run both, such as in a ServiceGroup: first the monitor, which then shows the recovery, too.
/// ```
///
/// It answers `GET` for `/metrics`, `/livez`, `/readyz`, `/readyz/replicas`, `/readyz/senders`, `/startupz` and
/// `/statusz`, unencrypted and without authentication.
public final class MonitorService: Service {
    /// With the brackets of IPv6.
    private let host: String
    private let port: Int
    private let plaintext: PlaintextPolicy
    private let metrics: PrometheusMetrics
    private let nodes: [NodeHealth]
    private let logger: Logger

    /// Creates a monitor; it listens from ``run()`` on.
    ///
    /// - Parameters:
    ///   - address: an IP address or `localhost`, and a port: `127.0.0.1:7180`, `[::1]:7180`.
    ///   - plaintext: with `thisMachine`, the address is one of loopback, and a request must name one, too, so that no
    ///     page of a browser can read what is shown here.
    /// - Throws: `StatecastError` with code `insecure` or `definition`.
    public init(
        at address: String,
        metrics: PrometheusMetrics,
        nodes: [any MonitoredNode],
        plaintext: PlaintextPolicy = .thisMachine,
        logger: Logger = Logger(label: "statecast.monitor")
    ) throws(StatecastError) {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            colon > address.startIndex
        else {
            throw StatecastError(
                .definition,
                "expected HOST:PORT, such as 127.0.0.1:7180 or [::1]:7180, for the monitor, not \(address)"
            )
        }
        let host = String(address[..<colon])
        guard plaintext == .trustedNetwork || Loopback.contains(host) else {
            throw StatecastError(
                .insecure,
                "the monitor at \(address) would show everything to the network: use 127.0.0.1, or permit it with "
                    + "plaintext: .trustedNetwork (--insecure-http)"
            )
        }
        (self.host, self.port, self.plaintext, self.metrics, self.logger) = (
            host, Int(port), plaintext, metrics, logger
        )
        self.nodes = nodes.map(\.health)
    }

    #if HTTP
        /// Answers requests until the task is cancelled or the service group shuts down.
        ///
        /// - Throws: `StatecastError` with code `endpoint` if the address cannot be bound.
        public func run() async throws {
            let pages = MonitorPages(nodes: nodes)
            let (liveness, metrics) = (Liveness(nodes), metrics)
            let server = Locked<HTTPServer?>(nil)
            var limits = HTTPLimits()
            limits.maxConnections = 64
            let anywhere = !Loopback.contains(host)
            do {
                let started = try await HTTPServer.start(
                    host: host.filter { $0 != "[" && $0 != "]" },
                    port: port,
                    limits: limits,
                    permitsHost: { anywhere || Loopback.contains($0) },
                    respond: { request in
                        await Self.respond(to: request, pages, metrics, liveness, on: server.withLock { $0 })
                    }
                )
                server.withLock { $0 = started }
                logger.notice("monitoring", metadata: ["address": "http://\(host):\(started.address.port ?? port)"])
                try? await gracefulShutdown()
                server.withLock { $0 = nil }
                await started.stop(grace: .seconds(1))
            } catch {
                throw StatecastError(
                    .endpoint,
                    "the monitor cannot listen at \(host):\(port): \(error). Stop the process that uses it, or choose "
                        + "another port",
                    cause: error
                )
            }
        }

        private static func respond(
            to request: HTTPRequest,
            _ pages: MonitorPages,
            _ metrics: PrometheusMetrics,
            _ liveness: Liveness,
            on server: HTTPServer?
        ) async -> HTTPResponse {
            guard request.method == .GET else {
                return HTTPResponse(.methodNotAllowed, type: "text/plain", "only GET\n", ["Allow": "GET"])
            }
            switch request.path {
            case "/metrics": return HTTPResponse(.ok, type: "text/plain; version=0.0.4; charset=utf-8", metrics.text)
            case "/livez":
                liveness.ask()
                // After a pause of the process, loops that were asked before it answer at once.
                for _ in 0..<25 where liveness.silences().contains(where: { $0 >= Liveness.limit }) {
                    await server?.pause(.milliseconds(20))
                }
                return page(pages.live(liveness.silences()))
            case "/readyz": return page(pages.ready(replicas: true, senders: true))
            case "/readyz/replicas": return page(pages.ready(replicas: true, senders: false))
            case "/readyz/senders": return page(pages.ready(replicas: false, senders: true))
            case "/startupz": return page(pages.started)
            case "/statusz": return page(.init(isGood: true, content: pages.status))
            default:
                let paths = "/metrics /livez /readyz /readyz/replicas /readyz/senders /startupz /statusz"
                return HTTPResponse(.notFound, type: "text/plain", "there is no such page, only: \(paths)\n")
            }
        }

        private static func page(_ page: MonitorPages.Page) -> HTTPResponse {
            let status = page.isGood ? HTTPResponseStatus.ok : .serviceUnavailable
            return HTTPResponse(status, type: "application/json", JSON.text(of: page.content) + "\n")
        }
    #else
        /// Not available: the package was built without its trait `HTTP`.
        ///
        /// - Throws: `StatecastError` with code `definition`.
        public func run() async throws {
            throw StatecastError(
                .definition,
                "this build has no monitor: build it with the trait HTTP, which the package enables by default"
            )
        }
    #endif
}
