/// Counts over the whole fleet, kept with each action rather than counted anew.
public struct FleetTotals: Codable, Equatable, Sendable {
    /// Machines on the board, the retired ones included.
    public internal(set) var hosts = 0
    /// Retired machines among them.
    public internal(set) var retired = 0
    /// Samples taken in, ever.
    public internal(set) var samples = 0
    /// Notes taken in, ever.
    public internal(set) var notes = 0
    /// Actions that made no sense (a nameless machine, an impossible sample, nothing to retire) or found no
    /// room, ever. They change nothing but this number.
    public internal(set) var ignored = 0

    /// Nothing yet.
    public init() {}
}
