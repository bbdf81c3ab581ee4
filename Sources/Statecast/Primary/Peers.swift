public import StatecastCoding

/// Who is connected to a store: the state of the store `<store>.peers`, which replicas follow as any other.
public struct Peers: Codable, Equatable, Sendable {
    /// By an identity of 16 digits.
    public internal(set) var peers: Table<String, Peer> = [:]
}

/// A replica or a sender that is connected to a primary.
public struct Peer: Codable, Equatable, Sendable {
    /// What a peer does.
    public enum Kind: String, Codable, Sendable {
        case replica, sender
    }

    /// What it does.
    public let kind: Kind
    /// What it claims to be, by default `HOST:PID`; of a sender, the beginning of its session.
    public internal(set) var name: String
    /// Of its key, on a primary with keys.
    public let user: String?
    /// The revision that a replica has, as announced within the last three seconds; `nil` before its first state.
    public internal(set) var revision: UInt64?
    /// The revisions from there to the primary's newest one; `nil` if the replica has another history.
    public internal(set) var lag: UInt64?
    /// When it was connected, by the primary's clock, in milliseconds since 1970.
    public let since: Int64
    /// Of a sender: new actions in a second.
    public internal(set) var actionsPerSecond: Double?
}
