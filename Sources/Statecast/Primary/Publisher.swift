internal import SyncProtocol
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

    /// A subscription or an unsubscription, and the name that the handler of authentication gave its user.
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
            topics.apply(message.message, from: message.user)
            messages.append(message)
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

/// The topics that have subscribers, by the peer that subscribed first. libzmq reports each subscription, and the end
/// of the last one to a topic.
///
/// Stores a hash of each topic, so that its memory does not depend on the lengths of the topics.
struct SubscribedTopics {
    private var topics: [Int: String?] = [:]
    private var counts: [String: Int] = [:]

    var count: Int { topics.count }

    /// The peers with more topics than this, of those that a user is known of.
    func peers(above count: Int) -> [String] { counts.filter { $0.value > count }.map(\.key) }

    /// Applies a message of an XPUB: a byte 1 (subscribe) or 0 (unsubscribe), then the topic.
    ///
    /// - Parameter peer: as the handler of authentication named it; `nil` without keys.
    mutating func apply(_ message: [UInt8], from peer: String?) {
        let hash = message.dropFirst().hashValue
        switch message.first {
        case 1:
            guard topics[hash] == nil else { return }
            topics[hash] = .some(peer)
            if let peer { counts[peer, default: 0] += 1 }
        case 0:
            guard let peer = topics.removeValue(forKey: hash).flatMap(\.self) else { return }
            let count = counts[peer, default: 1] - 1
            counts[peer] = count > 0 ? count : nil
        default: break
        }
    }
}
