public import StateCore

/// Something a person (or a script) wanted everybody at the board to know.
public struct Note: Codable, Equatable, Sendable {
    /// When it came in.
    public internal(set) var time: Timestamp
    /// The machine it is about, or nil for the fleet as a whole. It need not be on the board.
    public internal(set) var host: String?
    /// What it says.
    public internal(set) var text: String
}
