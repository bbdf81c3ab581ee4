internal import SyncProtocol
internal import ZeroMQ

/// A publishing socket and the subscriptions on it. Used on the node's loop only.
///
/// libzmq stores a subscription before the node sees it, and has no call that refuses one. To bound the subscriptions,
/// or after a right was withdrawn, the node closes all connections.
final class Publisher {
    private let socket: RenewableSocket
    /// The stores whose messages it publishes.
    let stores: Set<StoreName>
    private let bytesMax: Int
    /// With keys, what the subscriptions of one may occupy.
    private let keyBytesMax: Int
    private let rates: ConnectionRates?
    private let messagesPerTurnMax: Int
    private var subscriptions = SubscribedTopics()

    /// - Parameter rates: with keys.
    init(_ socket: RenewableSocket, of stores: Set<StoreName>, _ limits: Limits, _ rates: ConnectionRates?) {
        self.socket = socket
        self.stores = stores
        self.rates = rates
        bytesMax = limits.subscribedBytesMax
        keyBytesMax = bytesMax / 8
        messagesPerTurnMax = limits.subscriptionsPerTurnMax
    }

    /// Where it is bound, the port filled in.
    var endpoint: Endpoint { socket.endpoint }

    /// How often all connections were closed.
    var renewals: Int { socket.renewals }

    /// Publishes to the connected subscribers.
    func send(_ message: [UInt8]) { socket.send(message) }

    /// A message of a subscriber.
    struct Received {
        /// What it changes.
        enum Event {
            case subscribed
            /// The topic has no subscriber any more.
            case lastUnsubscribed
            /// The topic has further subscribers, or had none.
            case unsubscribed
            case malformed
        }

        let event: Event
        let topic: ArraySlice<UInt8>
        /// The key of the subscriber; `nil` without keys, and for the end of a subscription because a connection broke.
        let peer: String?
    }

    /// Receives subscriptions and unsubscriptions, at most `subscriptionsPerTurnMax`.
    ///
    /// libzmq has processed all of them when this returns, so that one answer reaches all subscribers of its topic.
    ///
    /// - Parameter isFlooded: called before all connections are closed because the subscriptions occupy too much, with
    ///   what those of each key occupy, and how much is permitted to a user.
    func receiveSubscriptions(
        isFlooded: (_ bytesByPeer: [String: Int], _ keyBytesMax: Int) -> Void
    ) -> [Received] {
        var received: [Received] = []
        while received.count < messagesPerTurnMax, let (message, user) = socket.nextFromUser() {
            let (topic, subscriber) = (message.dropFirst(), user.flatMap(Subscriber.init))
            let event: Received.Event
            switch message.first {
            case 1:
                subscriptions.begin(topic, by: subscriber)
                event = .subscribed
            case 0: event = subscriptions.end(topic, by: subscriber) ? .lastUnsubscribed : .unsubscribed
            default: event = .malformed
            }
            received.append(Received(event: event, topic: topic, peer: subscriber?.peer))
        }
        rates?.subscribed(subscriptions.bytes)
        let floods = received.contains {
            $0.peer.map { subscriptions.bytesByPeer[$0, default: 0] > keyBytesMax } ?? false
        }
        guard floods || subscriptions.bytes > bytesMax else { return received }
        isFlooded(subscriptions.bytesByPeer, keyBytesMax)
        let excess =
            floods
            ? "of one key occupy more than an eighth of subscribedBytesMax"
            : "occupy more than \(bytesMax) bytes (subscribedBytesMax)"
        closeConnections(because: "the subscriptions \(excess)")
        return []
    }

    /// Closes all connections. Subscribers connect again, if they may.
    func closeConnections(because reason: String) {
        subscriptions = SubscribedTopics()
        rates?.renewed()
        socket.closeConnections(because: reason)
    }
}
