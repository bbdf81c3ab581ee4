import Logging
import Metrics
import StatecastProtocol
import StatecastZeroMQ

/// The bound sockets of a primary. Used on the node's loop only.
///
/// A subscription at the wrong endpoint is refused here. With keys, it passes the access list here, too. So the stores
/// see only what is permitted.
final class PrimarySockets {
    let address: PrimaryAddress
    /// For states, in the order of `PrimaryConfiguration.feeds`.
    private let feeds: [Publisher]
    /// Of a node with keys; without, the feeds also publish receipts.
    private let receipts: Publisher?
    private let puller: RenewableSocket
    private let access: AccessControl?
    private let router: FrameRouter
    private let logger: Logger
    /// Called with the code of each message that is not passed on.
    private let onDrop: (Rejection.Code) -> Void

    /// What the node does when messages have arrived, or are not passed on.
    struct Handlers {
        let onSubscriptions: () -> Void
        let onActions: () -> Void
        let onDrop: (Rejection.Code) -> Void
    }

    /// Binds the sockets.
    ///
    /// - Parameters:
    ///   - feedsOfStores: the endpoints for states, each with its stores; the first one is that of `publish`.
    ///   - access: of a node with keys.
    ///   - bind: binds a socket, and returns the endpoint with its port.
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `resources`.
    init(
        _ configuration: PrimaryConfiguration,
        _ feedsOfStores: [PrimaryConfiguration.Feed],
        _ access: AccessControl?,
        on loop: PollLoop,
        clock: NodeClock,
        logger: Logger,
        _ handlers: Handlers,
        bind: (borrowing Socket, Endpoint) throws(ZeroMQError) -> Endpoint
    ) throws(StatecastError) {
        let services = RenewableSocket.Services(loop: loop, clock: clock, logger: logger)
        func publisher(
            _ role: AccessControl.SocketRole,
            of stores: Set<StoreName>,
            at endpoint: Endpoint
        ) throws(ZeroMQError) -> Publisher {
            let socket = try RenewableSocket(
                .xpub,
                role,
                at: endpoint,
                .publisher(configuration, try access?.security(of: role)),
                on: services,
                bind: bind,
                onReadable: handlers.onSubscriptions
            )
            return Publisher(socket, of: stores, configuration.limits)
        }
        let stores = feedsOfStores.reduce(into: Set()) { $0.formUnion($1.stores) }
        let actions = try configuration.endpoint(configuration.actions)
        let outcomes = access == nil ? nil : try configuration.endpoint(configuration.receipts)
        if let outcomes, outcomes.isLocal, let remote = feedsOfStores.first(where: { !$0.endpoint.isLocal }) {
            logger.warning(
                "senders on other machines cannot reach the endpoint for receipts",
                metadata: ["publish": "\(remote.endpoint)", "receipts": "\(outcomes)"]
            )
        }
        do throws(ZeroMQError) {
            puller = try RenewableSocket(
                .pull,
                .actions,
                at: actions,
                .puller(configuration.limits, try access?.security(of: .actions)),
                on: services,
                bind: bind,
                onReadable: handlers.onActions
            )
            feeds = try feedsOfStores.map { feed throws(ZeroMQError) in
                try publisher(.publish(feed.stores), of: feed.stores, at: feed.endpoint)
            }
            receipts = try outcomes.map { endpoint throws(ZeroMQError) in
                try publisher(.receipts, of: stores, at: endpoint)
            }
            address = PrimaryAddress(
                publish: feeds[0].endpoint.description,
                storeEndpoints: feeds.reduce(into: [:]) { endpoints, feed in
                    for store in feed.stores where configuration.storeEndpoints[store.text] != nil {
                        endpoints[store.text] = feed.endpoint.description
                    }
                },
                actions: puller.endpoint.description,
                receipts: receipts?.endpoint.description
            )
        } catch {
            throw StatecastError(error)
        }
        self.access = access
        router = FrameRouter(stores: stores)
        self.logger = logger
        onDrop = handlers.onDrop
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

    /// Closes all connections of a socket. Peers connect again, if they may.
    func closeConnections(_ role: AccessControl.SocketRole, because reason: String) {
        switch role {
        case .publish: feeds.first { $0.role == role }?.closeConnections(because: reason)
        case .receipts: receipts?.closeConnections(because: reason)
        case .actions: puller.closeConnections(because: reason)
        }
    }

    /// Closes all connections of all sockets.
    func closeConnections(because reason: String) {
        for socket in feeds { socket.closeConnections(because: reason) }
        receipts?.closeConnections(because: reason)
        puller.closeConnections(because: reason)
    }

    // MARK: Subscriptions

    /// Passes the subscriptions and unsubscriptions that have arrived to the stores.
    func receiveSubscriptions(_ hosted: HostedStores) {
        for socket in feeds + [receipts].compactMap(\.self) {
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
        case .unsubscribed: return
        case .malformed: return onDrop(.malformed)
        }
        let topic = received.topic
        func refuse(_ refusal: Refusal) {
            guard begins else { return }
            onDrop(refusal.reason.code)
            if !socket.permittedTopics.contains(Array(topic)) {
                socket.send(Message.encode(.refusal(refusal), to: topic))
            }
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
                hosted.subscribed(to: .receipts(session), of: store, from: sender)
            } catch {
                refuse(Refusal(error))
            }
        case .store where socket === receipts:
            let advice = "this endpoint publishes receipts only: states and the schema are at the one for replicas"
            refuse(Refusal(Rejection(.notPermitted, advice)))
        case .store(_, .receipts) where receipts != nil:
            let advice = "this endpoint publishes states: with keys, a sender connects to the one for receipts"
            refuse(Refusal(Rejection(.notPermitted, advice)))
        case .store(let store, _) where !socket.stores.contains(store):
            refuse(Refusal(Rejection(.notPermitted, "the store \"\(store)\" is published at another endpoint")))
        case .store(let store, let subject) where begins: hosted.subscribed(to: subject, of: store, from: nil)
        case .store(let store, let subject): hosted.unsubscribed(from: subject, of: store)
        case .answer:
            // The refusal names the stores of the endpoint only.
            if case .answer(let refusal, _) = FrameRouter(stores: socket.stores).subscription(topic) { refuse(refusal) }
        case .drop(let code): if begins { onDrop(code) }
        }
    }

    // MARK: Actions

    /// Whether ``Handlers/onActions`` is called for messages of senders.
    var takesActions: Bool {
        get { puller.wantsMessages }
        set { puller.wantsMessages = newValue }
    }

    /// The next message of a sender, and the peer that sent it, as the access control names it.
    func nextActions() -> (message: [UInt8], peer: String?)? {
        access == nil ? puller.next().map { ($0, nil) } : puller.nextFromUser().map { ($0.message, $0.user) }
    }

    /// Who sent a message to a store; `nil` on a node without keys.
    ///
    /// - Throws: as ``AccessControl/sender(_:to:)``.
    func sender(_ peer: String?, to store: StoreName) throws(Rejection) -> FrameSender? {
        try access?.sender(peer, to: store)
    }
}
