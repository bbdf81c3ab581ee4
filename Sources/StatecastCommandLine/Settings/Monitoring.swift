import CoreMetrics
package import Logging
package import ServiceLifecycle
package import Statecast
import StatecastMonitoring

/// What an executable shows of its nodes, as the settings ask for it.
package struct Monitoring: Sendable {
    private let address: String?
    private let file: String?
    private let plaintext: PlaintextPolicy
    private let metrics = PrometheusMetrics()

    /// Reads the settings. Create it once, before the nodes, which then report to it.
    package init(_ settings: Settings) async throws {
        address = try await settings.text(.monitor)
        plaintext = try await settings.isOn(.insecureHttp) ? .trustedNetwork : .thisMachine
        file = try await settings.text(.metricsFile)
        if address != nil || file != nil { MetricsSystem.bootstrap(metrics) }
    }

    /// What runs beside the nodes. Listed before them in a `ServiceGroup`, it stops last, and reports their end, too.
    package func services(for nodes: [any MonitoredNode], logger: Logger) throws -> [any Service] {
        var services: [any Service] = []
        if let address {
            services.append(
                try MonitorService(at: address, metrics: metrics, nodes: nodes, plaintext: plaintext, logger: logger)
            )
        }
        if let file { services.append(MetricsFile(file, metrics: metrics, logger: logger)) }
        return services
    }

    /// What stops before the nodes, to report that.
    package func observers(of nodes: [any MonitoredNode]) -> [any Service] {
        SystemdNotifier(nodes: nodes).map { [$0] } ?? []
    }
}
