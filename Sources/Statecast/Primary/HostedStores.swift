package import StatecastCore
package import StatecastProtocol

/// The stores that a node serves: passes messages to them, answers those that no store takes, and lets them take turns.
/// Used on the node's loop only.
package struct HostedStores {
    /// In the order of their names.
    private let stores: [any RunningStore]
    /// Those of the stores whose peers are listed.
    private let peers: [PeerStore]
    /// With the published lists of peers.
    private let all: [any RunningStore]
    private let router: FrameRouter
    private let node: NodeServices
    /// Called with the code of each message that was not passed to a store.
    private let onDrop: (Rejection.Code) -> Void

    /// Serves recovered stores from ``begin()`` on.
    package init(
        _ recovered: [any StartableStore],
        on node: NodeServices,
        onDrop: @escaping (Rejection.Code) -> Void
    ) {
        stores = recovered.sorted { $0.name < $1.name }.map { $0.serve(on: node) }
        peers = node.listsPeers ? stores.compactMap { PeerStore(of: $0, on: node) } : []
        all = stores + peers.compactMap(\.store)
        router = FrameRouter(stores: Set(stores.map(\.name)))
        self.node = node
        self.onDrop = onDrop
    }

    /// The position of a store; `nil` if it is not served here.
    package func position(of name: StoreName) -> Position? { store(name)?.position }

    /// What operators see of the stores.
    func sample() -> [StoreHealth] { stores.map { $0.sample() } }

    /// A queue or table of a store that is beyond its limit, which only a fault can cause.
    package var exceededLimit: String? {
        stores.lazy.compactMap { store in store.exceededLimit.map { "\(store.name) has \($0)" } }.first
    }

    private func store(_ name: StoreName) -> (any RunningStore)? { all.first { $0.name == name } }

    /// The peers of a store; `nil` if they are not listed.
    func peers(of name: StoreName) -> Peers? { peers.first { $0.listed.name == name }?.current() }

    package func begin() { for store in all { store.begin() } }
    package func finish() { for store in stores { store.finish() } }
    package func end() { for store in all { store.end() } }

    func renewLease() { for store in stores { store.renewLease() } }
    func abandon(because failure: JournalFailure) { for store in stores { store.abandon(because: failure) } }

    /// Gives up all stores.
    func resign(to heir: NodeID?) throws(JournalFailure) { for store in stores { try store.resign(to: heir) } }

    // MARK: Messages

    /// Whether frames are received: a store takes more, and no store has too many that it can reduce. Those for a store
    /// whose journal has no room are received, too, since they must not stop the others.
    package var takesFrames: Bool {
        var isOpen = false
        for store in stores {
            switch store.intake {
            case .open: isOpen = true
            case .full: break
            case .busy: return false
            }
        }
        return isOpen
    }

    /// A subscription to a topic of a store.
    ///
    /// - Parameters:
    ///   - sender: of a subscription to receipts; `nil` on a node without keys.
    ///   - user: `nil` on a node without keys.
    package func subscribed(to topic: Topic, of name: StoreName, from sender: FrameSender?, user: String?) {
        store(name)?.subscribed(to: topic, from: sender)
        for peers in peers {
            if peers.listed.name == name { peers.subscribed(to: topic, user: user) }
            if peers.store?.name == name, topic == .feed { peers.followed(true) }
        }
    }

    /// The end of the last subscription to a topic of a store.
    package func unsubscribed(from topic: Topic, of name: StoreName) {
        store(name)?.unsubscribed(from: topic)
        for peers in peers {
            if peers.listed.name == name { peers.unsubscribed(from: topic) }
            if peers.store?.name == name, topic == .feed { peers.followed(false) }
        }
    }

    /// All connections to a publishing socket are closed, without reports of the ends of their subscriptions.
    ///
    /// - Parameters:
    ///   - feeds: the stores that it publishes.
    ///   - receipts: whether it publishes receipts.
    func disconnected(feeds: Set<StoreName>, receipts: Bool) {
        for peers in peers {
            peers.disconnected(
                replicas: feeds.contains(peers.listed.name),
                senders: receipts,
                followers: peers.store.map { feeds.contains($0.name) } ?? false
            )
        }
    }

    /// A message of actions.
    ///
    /// One without the right to its store is dropped: an answer would reach the sender whose session it names. When a
    /// right is withdrawn, the node binds the socket for receipts again; a sender that may still connect to it
    /// subscribes again, and gets the refusal then.
    ///
    /// - Parameter sender: returns who sent the message to a store, `nil` on a node without keys; throws if the sender
    ///   has no right to the store.
    package func receivedActions(
        _ message: [UInt8],
        from sender: (StoreName) throws(Rejection) -> FrameSender?
    ) {
        guard message.count <= node.limits.maxFrameBytes else { return onDrop(.tooLarge) }
        switch router.actions(message) {
        case .store(let name, let frame):
            do throws(Rejection) { store(name)?.received(frame, from: try sender(name)) } catch { onDrop(error.code) }
        case .answer(let refusal, let address):
            onDrop(refusal.reason.code)
            node.publish(nil, Message.encode(.refusal(refusal), to: address))
        case .drop(let code): onDrop(code)
        }
    }

    // MARK: Turns

    package func tick() { for store in all { store.tick() } }

    /// Lets each store take a turn. A store with more work takes the next one after the sockets were polled.
    ///
    /// - Returns: the time of the next tick and turn.
    package func turn() -> Instant? {
        for peers in peers { peers.publishIfDue() }
        for store in all { store.turn() }
        if all.contains(where: \.hasWork) { return node.environment.now }
        return (all.map(\.nextDeadline) + peers.compactMap(\.nextDeadline)).min()
    }
}
