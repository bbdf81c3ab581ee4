import StatecastProtocol

/// A publishing socket and the subscriptions on it. Used on one thread only.
///
/// libzmq stores a subscription before the node sees it, and has no call that refuses one. To bound the subscriptions,
/// or after a right was withdrawn, the node closes all connections.
final class Publisher {
    private let socket: any BoundSocket
    let role: AccessControl.SocketRole
    /// The stores whose messages it publishes.
    let stores: Set<StoreName>
    private let maxSubscriptions: Int
    private let maxMessagesPerTurn: Int
    private var subscriptions = SubscribedTopics()
    /// The topics of receipts that have a permitted subscriber. A refusal on such a topic would also reach that
    /// subscriber.
    var permittedTopics: Set<[UInt8]> = []
    /// Called after all connections were closed.
    var onClose: () -> Void = {}

    init(
        _ socket: any BoundSocket,
        _ role: AccessControl.SocketRole,
        of stores: Set<StoreName>,
        _ limits: Limits
    ) {
        (self.socket, self.role, self.stores) = (socket, role, stores)
        maxSubscriptions = limits.maxSubscriptions
        maxMessagesPerTurn = limits.maxSubscriptionsPerTurn
    }

    /// Where it is bound, the port filled in.
    var endpoint: String { socket.endpoint }

    /// Publishes to the connected subscribers.
    func send(_ message: [UInt8]) { socket.send(message) }

    /// A message of a subscriber.
    struct Received {
        /// What it changes.
        enum Event {
            case subscribed
            /// The topic has no subscriber any more.
            case lastUnsubscribed
            case malformed
        }

        let event: Event
        let topic: ArraySlice<UInt8>
        /// The key of the subscriber; `nil` without keys, and for the end of a subscription because a connection broke.
        let peer: String?
        /// As ``PeerMessage/address``.
        let address: String?
    }

    /// Receives subscriptions and unsubscriptions, at most `maxSubscriptionsPerTurn`; without the ends of those to a
    /// topic that has further subscribers.
    ///
    /// libzmq has processed all of them when this returns, so that one answer reaches all subscribers of its topic.
    ///
    /// - Parameter onExcess: called with the number of subscriptions of each key before all connections are closed,
    ///   because there are too many.
    func receiveSubscriptions(onExcess: (_ countsByPeer: [String: Int]) -> Void) -> [Received] {
        var received: [Received] = []
        for _ in 0..<maxMessagesPerTurn {
            guard let message = socket.next() else { break }
            let (topic, subscriber) = (message.bytes.dropFirst(), message.user.flatMap(Subscriber.init))
            let event: Received.Event
            switch message.bytes.first {
            case 1:
                subscriptions.begin(topic, by: subscriber)
                event = .subscribed
            case 0:
                guard subscriptions.end(topic, by: subscriber) else { continue }
                event = .lastUnsubscribed
            default: event = .malformed
            }
            received.append(
                Received(event: event, topic: topic, peer: subscriber?.peer, address: message.address)
            )
        }
        guard subscriptions.count > maxSubscriptions else { return received }
        onExcess(subscriptions.countsByPeer)
        closeConnections(because: "there are more than \(maxSubscriptions) subscriptions (maxSubscriptions)")
        return []
    }

    /// Closes all connections. Subscribers connect again, if they may.
    func closeConnections(because reason: String) {
        subscriptions = SubscribedTopics()
        permittedTopics = []
        socket.closeConnections(because: reason)
        onClose()
    }
}
