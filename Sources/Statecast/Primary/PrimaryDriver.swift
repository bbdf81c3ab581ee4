package import Logging
import Metrics
import StatecastJournal
package import StatecastProtocol

/// The synchronous part of a primary's node: passes what arrives to the stores, lets them take turns, publishes, and
/// reads the access list again. Used on one thread only: the loop of a node, or a simulation.
package final class PrimaryDriver {
    private let configuration: PrimaryConfiguration
    private let access: AccessControl?
    private let environment: any StoreEnvironment
    private let logger: Logger
    private let setTimer: (Instant?) -> Void
    private let wake: @Sendable () -> Void
    private var sockets: PrimarySockets?
    /// `nil` while it does not serve.
    private var stores: HostedStores?
    /// Of a node that shares its journals with other nodes.
    private var failover: FailoverDriver?
    /// Whether messages were dropped since the connections were made: their peers do not send them again by themselves.
    private var hasDropped = false
    /// The sockets whose connections have to be closed after the access list was read again.
    private let refreshes: EventQueue<[AccessControl.SocketRole]>
    private var nextRefresh: Instant?
    private var isRefreshing = false
    /// Whether the list has to be read again after the present refresh.
    private var isReloadDue = false

    /// The bounds of the actions that are received between two turns.
    private static let maxFramesPerTurn = 512
    private static let maxBytesPerTurn = 4 << 20
    /// The interval at which a node with keys checks whether its access list has changed.
    private static let accessInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - access: of a node with keys.
    ///   - setTimer: lets ``tick()`` be called at an instant, instead of the one set before; `nil`: never.
    ///   - wake: lets ``turn()`` be called soon; from any thread.
    package init(
        _ configuration: PrimaryConfiguration,
        _ access: AccessControl?,
        environment: any StoreEnvironment,
        logger: Logger,
        setTimer: @escaping (Instant?) -> Void,
        wake: @escaping @Sendable () -> Void
    ) {
        (self.configuration, self.access, self.environment) = (configuration, access, environment)
        (self.logger, self.setTimer, self.wake) = (logger, setTimer, wake)
        refreshes = EventQueue(wake: wake)
    }

    /// Stands by until this node leads, then serves the stores. Until then, what arrives is received and dropped:
    /// libzmq would keep each subscription that is not read.
    ///
    /// - Parameters:
    ///   - standbys: in the order of their names.
    ///   - onLead: called when it serves.
    ///   - onFailure: called when the node has to end.
    package func standBy(
        _ standbys: [any StandbyStore],
        on sockets: PrimarySockets,
        actionsEndpoint: String,
        turnBudget: TurnBudget,
        onLead: @escaping () -> Void,
        onFailure: @escaping (StatecastError) -> Void
    ) {
        self.sockets = sockets
        let settings = LeaderSettings(leaseTime: configuration.leaseTime)
        failover = FailoverDriver(
            standbys,
            settings,
            endpoint: actionsEndpoint,
            environment: environment,
            logger: logger,
            wake: wake
        ) { [weak self] step in
            guard let self else { return }
            switch step {
            case .lead(let recovered):
                serve(
                    recovered,
                    on: sockets,
                    actionsEndpoint: actionsEndpoint,
                    turnBudget: turnBudget,
                    onFailure: onFailure
                )
                onLead()
            case .renew: stores?.renewLease()
            case .end(let error): onFailure(error)
            }
        }
        scheduleRefresh()
        tick()
    }

    /// Serves recovered stores.
    ///
    /// - Parameters:
    ///   - actionsEndpoint: what the primary advertises to senders.
    ///   - turnBudget: what a store does in a turn.
    ///   - onFailure: called when a store, and therefore the primary, has failed.
    package func serve(
        _ recovered: [any StartableStore],
        on sockets: PrimarySockets,
        actionsEndpoint: String,
        turnBudget: TurnBudget,
        onFailure: @escaping (StatecastError) -> Void
    ) {
        var services = NodeServices(
            limits: configuration.limits,
            actionsEndpoint: actionsEndpoint,
            environment: environment,
            journalPolicy: configuration.journal,
            turnBudget: turnBudget,
            publish: { [weak sockets] store, message in sockets?.publish(message, of: store) },
            fail: onFailure,
            wake: wake
        )
        (services.listsPeers, services.publishedLists) = (configuration.peers, sockets.publishedLists)
        if let failover { services.onLease = failover.onLease }
        self.sockets = sockets
        sockets.onDisconnect = { [weak self] in self?.stores?.disconnected(replicasOf: $0, sendersOf: $1) }
        stores = HostedStores(recovered, on: services) { [logger] in Self.count($0, logger) }
        stores?.begin()
        scheduleRefresh()
        tick()
    }

    private func scheduleRefresh() {
        if access != nil { nextRefresh = environment.now.advanced(by: Self.accessInterval) }
    }

    /// Reduces the requests of the own process if the disk has room, gives up shared journals, closes the sockets, and
    /// ends all effects. Blocks.
    ///
    /// - Returns: why shared journals could not be given up: the outcome of actions may be unknown.
    @discardableResult
    package func stop() -> StatecastError? {
        var failure: StatecastError?
        if let failover, let stores {
            if failover.turn() {
                stores.finish()
                failure = failover.resign { heir throws(JournalFailure) in try stores.resign(to: heir) }
            }
            stores.abandon(because: JournalFailure(.fenced, "the node has ended"))
        } else {
            stores?.finish()
        }
        let ended = failover
        (sockets, nextRefresh, failover) = (nil, nil, nil)
        stores?.end()
        stores = nil
        ended?.close()
        return failure
    }

    /// Whether the node serves now. One that shares its journals asks before each step, since it may have been
    /// suspended.
    private func leads() -> Bool {
        guard let failover else { return stores != nil }
        guard failover.turn(), stores != nil else { return false }
        if hasDropped {
            hasDropped = false
            sockets?.closeConnections(because: "this node leads now")
        }
        return true
    }

    /// The position of a store; `nil` if it is not served.
    package func position(of store: StoreName) -> Position? { stores?.position(of: store) }

    /// The peers of a store; `nil` if they are not listed.
    package func peers(of store: StoreName) -> Peers? { stores?.peers(of: store) }

    /// What operators see of the node.
    func sample() -> NodeReport {
        let gauges = failover?.gauges ?? [:]
        guard let stores else { return PrimaryPhase.standby.report([], gauges) }
        let isConfirmed = failover?.isLeading ?? true
        return (isConfirmed ? PrimaryPhase.serving : .unconfirmed).report(stores.sample(), gauges)
    }

    /// A queue or table of a store that is beyond its limit, which only a fault can cause.
    package var exceededLimit: String? { stores?.exceededLimit }

    func closeConnections(because reason: String) { sockets?.closeConnections(because: reason) }

    // MARK: Events

    /// Subscriptions have arrived.
    package func receiveSubscriptions() {
        guard leads(), let sockets, let stores else { return drop() }
        sockets.receiveSubscriptions(stores)
        turn()
    }

    /// Actions have arrived.
    package func receiveActions() {
        guard leads(), let sockets, let stores else { return drop() }
        // Further frames wait in the socket, then in their senders' outboxes.
        guard stores.takesFrames else { return sockets.takesActions = false }
        var bytes = 0
        for _ in 0..<Self.maxFramesPerTurn where stores.takesFrames {
            guard bytes < Self.maxBytesPerTurn, let next = sockets.nextActions() else { break }
            bytes += next.bytes.count
            stores.receivedActions(next.bytes) { store throws(Rejection) in
                try access?.sender(next.user, to: store)
            }
        }
        turn()
    }

    private func drop() {
        guard let sockets else { return }
        hasDropped = true
        sockets.drop(maxActions: Self.maxFramesPerTurn)
        setTimer(failover?.nextDeadline)
    }

    /// Handles deadlines.
    package func tick() {
        failover?.tick()
        if let nextRefresh, environment.now >= nextRefresh { refreshAccess(always: false) }
        if leads() { stores?.tick() }
        turn()
    }

    /// Lets each store take a turn.
    package func turn() {
        let leads = leads()
        if isRefreshing { refreshes.dequeueAll().forEach(refreshed) }
        var next = nextRefresh
        if leads, let stores {
            next = [stores.turn(), next].compactMap(\.self).min()
            if stores.takesFrames { sockets?.takesActions = true }
        }
        setTimer([failover?.nextDeadline, next].compactMap(\.self).min())
    }

    /// Counts a message that was not passed to a store.
    static func count(_ code: Rejection.Code, _ logger: Logger) {
        NodeMetric.primaryMessagesDropped.counter([("code", code.rawValue)]).increment()
        logger.debug("message dropped", metadata: ["code": "\(code)"])
    }

    // MARK: Access

    /// Reads the access list, on another thread.
    ///
    /// - Parameter always: also if it seems not to have changed.
    package func refreshAccess(always: Bool) {
        guard sockets != nil, let access else { return }
        guard !isRefreshing else { return isReloadDue = isReloadDue || always }
        (isRefreshing, isReloadDue, nextRefresh) = (true, false, nil)
        environment.startInBackground { [refreshes] in refreshes.append(access.refresh(always: always)) }
    }

    private func refreshed(_ narrowed: [AccessControl.SocketRole]) {
        isRefreshing = false
        for role in narrowed {
            sockets?.closeConnections(role, because: "the access list permits a peer less than before")
        }
        if isReloadDue { return refreshAccess(always: true) }
        scheduleRefresh()
    }
}
