package import StatecastCore
package import StatecastProtocol

/// The stores that a node serves: passes messages to them, answers those that no store takes, and lets them take turns.
/// Used on the node's loop only.
package struct HostedStores {
    /// In the order of their names.
    private let stores: [any RunningStore]
    /// The lists of their peers.
    private let lists: [PeerList]
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
        lists = node.listsPeers ? stores.compactMap { PeerList(of: $0, on: node) } : []
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
        (stores + lists.compactMap(\.store)).lazy.compactMap { store in
            store.exceededLimit.map { "\(store.name) has \($0)" }
        }.first
    }

    private func store(_ name: StoreName) -> (any RunningStore)? { stores.first { $0.name == name } }

    /// The peers of a store; `nil` if they are not listed.
    func peers(of name: StoreName) -> Peers? { lists.first { $0.listed.name == name }?.update() }

    package func begin() {
        for store in stores { store.begin() }
        for list in lists { list.store?.begin() }
    }
    package func finish() { for store in stores { store.finish() } }
    package func end() {
        for store in stores { store.end() }
        for list in lists { list.store?.end() }
    }

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
    ///   - origin: of the subscription.
    package func subscribed(
        to topic: Topic,
        of name: StoreName,
        from sender: FrameSender?,
        _ origin: PeerOrigin = PeerOrigin()
    ) {
        store(name)?.subscribed(to: topic, from: sender)
        for list in lists { list.subscribed(to: topic, of: name, origin) }
    }

    /// The end of the last subscription to a topic of a store.
    package func unsubscribed(from topic: Topic, of name: StoreName) {
        store(name)?.unsubscribed(from: topic)
        for list in lists { list.unsubscribed(from: topic, of: name) }
    }

    /// All connections to a publishing socket are closed, without reports of the ends of their subscriptions.
    ///
    /// - Parameters:
    ///   - replicas: the stores whose states it publishes.
    ///   - senders: the stores whose receipts it publishes.
    func disconnected(replicasOf replicas: Set<StoreName>, sendersOf senders: Set<StoreName>) {
        for list in lists { list.disconnected(replicasOf: replicas, sendersOf: senders) }
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

    package func tick() {
        for store in stores { store.tick() }
        for list in lists { list.tick() }
    }

    /// Lets each store take a turn. A store with more work takes the next one after the sockets were polled.
    ///
    /// - Returns: the time of the next tick and turn.
    package func turn() -> Instant? {
        for store in stores { store.turn() }
        for list in lists { list.turn() }
        if stores.contains(where: \.hasWork) || lists.contains(where: \.hasWork) { return node.environment.now }
        let tick = stores.lazy.map(\.nextDeadline).min()
        guard let update = lists.lazy.compactMap(\.nextDeadline).min() else { return tick }
        return tick.map { min($0, update) } ?? update
    }
}
