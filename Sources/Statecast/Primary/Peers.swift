public import StatecastCoding

/// Who is connected to a store, and what the store does: the state of the store `<store>.peers`, which replicas follow
/// as any other.
public struct Peers: Codable, Equatable, Sendable {
    /// The peers by their identities of 16 digits, which a peer keeps when it connects again.
    public internal(set) var peers: Table<String, Peer> = [:]
    /// The newest revision of the store.
    public internal(set) var revision: UInt64 = 0
    /// The actions in a second that were applied or rejected; `nil` until two lists in a row were published.
    public internal(set) var actionsPerSecond: Double?
    /// What 99 of 100 of the last 512 commits to the journal took at most; `nil` without a commit.
    public internal(set) var commitP99Milliseconds: Double?
    /// The number of actions that were rejected since the primary began to serve, by code; codes of applications
    /// together as `policy`.
    public internal(set) var rejected: [String: UInt64] = [:]
}

/// A replica or a sender that is connected to a primary.
public struct Peer: Codable, Equatable, Sendable {
    /// What a peer does.
    public enum Kind: String, Codable, Sendable {
        case replica, sender
    }

    /// Whether it follows or sends.
    public let kind: Kind
    /// The name that a replica claims, by default `HOST:PID`; of a sender, the beginning of its identity.
    public internal(set) var name: String
    /// The user of the peer's key; `nil` without keys.
    public let user: String?
    /// The IP address from which it is connected; `nil` over a transport without addresses.
    public internal(set) var address: String?
    /// The last revision that a replica has announced, which it does at most three seconds late; `nil` before its first
    /// state.
    public internal(set) var revision: UInt64?
    /// The number of revisions between the replica's and the newest one when the replica announced its own or, if the
    /// announcement is older than five seconds, at present; `nil` without a state of the primary's history.
    public internal(set) var lag: UInt64?
    /// When it was first listed, by the primary's clock, in milliseconds since 1970. It is listed anew after a second
    /// without a connection.
    public let since: Int64
    /// The new actions of a sender in a second; `nil` until two lists in a row were published.
    public internal(set) var actionsPerSecond: Double?
}
