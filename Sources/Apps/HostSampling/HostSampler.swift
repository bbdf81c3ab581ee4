public import FleetApp
import Foundation

/// Reads how this machine is.
///
/// On Linux it reads `/proc` and asks for the size of the file system; on macOS it asks the kernel. Nothing
/// is kept between samples.
public struct HostSampler: Sendable {
    private let root: String

    /// A sampler of the machine whose file system begins at `root`: `/`, or a folder with recorded files.
    /// macOS has no such files, and uses `root` for the file system alone.
    public init(root: String = "/") {
        self.root = root
    }

    /// The machine's name, as its kernel has it.
    public var hostName: String {
        #if os(Linux)
            let recorded = try? KernelFile("proc/sys/kernel/hostname", under: root)
            if let name = recorded?.firstLine.trimmingCharacters(in: .whitespaces), !name.isEmpty {
                return name
            }
        #endif
        return ProcessInfo.processInfo.hostName
    }

    /// How the machine is now.
    ///
    /// - Throws: `unreadable` or `unparsable`, naming the file.
    public func sample() throws(HostSamplingFailure) -> Sample {
        let load = try LoadAverage(under: root)
        let processors = try Processors(under: root)
        let memory = try Memory(under: root)
        let disk = try Disk(at: root)
        return Sample(
            load1: load.minutes1,
            load5: load.minutes5,
            load15: load.minutes15,
            cpuCount: processors.count,
            memoryTotalBytes: memory.totalBytes,
            memoryAvailableBytes: memory.availableBytes,
            uptimeSeconds: try uptimeSeconds(under: root),
            cpuSeconds: processors.busySeconds,
            diskTotalBytes: disk.totalBytes,
            diskFreeBytes: disk.freeBytes
        )
    }
}
