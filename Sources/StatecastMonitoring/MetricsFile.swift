public import Logging
public import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes metrics to a file, for the textfile collector of Prometheus' node exporter: for processes that run shortly,
/// or that Prometheus cannot reach.
///
/// The file has the metrics of the nodes and of the program, without those of the process. A machine can have one for
/// each store and kind of node, since equal series of two files are refused.
///
/// It replaces the file in one step, every 15 seconds and at the end, and makes it readable for all users. The
/// collector reads only names that end with `.prom`.
public final class MetricsFile: Service {
    private let path: String
    private let metrics: PrometheusMetrics
    private let interval: Duration
    private let logger: Logger

    /// Creates a writer; it writes from ``run()`` on, to `path`, whose folder exists.
    public convenience init(
        _ path: String,
        metrics: PrometheusMetrics,
        logger: Logger = Logger(label: "statecast.monitor")
    ) {
        self.init(path, metrics: metrics, every: .seconds(15), logger: logger)
    }

    init(_ path: String, metrics: PrometheusMetrics, every interval: Duration, logger: Logger) {
        (self.path, self.metrics, self.interval, self.logger) = (path, metrics, interval, logger)
    }

    /// Writes until the task is cancelled or the service group shuts down. A write that fails is logged, and repeated.
    public func run() async {
        var hasFailed = false
        while true {
            // Before the write, so that the last one has what was reported until the end.
            let isOver = Task.isCancelled || Task.isShuttingDownGracefully
            do {
                try writeOnce()
                hasFailed = false
            } catch {
                if !hasFailed { logger.warning("the metrics cannot be written to \(path): \(error)") }
                hasFailed = true
            }
            if isOver { return }
            try? await cancelWhenGracefulShutdown { [interval] in try await Task.sleep(for: interval) }
        }
    }

    func writeOnce() throws {
        let draft = path + ".draft"
        try Data(metrics.textForFile.utf8).write(to: URL(filePath: draft))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: draft)
        guard rename(draft, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
