public import StateCore

/// One machine, as the primary knows it.
public struct Host: Codable, Equatable, Sendable {
    /// Its name, the key under which the fleet has it.
    public internal(set) var name: String
    /// What it last said about itself.
    public internal(set) var latest: Sample
    /// The share of its processor time that was in use between its last two samples, 0 to 1; nil after the
    /// first sample and after a restart.
    public internal(set) var busy: Double?
    /// When its first sample came in.
    public internal(set) var firstSeen: Timestamp
    /// When its latest sample came in.
    public internal(set) var lastSeen: Timestamp
    /// How many samples came in.
    public internal(set) var samples: Int
    /// Whether it was taken out of service. Its samples are ignored until it is restored.
    public internal(set) var isRetired: Bool

    init(name: String, first sample: Sample, at time: Timestamp) {
        self.name = name
        latest = sample
        firstSeen = time
        lastSeen = time
        samples = 1
        isRetired = false
    }

    mutating func take(_ sample: Sample, at time: Timestamp) {
        busy = sample.busy(since: latest)
        latest = sample
        lastSeen = time
        samples += 1
    }
}
