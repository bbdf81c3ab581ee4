internal import Synchronization

/// A connection to a publishing socket of a node with keys.
struct Subscriber: Hashable, Sendable {
    /// The key of the peer.
    let peer: String
    /// Tells the connections of a peer apart.
    private let connection: Int

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

    /// What the handler of authentication calls its user, and libzmq that of each message.
    var name: String { "\(peer) \(connection)" }
}

/// The topics that are subscribed to at a publishing socket, and what they occupy in libzmq.
///
/// libzmq reports each subscription, each end of one, and also the end of one that the connection does not have. When a
/// connection breaks, it reports the ends without telling whose they are: the number of subscribers stays right, but
/// not always which ones they are.
///
/// Stores a hash of each topic, so that its own memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    private var topics: [Int: [Subscriber?]] = [:]
    private var bytesByPeer: [String: Int] = [:]
    /// What the subscriptions occupy, in bytes.
    private(set) var bytes = 0

    /// Of an entry in libzmq's set of the connections of a topic, and here.
    private static let subscriberBytes = 64

    /// libzmq stores topics in a tree with a node of 32 bytes for each byte. Where topics part, a node has a table of
    /// up to 256 pointers.
    private static func bytes(ofTopicWithBytes count: Int) -> Int { 256 * 8 + 32 * count }

    /// The peers whose subscriptions occupy more than this.
    func peers(above bytes: Int) -> [String] { bytesByPeer.filter { $0.value > bytes }.map(\.key) }

    /// Adds a subscription. The first subscriber of a topic is charged for it.
    ///
    /// - Parameter subscriber: `nil` on a node without keys.
    mutating func begin(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) {
        let hash = topic.hashValue
        if subscriber != nil, topics[hash]?.contains(subscriber) == true { return }
        topics[hash, default: []].append(subscriber)
        charge(Self.subscriberBytes, to: subscriber)
        if topics[hash]?.count == 1 { charge(Self.bytes(ofTopicWithBytes: topic.count), to: subscriber) }
    }

    /// Removes a subscription.
    ///
    /// - Parameter subscriber: `nil` on a node without keys, and if the connection broke.
    /// - Returns: whether this was the last one to the topic.
    mutating func end(_ topic: ArraySlice<UInt8>, by subscriber: Subscriber?) -> Bool {
        guard let slot = topics.index(forKey: topic.hashValue) else { return false }
        let last = topics.values[slot].count - 1
        guard let place = subscriber == nil ? last : topics.values[slot].firstIndex(of: subscriber) else {
            return false
        }
        topics.values[slot].swapAt(place, last)
        let removed = topics.values[slot].removeLast()
        charge(-Self.subscriberBytes, to: removed)
        guard place == 0 else { return false }
        let topicBytes = Self.bytes(ofTopicWithBytes: topic.count)
        charge(-topicBytes, to: removed)
        guard let first = topics.values[slot].first else {
            topics.remove(at: slot)
            return true
        }
        charge(topicBytes, to: first)
        return false
    }

    private mutating func charge(_ count: Int, to subscriber: Subscriber?) {
        bytes += count
        guard let peer = subscriber?.peer else { return }
        bytesByPeer[peer, default: 0] += count
        if bytesByPeer[peer] == 0 { bytesByPeer[peer] = nil }
    }
}
