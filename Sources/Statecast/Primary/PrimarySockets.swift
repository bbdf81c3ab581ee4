package import Logging
package import StatecastProtocol

/// A bound socket of a primary: one of libzmq on a loop, or a simulated one. Used on one thread only.
package protocol BoundSocket: AnyObject {
    /// Where it is bound, the port filled in.
    var endpoint: String { get }
    /// The next message; `nil` if there is none.
    func next() -> PeerMessage?
    /// Sends a message to the connected peers.
    func send(_ message: [UInt8])
    /// Closes all connections. Peers connect again, if they may.
    func closeConnections(because reason: String)
    /// Whether the node is called when a message has arrived.
    var wantsMessages: Bool { get set }
}

/// A message of a peer to a primary.
package struct PeerMessage {
    let bytes: [UInt8]
    /// The User-Id; `nil` on a node without keys, and for the end of a subscription because a connection broke.
    package let user: String?
    /// The IP address of a subscriber; `nil` where there is none.
    let address: String?

    package init(_ bytes: [UInt8], from user: String?, address: String? = nil) {
        (self.bytes, self.user, self.address) = (bytes, user, address)
    }
}

/// The bound sockets of a primary. Used on one thread only.
///
/// A subscription at the wrong endpoint is refused here. With keys, one to receipts passes the access list here, too;
/// the handshake decides who may follow states.
package final class PrimarySockets {
    let address: PrimaryAddress
    /// For states, in the order of `PrimaryConfiguration.feeds`.
    private let feeds: [Publisher]
    /// Of a node with keys; without, the feeds also publish receipts.
    private let receipts: Publisher?
    private let puller: any BoundSocket
    private let access: AccessControl?
    private let router: FrameRouter
    private let logger: Logger

    /// - Parameters:
    ///   - stores: of each socket for states; the first one is that of `publish`.
    ///   - bind: returns the bound socket of a role.
    package init<Failure: Error>(
        _ configuration: PrimaryConfiguration,
        _ stores: [Set<StoreName>],
        _ access: AccessControl?,
        logger: Logger,
        bind: (AccessControl.SocketRole) throws(Failure) -> any BoundSocket
    ) throws(Failure) {
        let all = stores.reduce(into: Set()) { $0.formUnion($1) }
        puller = try bind(.actions)
        feeds = try stores.map { stores throws(Failure) in
            let role = AccessControl.SocketRole.publish(stores)
            return Publisher(try bind(role), role, of: stores, configuration.limits)
        }
        receipts = access == nil ? nil : Publisher(try bind(.receipts), .receipts, of: all, configuration.limits)
        address = PrimaryAddress(
            publish: feeds[0].endpoint,
            storeEndpoints: feeds.reduce(into: [:]) { endpoints, feed in
                for store in feed.stores where configuration.storeEndpoints[store.text] != nil {
                    endpoints[store.text] = feed.endpoint
                }
            },
            actions: puller.endpoint,
            receipts: receipts?.endpoint
        )
        (self.access, self.logger) = (access, logger)
        router = FrameRouter(stores: all)
    }

    /// The lists of peers that are published.
    var publishedLists: Set<StoreName> { router.stores.filter(\.isOfPeers) }

    /// Called when all connections to a publishing socket were closed, with the stores whose states it publishes, and
    /// those whose receipts it publishes.
    var onDisconnect: ((_ replicasOf: Set<StoreName>, _ sendersOf: Set<StoreName>) -> Void)? {
        didSet {
            for socket in publishers {
                let states = socket === receipts ? [] : socket.stores
                let outcomes = receipts == nil || socket === receipts ? socket.stores : []
                socket.onClose = { [onDisconnect] in onDisconnect?(states, outcomes) }
            }
        }
    }

    /// Publishes a message of a store on the socket for its topic; `nil`: of a store that the node does not serve.
    func publish(_ message: [UInt8], of store: StoreName?) {
        if let receipts, Message.isOfReceipts(message) { return receipts.send(message) }
        feed(of: store).send(message)
    }

    private func feed(of store: StoreName?) -> Publisher {
        guard feeds.count > 1, let store else { return feeds[0] }
        return feeds.first { $0.stores.contains(store) } ?? feeds[0]
    }

    /// Closes all connections of a socket, or of all sockets. Peers connect again, if they may.
    func closeConnections(_ role: AccessControl.SocketRole? = nil, because reason: String) {
        for socket in publishers where role == nil || role == socket.role { socket.closeConnections(because: reason) }
        if role == nil || role == .actions { puller.closeConnections(because: reason) }
    }

    private var publishers: [Publisher] { feeds + [receipts].compactMap(\.self) }

    /// Receives and drops what has arrived.
    func drop(maxActions: Int) {
        for socket in publishers { _ = socket.receiveSubscriptions(onExcess: { access?.banUser(withMostOf: $0) }) }
        for _ in 0..<maxActions where nextActions() != nil {}
    }

    // MARK: Subscriptions

    /// Passes the subscriptions and unsubscriptions that have arrived to the stores.
    func receiveSubscriptions(_ hosted: HostedStores) {
        for socket in publishers {
            for received in socket.receiveSubscriptions(onExcess: { access?.banUser(withMostOf: $0) }) {
                pass(received, from: socket, hosted)
            }
        }
    }

    /// Answers on the socket that received the subscription: on the other, the answer could reach another user.
    private func pass(
        _ received: Publisher.Received,
        from socket: Publisher,
        _ hosted: HostedStores
    ) {
        let begins: Bool
        switch received.event {
        case .subscribed: begins = true
        case .lastUnsubscribed: begins = false
        case .malformed: return drop(.malformed)
        }
        let topic = received.topic
        func refuse(_ refusal: Refusal) {
            guard begins else { return }
            drop(refusal.reason.code)
            if !socket.permittedTopics.contains(Array(topic)) {
                socket.send(Message.encode(.refusal(refusal), to: topic))
            }
        }
        var origin: PeerOrigin {
            PeerOrigin(user: received.peer.flatMap { access?.user(ofPeer: $0) }, address: received.address)
        }
        switch router.subscription(topic) {
        case .store(let store, .receipts(let session)) where socket === receipts:
            // The end of a subscription has no user if a connection broke.
            guard begins else {
                socket.permittedTopics.remove(Array(topic))
                return hosted.unsubscribed(from: .receipts(session), of: store)
            }
            do throws(Rejection) {
                let sender = try access?.sender(received.peer, to: store)
                socket.permittedTopics.insert(Array(topic))
                hosted.subscribed(to: .receipts(session), of: store, from: sender, origin)
            } catch {
                refuse(Refusal(error))
            }
        case .store(let store, .receipts) where store.isOfPeers:
            refuse(Refusal(Rejection(.notPermitted, "\(store) is a list of peers, which takes no actions")))
        case .store where socket === receipts:
            let advice = "this endpoint publishes receipts only: states and the schema are at the one for replicas"
            refuse(Refusal(Rejection(.notPermitted, advice)))
        case .store(_, .receipts) where receipts != nil:
            let advice = "this endpoint publishes states: with keys, a sender connects to the one for receipts"
            refuse(Refusal(Rejection(.notPermitted, advice)))
        case .store(let store, _) where !socket.stores.contains(store):
            refuse(Refusal(Rejection(.notPermitted, "the store \"\(store)\" is published at another endpoint")))
        case .store(let store, let subject) where begins:
            hosted.subscribed(to: subject, of: store, from: nil, origin)
        case .store(let store, let subject): hosted.unsubscribed(from: subject, of: store)
        case .answer:
            // The refusal names the stores of the endpoint only.
            if case .answer(let refusal, _) = FrameRouter(stores: socket.stores).subscription(topic) { refuse(refusal) }
        case .drop(let code): if begins { drop(code) }
        }
    }

    private func drop(_ code: Rejection.Code) { PrimaryDriver.count(code, logger) }

    // MARK: Actions

    /// Whether the node is called for messages of senders.
    var takesActions: Bool {
        get { puller.wantsMessages }
        set { puller.wantsMessages = newValue }
    }

    /// The next message of a sender, and the peer that sent it, as the access control names it.
    func nextActions() -> PeerMessage? { puller.next() }
}
