public import StatecastCoding

/// Who is connected to a store, and what the store does: the state of the store `<store>.peers`, which replicas follow
/// as any other.
public struct Peers: Codable, Equatable, Sendable {
    /// By an identity of 16 digits, which another connection of the peer keeps.
    public internal(set) var peers: Table<String, Peer> = [:]
    /// The newest revision of the store.
    public internal(set) var revision: UInt64 = 0
    /// Actions that were applied or rejected, in a second; `nil` until it is measured.
    public internal(set) var actionsPerSecond: Double?
    /// What 99 of 100 of the last 512 commits to the journal took at most, in milliseconds; `nil` without one.
    public internal(set) var commitP99: Double?
    /// The actions that were rejected since the primary began to serve, by code; codes of applications as `policy`.
    public internal(set) var rejected: [String: UInt64] = [:]
}

/// A replica or a sender that is connected to a primary.
public struct Peer: Codable, Equatable, Sendable {
    /// What a peer does.
    public enum Kind: String, Codable, Sendable {
        case replica, sender
    }

    /// What it does.
    public let kind: Kind
    /// What it claims to be, by default `HOST:PID`; of a sender, the beginning of its identity.
    public internal(set) var name: String
    /// Of its key, on a primary with keys.
    public let user: String?
    /// The IP address from which it is connected; `nil` where a transport has none.
    public internal(set) var address: String?
    /// The revision that a replica has, as announced within the last three seconds; `nil` before its first state.
    public internal(set) var revision: UInt64?
    /// How many revisions the replica was behind when it announced that, or is now, if that is more than five seconds
    /// ago; `nil` if it has another history.
    public internal(set) var lag: UInt64?
    /// When it was connected, by the primary's clock, in milliseconds since 1970.
    public let since: Int64
    /// Of a sender: new actions in a second; `nil` until it is measured.
    public internal(set) var actionsPerSecond: Double?
}
