public import StateCoding
public import StateCore

/// A board of machines: what each last said about itself, and what people noted.
///
/// Only its reducer changes it. All times are the primary's (`ActionContext.time`); what a machine believes
/// the time to be is never asked.
public struct Fleet: Codable, Equatable, Sendable {
    /// The machines by name, at most `FleetLimits.hostsMax`.
    public internal(set) var hosts: Table<String, Host> = [:]
    /// What people noted, newest last, at most `FleetLimits.notesMax`.
    public internal(set) var notes: [Note] = []
    /// Counts over the whole fleet.
    public internal(set) var totals = FleetTotals()

    /// An empty board.
    public init() {}
}

extension Fleet {
    /// What the store is called on the wire.
    public static let storeName = "fleet"

    /// Every action that the store knows.
    public static let actions: [any Action.Type] = [
        HostSampled.self, HostRetired.self, HostRestored.self, NoteAdded.self,
    ]
}
