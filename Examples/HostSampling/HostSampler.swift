package import FleetApp

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Samples this host: from `/proc` on Linux, from the kernel on macOS. Keeps no state between samples.
package struct HostSampler: Sendable {
    private let root: String

    /// - Parameter root: the root of the file system, or a folder with recorded files of `/proc`. macOS uses it for the
    ///   size of the file system alone.
    package init(root: String = "/") {
        self.root = root
    }

    /// The kernel's host name.
    package var hostName: String {
        #if os(Linux)
            let recorded = try? KernelFile("proc/sys/kernel/hostname", under: root)
            if let name = recorded?.firstLine.split(separator: " ").first { return String(name) }
        #endif
        return ProcessInfo.processInfo.hostName
    }

    /// - Throws: `unreadable` or `unparsable`, with the file.
    package func sample() throws(HostSamplingFailure) -> Sample {
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

/// Why sampling failed.
package struct HostSamplingFailure: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// A file or a kernel facility could not be read.
        package static let unreadable = Code(description: "unreadable")
        /// A file has an unexpected form.
        package static let unparsable = Code(description: "unparsable")
    }

    package let code: Code
    /// The file or the kernel facility.
    package let source: String
    /// The expected and the actual content.
    package let message: String

    package var description: String { "\(code): \(source): \(message)" }
}

/// The file system of a path.
private struct Disk {
    let totalBytes: Int
    let freeBytes: Int

    init(at path: String) throws(HostSamplingFailure) {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else {
            let cause = String(cString: strerror(errno))
            throw HostSamplingFailure(code: .unreadable, source: path, message: "no file system information: \(cause)")
        }
        let blockBytes = UInt64(information.f_frsize)
        totalBytes = Self.clampedProduct(UInt64(information.f_blocks), blockBytes)
        // Free for ordinary users, without the superuser's reserve. Never above the total.
        freeBytes = min(totalBytes, Self.clampedProduct(UInt64(information.f_bavail), blockBytes))
    }

    private static func clampedProduct(_ blocks: UInt64, _ blockBytes: UInt64) -> Int {
        let (product, overflowed) = blocks.multipliedReportingOverflow(by: blockBytes)
        return overflowed ? .max : Int(clamping: product)
    }
}
