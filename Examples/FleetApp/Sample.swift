/// Measurements of a host at one moment. A sample has no time: the primary's clock adds it.
package struct Sample: Codable, Equatable, Sendable {
    /// Load average over one minute: runnable processes.
    package var load1: Double
    /// Load average over five minutes.
    package var load5: Double
    /// Load average over fifteen minutes.
    package var load15: Double
    /// Logical processors; at least 1.
    package var cpuCount: Int
    /// Total memory.
    package var memoryTotalBytes: Int
    /// Memory that new work can use without swapping.
    package var memoryAvailableBytes: Int
    /// Seconds since the host started.
    package var uptimeSeconds: Double
    /// Seconds of processor time in use since the host started, summed over all processors.
    package var cpuSeconds: Double
    /// Size of the file system.
    package var diskTotalBytes: Int
    /// Free space on the file system for ordinary users.
    package var diskFreeBytes: Int

    /// Makes a sample without checks; see ``isPlausible``.
    package init(
        load1: Double,
        load5: Double,
        load15: Double,
        cpuCount: Int,
        memoryTotalBytes: Int,
        memoryAvailableBytes: Int,
        uptimeSeconds: Double,
        cpuSeconds: Double,
        diskTotalBytes: Int,
        diskFreeBytes: Int
    ) {
        self.load1 = load1
        self.load5 = load5
        self.load15 = load15
        self.cpuCount = cpuCount
        self.memoryTotalBytes = memoryTotalBytes
        self.memoryAvailableBytes = memoryAvailableBytes
        self.uptimeSeconds = uptimeSeconds
        self.cpuSeconds = cpuSeconds
        self.diskTotalBytes = diskTotalBytes
        self.diskFreeBytes = diskFreeBytes
    }
}

extension Sample {
    /// Whether all numbers are finite and not negative, and no part exceeds its total.
    package var isPlausible: Bool {
        [load1, load5, load15, uptimeSeconds, cpuSeconds].allSatisfy { $0.isFinite && $0 >= 0 }
            && cpuCount >= 1
            && memoryAvailableBytes >= 0 && memoryAvailableBytes <= memoryTotalBytes
            && diskFreeBytes >= 0 && diskFreeBytes <= diskTotalBytes
    }

    /// The share of memory in use, 0 to 1; `nil` if the total is 0.
    package var memoryInUse: Double? { Self.share(free: memoryAvailableBytes, of: memoryTotalBytes) }

    /// The share of the file system in use, 0 to 1; `nil` if the total is 0.
    package var diskInUse: Double? { Self.share(free: diskFreeBytes, of: diskTotalBytes) }

    /// The share of processor time in use since an earlier sample of the same host, 0 to 1; `nil` if the host was
    /// restarted in between. Uses the host's own counters alone, so clocks of different hosts never mix.
    func busy(since earlier: Sample) -> Double? {
        let elapsed = uptimeSeconds - earlier.uptimeSeconds
        let used = cpuSeconds - earlier.cpuSeconds
        guard elapsed > 0, used >= 0 else { return nil }
        return min(1, used / (elapsed * Double(cpuCount)))
    }

    private static func share(free: Int, of total: Int) -> Double? {
        guard total > 0 else { return nil }
        return min(1, max(0, 1 - Double(free) / Double(total)))
    }

    package static let example = Sample(
        load1: 0.42,
        load5: 0.36,
        load15: 0.3,
        cpuCount: 4,
        memoryTotalBytes: 8_589_934_592,
        memoryAvailableBytes: 5_368_709_120,
        uptimeSeconds: 86_400,
        cpuSeconds: 34_560,
        diskTotalBytes: 107_374_182_400,
        diskFreeBytes: 64_424_509_440
    )
}
