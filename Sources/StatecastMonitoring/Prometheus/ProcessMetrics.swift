import CStatecastPlatform
import CoreMetrics
import Statecast
import StatecastProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The metrics of the process, under the names that all clients of Prometheus use, and of this build.
struct ProcessMetrics {
    /// In seconds since 1970.
    private let start = Date.now.timeIntervalSince1970

    static let help = [
        "process_start_time_seconds": "When the process created its metrics, in seconds since 1970.",
        "process_cpu_seconds_total": "Processor time used.",
        "process_resident_memory_bytes": "Memory in RAM.",
        "process_open_fds": "Open file descriptors.",
        "process_max_fds": "The most file descriptors that may be open.",
        "statecast_build_info": "1, with the version of the library and of the protocol.",
        "statecast_debug_series_dropped_total": "Handles created for further label values of a metric that has 1,000.",
    ]

    func record(in metrics: PrometheusMetrics) {
        func gauge(_ label: String, _ value: Double, _ dimensions: [(String, String)] = []) {
            metrics.makeMeter(label: label, dimensions: dimensions).set(value)
        }
        gauge("process_start_time_seconds", start)
        metrics.setTotal("process_cpu_seconds_total", to: statecast_processor_seconds())
        gauge("process_resident_memory_bytes", Double(statecast_resident_bytes()))
        gauge("process_max_fds", statecast_max_descriptors())
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
            // Without the one that reads the directory.
            gauge("process_open_fds", Double(open.count - 1))
        }
        gauge("statecast_build_info", 1, [("version", Release.number), ("protocol", "\(Address.version)")])
    }
}
