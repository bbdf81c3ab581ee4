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
    private let connectionRates: ConnectionRates?
    private let messagesPerTurnMax: Int
    private var subscriptions = SubscribedTopics()
    /// The topics of receipts that have a permitted subscriber. A refusal on such a topic would also reach that
    /// subscriber.
    var permittedTopics: Set<[UInt8]> = []
    /// Why all connections are closed when what they have sent was received.
    private var closingReason: String?

    /// Whether all connections are closed when what they have sent was received.
    var isClosing: Bool { closingReason != nil }

    /// - Parameter connectionRates: with keys.
    init(_ socket: RenewableSocket, of stores: Set<StoreName>, _ limits: Limits, _ connectionRates: ConnectionRates?) {
        self.socket = socket
        self.stores = stores
        self.connectionRates = connectionRates
        bytesMax = limits.subscribedBytesMax
        keyBytesMax = bytesMax / 8
        messagesPerTurnMax = limits.subscriptionsPerTurnMax
    }

    /// Where it is bound, the port filled in.
    var endpoint: Endpoint { socket.endpoint }

    var role: AccessControl.SocketRole { socket.role }

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
    /// - Parameter onExcess: called before all connections are closed because the subscriptions occupy too much: with
    ///   what those of each key occupy, of all keys or of those with more than is permitted to one, and with that
    ///   limit.
    func receiveSubscriptions(
        onExcess: (_ bytesByPeer: [String: Int], _ keyBytesMax: Int) -> Void
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
        connectionRates?.noteSubscribed(subscriptions.bytes)
        let isFull = subscriptions.bytes > bytesMax
        let floods = Set(received.compactMap(\.peer)).filter { subscriptions.bytesByPeer[$0, default: 0] > keyBytesMax }
        guard isFull || !floods.isEmpty else { return received }
        onExcess(subscriptions.bytesByPeer.filter { isFull || floods.contains($0.key) }, keyBytesMax)
        let excess =
            floods.isEmpty
            ? "occupy more than \(bytesMax) bytes (subscribedBytesMax)"
            : "of one key occupy more than an eighth of subscribedBytesMax"
        closeConnections(because: "the subscriptions \(excess)")
        return []
    }

    /// Closes all connections after the subscriptions that have arrived were received: users who have too many are cut
    /// off before.
    func closesWhenDrained(because reason: String) { closingReason = reason }

    /// Call it after messages were received and processed.
    ///
    /// - Returns: whether to receive more now, since all connections are closed when none is left.
    func closeIfDrained(received count: Int) -> Bool {
        guard let closingReason else { return false }
        guard count < messagesPerTurnMax else { return true }
        closeConnections(because: closingReason)
        return false
    }

    /// Closes all connections. Subscribers connect again, if they may.
    func closeConnections(because reason: String) {
        closingReason = nil
        subscriptions = SubscribedTopics()
        permittedTopics = []
        connectionRates?.reset()
        socket.closeConnections(because: reason)
    }
}
