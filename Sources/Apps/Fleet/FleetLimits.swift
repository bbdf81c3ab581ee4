/// How large the board may grow, whatever is sent to it.
public enum FleetLimits {
    /// Machines on the board. When it is full, a new one takes the place of the retired one that was seen
    /// the longest ago; if none is retired, the new one is ignored.
    public static let hostsMax = 4_096
    /// Length of a machine's name, in bytes of UTF-8; the rest is cut off.
    public static let nameBytesMax = 64
    /// Notes on the board; the oldest makes room.
    public static let notesMax = 50
    /// Length of a note, in bytes of UTF-8; the rest is cut off.
    public static let noteBytesMax = 280
}
