import Synchronization

/// A connection to a publishing socket of a node with keys.
struct Subscriber: Hashable, Sendable {
    /// The key of the peer.
    let peer: String
    /// Tells the connections of all peers apart.
    let connection: Int

    private static let connections = Atomic<Int>(0)

    /// A further connection of a peer.
    init(_ key: NodePublicKey) {
        (peer, connection) = (key.description, Self.connections.add(1, ordering: .relaxed).newValue)
    }

    /// - Parameter name: of a connection that was accepted.
    init?(_ name: String) {
        let parts = name.split(separator: " ")
        guard parts.count == 2, let connection = Int(parts[1]) else { return nil }
        (peer, self.connection) = (String(parts[0]), connection)
    }

    /// The User-Id of its messages, which the ZAP handler sets.
    var name: String { "\(peer) \(connection)" }
}

/// The topics that are subscribed to at a publishing socket, each with its connections.
///
/// With keys, libzmq reports each subscription, each end of one, and also the end of one that the connection does not
/// have. When a connection breaks, it reports the ends without a User-Id, so the oldest subscriber is taken for it.
/// If that was another one, whose own end is then ignored, an ended subscription is counted until the connections are
/// closed.
///
/// Without keys, libzmq does not tell connections apart: a topic is counted once, until its last subscription ends.
///
/// Stores a hash of each topic, so that its own memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    /// The connections that have subscribed; 0 without keys.
    private var topics: [Int: [Int]] = [:]
    private var connections: [Int: Connection] = [:]
    /// The number of subscriptions.
    private(set) var count = 0

    private struct Connection {
        let peer: String
        var subscriptions = 0
    }

    private static let withoutKeys = 0

    /// The number of subscriptions of each peer; none without keys.
    var countsByPeer: [String: Int] {
        connections.values.reduce(into: [:]) { $0[$1.peer, default: 0] += $1.subscriptions }
    }

    /// Adds a subscription.
    ///
    /// - Parameter subscriber: `nil` without keys.
    mutating func begin(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) {
        let (hash, connection) = (topic.hashValue, subscriber?.connection ?? Self.withoutKeys)
        guard topics[hash]?.contains(connection) != true else { return }
        topics[hash, default: []].append(connection)
        if let subscriber { connections[connection, default: Connection(peer: subscriber.peer)].subscriptions += 1 }
        count += 1
    }

    /// Removes a subscription.
    ///
    /// - Parameter subscriber: `nil` without keys, and if the connection broke.
    /// - Returns: whether this was the last one to the topic.
    mutating func end(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) -> Bool {
        guard let slot = topics.index(forKey: topic.hashValue) else { return false }
        guard let place = subscriber.map({ topics.values[slot].firstIndex(of: $0.connection) }) ?? 0 else {
            return false
        }
        let connection = topics.values[slot].remove(at: place)
        let isLast = topics.values[slot].isEmpty
        if isLast { topics.remove(at: slot) }
        count -= 1
        connections[connection]?.subscriptions -= 1
        if connections[connection]?.subscriptions == 0 { connections[connection] = nil }
        return isLast
    }
}
