internal import SyncProtocol
internal import Synchronization
internal import ZeroMQ

/// A publishing socket and the topics subscribed to on it. Used on the node's loop only.
///
/// libzmq stores a subscription before the node sees it, and has no call that refuses one. To bound the topics, or
/// after a right was withdrawn, the node closes all connections.
final class Publisher {
    private let socket: RenewableSocket
    /// The stores whose messages it publishes.
    let stores: Set<StoreName>
    private let topicsMax: Int
    private let messagesPerTurnMax: Int
    private var topics = SubscribedTopics()

    init(_ socket: RenewableSocket, of stores: Set<StoreName>, _ limits: Limits) {
        self.socket = socket
        self.stores = stores
        topicsMax = limits.topicsMax
        messagesPerTurnMax = limits.subscriptionsPerTurnMax
    }

    /// Where it is bound, the port filled in.
    var endpoint: Endpoint { socket.endpoint }

    /// How often all connections were closed.
    var renewals: Int { socket.renewals }

    /// Publishes to the connected subscribers.
    func send(_ message: [UInt8]) { socket.send(message) }

    /// A subscription or an unsubscription, and the key of its peer.
    typealias Received = (message: [UInt8], user: String?)

    /// Receives subscriptions and unsubscriptions, at most `subscriptionsPerTurnMax`.
    ///
    /// libzmq has processed all of them when this returns, so that one answer reaches all subscribers of its topic.
    ///
    /// - Parameter isFlooded: called before all connections are closed because there are too many topics, with each
    ///   peer that subscribed to more than an eighth of the limit.
    func receiveSubscriptions(isFlooded: (_ peer: String) -> Void = { _ in }) -> [Received] {
        var messages: [Received] = []
        while messages.count < messagesPerTurnMax, let message = socket.nextFromUser() {
            let subscriber = message.user.flatMap(Subscriber.init)
            let isOfInterest = topics.apply(message.message, from: subscriber)
            if isOfInterest { messages.append((message.message, subscriber?.peer)) }
        }
        guard topics.count > topicsMax else { return messages }
        for peer in topics.peers(above: topicsMax / 8) { isFlooded(peer) }
        closeConnections(because: "more topics are subscribed to than \(topicsMax) (topicsMax)")
        return []
    }

    /// Closes all connections. Subscribers connect again, if they may.
    func closeConnections(because reason: String) {
        topics = SubscribedTopics()
        socket.closeConnections(because: reason)
    }
}

/// A connection to a publishing socket of a node with keys.
struct Subscriber: Hashable, Sendable {
    /// The key of the peer.
    let peer: String
    /// Tells the connections of a peer apart.
    private let connection: Int

    private static let connections = Atomic<Int>(0)

    init(_ key: NodePublicKey) {
        (peer, connection) = (key.description, Self.connections.add(1, ordering: .relaxed).newValue)
    }

    /// - Parameter name: of an accepted connection.
    init?(_ name: String) {
        let parts = name.split(separator: " ")
        guard parts.count == 2, let connection = Int(parts[1]) else { return nil }
        (peer, self.connection) = (String(parts[0]), connection)
    }

    /// What the handler of authentication calls its user, and libzmq that of each message.
    var name: String { "\(peer) \(connection)" }
}

/// The topics that have subscribers, with the connections that subscribed to them.
///
/// libzmq reports each subscription of a connection and each end of one, also the end of one that the connection never
/// had. When a connection breaks, it reports the ends without telling whose they are: the oldest are taken for them.
///
/// Stores a hash of each topic, so that its memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    private var topics: [Int: [Subscriber?]] = [:]
    /// The number of subscriptions of each key.
    private var counts: [String: Int] = [:]

    var count: Int { topics.count }

    /// The keys with more subscriptions than this.
    func peers(above count: Int) -> [String] { counts.filter { $0.value > count }.map(\.key) }

    /// Applies a message of an XPUB: a byte 1 (subscribe) or 0 (unsubscribe), then the topic.
    ///
    /// - Parameter subscriber: `nil` without keys, and if the connection broke.
    /// - Returns: whether it is a subscription, or ends the last one to its topic.
    mutating func apply(_ message: [UInt8], from subscriber: Subscriber?) -> Bool {
        let hash = message.dropFirst().hashValue
        switch message.first {
        case 1:
            if subscriber == nil || topics[hash]?.contains(subscriber) != true {
                topics[hash, default: []].append(subscriber)
                if let subscriber { counts[subscriber.peer, default: 0] += 1 }
            }
            return true
        case 0:
            guard var subscribers = topics[hash],
                let index = subscriber == nil ? subscribers.indices.first : subscribers.firstIndex(of: subscriber)
            else { return false }
            if let peer = subscribers.remove(at: index)?.peer {
                let count = counts[peer, default: 1] - 1
                counts[peer] = count > 0 ? count : nil
            }
            topics[hash] = subscribers.isEmpty ? nil : subscribers
            return subscribers.isEmpty
        default: return true
        }
    }
}
