internal import Synchronization

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

/// The topics that are subscribed to at a publishing socket, and what they occupy at most.
///
/// With keys, libzmq reports each subscription, each end of one, and also the end of one that the connection does not
/// have. When a connection breaks, it reports the ends without a User-Id, so any subscriber is taken for it. If that
/// was another one, whose own end is then ignored, an ended subscription is counted until the connections are closed.
///
/// Without keys, libzmq does not tell connections apart: a topic is counted once, until its last subscription ends.
///
/// Stores a hash of each topic, so that its own memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    /// The connections that have subscribed; 0 without keys.
    private var topics: [Int: [Int]] = [:]
    private var connections: [Int: Connection] = [:]
    /// What the subscriptions of each peer occupy.
    private(set) var bytesByPeer: [String: Int] = [:]
    /// What all subscriptions occupy.
    private(set) var bytes = 0

    private struct Connection {
        let peer: String
        var subscriptions = 0
    }

    private static let withoutKeys = 0

    /// libzmq stores topics in a tree with a node of 32 bytes for each byte. Where topics part, a node has a table of
    /// up to 256 pointers.
    private static func bytes(ofTopicWithBytes count: Int) -> Int { 2304 + 32 * count }

    /// An entry in libzmq's set of a topic's connections and one here; and libzmq's report of the end, if the
    /// connection breaks.
    private static func bytes(ofSubscriberOfTopicWithBytes count: Int) -> Int { 192 + count }

    /// Adds a subscription. The first subscriber of a topic is charged for it.
    ///
    /// - Parameter subscriber: `nil` without keys.
    mutating func begin(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) {
        let (hash, connection) = (topic.hashValue, subscriber?.connection ?? Self.withoutKeys)
        guard topics[hash]?.contains(connection) != true else { return }
        topics[hash, default: []].append(connection)
        if let subscriber { connections[connection, default: Connection(peer: subscriber.peer)].subscriptions += 1 }
        charge(Self.bytes(ofSubscriberOfTopicWithBytes: topic.count), to: connection)
        if topics[hash]?.count == 1 { charge(Self.bytes(ofTopicWithBytes: topic.count), to: connection) }
    }

    /// Removes a subscription.
    ///
    /// - Parameter subscriber: `nil` without keys, and if the connection broke.
    /// - Returns: whether this was the last one to the topic.
    mutating func end(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) -> Bool {
        guard let slot = topics.index(forKey: topic.hashValue) else { return false }
        let last = topics.values[slot].count - 1
        guard let place = subscriber.map({ topics.values[slot].firstIndex(of: $0.connection) }) ?? last else {
            return false
        }
        topics.values[slot].swapAt(place, last)
        let connection = topics.values[slot].removeLast()
        let (isCharged, next) = (place == 0, topics.values[slot].first)
        if next == nil { topics.remove(at: slot) }
        charge(-Self.bytes(ofSubscriberOfTopicWithBytes: topic.count), to: connection)
        if isCharged {
            charge(-Self.bytes(ofTopicWithBytes: topic.count), to: connection)
            if let next { charge(Self.bytes(ofTopicWithBytes: topic.count), to: next) }
        }
        connections[connection]?.subscriptions -= 1
        if connections[connection]?.subscriptions == 0 { connections[connection] = nil }
        return next == nil
    }

    private mutating func charge(_ count: Int, to connection: Int) {
        bytes += count
        guard let peer = connections[connection]?.peer else { return }
        bytesByPeer[peer, default: 0] += count
        if bytesByPeer[peer] == 0 { bytesByPeer[peer] = nil }
    }
}
