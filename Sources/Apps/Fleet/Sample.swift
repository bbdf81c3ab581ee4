/// What a machine says about itself at one moment. It carries no time: the primary's clock gives it one.
public struct Sample: Codable, Equatable, Sendable {
    /// Load average over one minute: processes that run or wait to run.
    public var load1: Double
    /// Load average over five minutes.
    public var load5: Double
    /// Load average over fifteen minutes.
    public var load15: Double
    /// Logical processors; at least 1.
    public var cpuCount: Int
    /// Memory in all.
    public var memoryTotalBytes: Int
    /// Memory that new work could have without swapping.
    public var memoryAvailableBytes: Int
    /// Seconds since the machine started.
    public var uptimeSeconds: Double
    /// Seconds of processor time in use since the machine started, summed over all processors.
    public var cpuSeconds: Double
    /// Size of the file system.
    public var diskTotalBytes: Int
    /// Room left on the file system for ordinary users.
    public var diskFreeBytes: Int

    /// Describes a machine; see the properties for units. Nothing is checked here, see `isPlausible`.
    public init(
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
    /// Whether a machine can be like that: numbers finite and not negative, no part larger than its whole.
    public var isPlausible: Bool {
        [load1, load5, load15, uptimeSeconds, cpuSeconds].allSatisfy { $0.isFinite && $0 >= 0 }
            && cpuCount >= 1
            && memoryAvailableBytes >= 0 && memoryAvailableBytes <= memoryTotalBytes
            && diskFreeBytes >= 0 && diskFreeBytes <= diskTotalBytes
    }

    /// The share of memory in use, 0 to 1; nil if the machine has none to speak of.
    public var memoryInUse: Double? { Self.share(free: memoryAvailableBytes, of: memoryTotalBytes) }

    /// The share of the file system in use, 0 to 1; nil if there is none to speak of.
    public var diskInUse: Double? { Self.share(free: diskFreeBytes, of: diskTotalBytes) }

    /// The share of processor time in use since an earlier sample of the same machine, 0 to 1; nil if the
    /// machine was restarted in between. Both counters are the machine's own, so no clock is mixed in.
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

    /// A small machine with a little to do, for examples.
    public static let example = Sample(
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
