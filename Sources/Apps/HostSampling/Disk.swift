#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file system that holds a path.
struct Disk {
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
        // What ordinary users may still take; more is kept for the superuser. Never above the total.
        freeBytes = min(totalBytes, Self.clampedProduct(UInt64(information.f_bavail), blockBytes))
    }

    private static func clampedProduct(_ blocks: UInt64, _ blockBytes: UInt64) -> Int {
        let (product, overflowed) = blocks.multipliedReportingOverflow(by: blockBytes)
        return overflowed ? .max : Int(clamping: product)
    }
}
