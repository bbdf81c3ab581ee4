package import StatecastCoding
package import StatecastCore

/// A fleet of hosts with their latest samples, and notes of its operators.
///
/// All times are the primary's (`ActionContext.time`); the clocks of the hosts are not used.
package struct Fleet: Codable, Equatable, Sendable {
    /// The hosts by name, at most `FleetLimits.maxHosts`.
    package internal(set) var hosts: Table<String, Host> = [:]
    /// The notes, newest last, at most `FleetLimits.maxNotes`.
    package internal(set) var notes: [Note] = []
    package internal(set) var totals = FleetTotals()

    package init() {}
}

extension Fleet {
    /// The store's default name.
    package static let storeName = "fleet"

    package static let actions: [any Action.Type] = [
        HostSampled.self, HostRetired.self, HostRestored.self, NoteAdded.self,
    ]
}

/// A host of the fleet.
package struct Host: Codable, Equatable, Sendable {
    /// The key in ``Fleet/hosts``.
    package internal(set) var name: String
    /// The latest sample.
    package internal(set) var latest: Sample
    /// The share of processor time in use between the last two samples, 0 to 1; `nil` after the first sample and after
    /// a restart of the host.
    package internal(set) var busy: Double?
    /// When the primary received the first sample.
    package internal(set) var firstSeen: Timestamp
    /// When the primary received the latest sample.
    package internal(set) var lastSeen: Timestamp
    /// The number of samples.
    package internal(set) var samples: Int
    /// Whether the host is out of service. Its samples are ignored until it is restored.
    package internal(set) var isRetired: Bool

    init(name: String, first sample: Sample, at time: Timestamp) {
        self.name = name
        latest = sample
        firstSeen = time
        lastSeen = time
        samples = 1
        isRetired = false
    }

    mutating func update(with sample: Sample, at time: Timestamp) {
        busy = sample.busy(since: latest)
        latest = sample
        lastSeen = time
        samples += 1
    }
}

/// A message to all readers of the board.
package struct Note: Codable, Equatable, Sendable {
    /// When the primary received it.
    package internal(set) var time: Timestamp
    /// The host that the note is about, which need not be in the fleet; `nil` for the whole fleet.
    package internal(set) var host: String?
    package internal(set) var text: String
}

/// Totals of the whole fleet, updated by each action.
package struct FleetTotals: Codable, Equatable, Sendable {
    /// Hosts, including the retired ones.
    package internal(set) var hosts = 0
    /// Retired hosts.
    package internal(set) var retired = 0
    /// Accepted samples, ever.
    package internal(set) var samples = 0
    /// Accepted notes, ever.
    package internal(set) var notes = 0
    /// Ignored actions, ever: invalid ones (no host name, an implausible sample, no host to retire) and those beyond a
    /// limit.
    package internal(set) var ignored = 0

    package init() {}
}

/// The size limits of the fleet.
package enum FleetLimits {
    /// The most hosts. At this limit a new host replaces the retired one that was seen the longest ago; without a
    /// retired one, the new host is ignored.
    package static let maxHosts = 4_096
    /// The longest host name, in bytes of UTF-8; the rest is cut off.
    package static let maxNameBytes = 64
    /// The most notes; a new one replaces the oldest.
    package static let maxNotes = 50
    /// The longest note, in bytes of UTF-8; the rest is cut off.
    package static let maxNoteBytes = 280
}
