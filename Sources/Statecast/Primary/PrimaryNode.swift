public import Logging
public import ServiceLifecycle
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// The process side of one or more primaries: one set of sockets, one loop, any number of stores.
///
/// A ``Primary`` creates a node of its own. Create one explicitly to share it among several stores. Give stores that
/// different users may follow different endpoints: see ``PrimaryConfiguration/storeEndpoints``.
///
/// ```swift
/// let node = try PrimaryNode(configuration: PrimaryConfiguration())
/// let counter = try Primary(store: "counter", state: Counter(), actions: Counter.actions, on: node, reducer: ...)
/// let fleet = try Primary(store: "fleet", state: Fleet(), actions: Fleet.actions, on: node, reducer: ...)
/// try await node.run()
/// ```
public actor PrimaryNode: Service, MonitoredNode {
    private let loop: PollLoop
    private let configuration: PrimaryConfiguration
    private let logger: Logger
    private let clock = NodeClock()
    private nonisolated var environment: ThreadedEnvironment { ThreadedEnvironment(clock: clock) }
    private let definitions = Locked(Definitions())

    /// The node runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// `nil` while the node does not serve.
    private var driver: PrimaryDriver?
    /// While the node serves.
    private var resources: ResourceWatch?
    private var hasRun = false
    private let termination = Termination()
    /// At most a second old while the node serves.
    private nonisolated let observed = Locked(PrimaryPhase.created.report([]))
    /// The bound endpoints, or the start failure; `nil` before the start.
    private nonisolated let bound = Monitor<Result<PrimaryAddress, StatecastError>?>(nil)

    private struct Definitions {
        var stores: [any StoreDefinition] = []
        /// Whether the node has started or was released, so that no store can be added.
        var areComplete = false
    }

    /// Creates a node; nothing is bound before the start.
    ///
    /// - Throws: ``StatecastError`` if the system cannot start one more thread.
    public init(
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary")
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-primary", maxBusyPolling: configuration.maxBusyPolling) } catch {
            throw StatecastError(error)
        }
        self.configuration = configuration
        self.logger = logger
        RunReminder.schedule(logger) { [definitions] in
            definitions.withLock { definitions in
                // A large store may still be encoded.
                if definitions.areComplete || definitions.stores.isEmpty { return nil }
                return "primary of store " + definitions.stores.map { "\($0.name)" }.joined(separator: " and ")
            }
        }
    }

    deinit {
        loop.shutdown()
        definitions.withLock { $0.areComplete = true }
    }

    /// Adds a store, before the node runs.
    nonisolated func add(_ definition: some StoreDefinition) throws(StatecastError) {
        try definitions.withLock { definitions throws(StatecastError) in
            guard !definition.name.isOfPeers else {
                throw StatecastError(
                    .definition,
                    "the name \"\(definition.name)\" is that of a list of peers: end it with something else than "
                        + StoreName.suffixOfPeers
                )
            }
            guard !definitions.areComplete else {
                throw StatecastError(
                    .definition,
                    "the node runs already: define the store \"\(definition.name)\" before run() of its node"
                )
            }
            guard !definitions.stores.contains(where: { $0.name == definition.name }) else {
                throw StatecastError(.definition, "the node already serves a store named \"\(definition.name)\"")
            }
            definitions.stores.append(definition)
        }
    }

    /// Recovers the stores from their journals, binds the endpoints, and serves until the task is cancelled or the
    /// service group shuts down. Then it reduces the actions that were dispatched before, closes the sockets, and ends
    /// all effects.
    ///
    /// The end waits for the journal's commit in progress, on a disk that hangs without a limit (docs/JOURNAL.md): the
    /// outcome of its actions is unknown before, and no other primary may open the journal.
    ///
    /// A shutdown or cancellation during the recovery takes effect when the recovery is complete, before the endpoints
    /// are bound.
    ///
    /// - Throws: ``StatecastError`` with code `definition`, `endpoint`, `insecure`, `keys`, `resources` or `journal`: a
    ///   line that says what is wrong and what to do. Code `journal` also reports, later, a journal that cannot be
    ///   written any more. Code `closed`: `run()` was called before.
    public func run() async throws(StatecastError) {
        guard !hasRun else {
            throw StatecastError(.closed, "run() was called before, and works once: create another node or primary")
        }
        hasRun = true
        do throws(StatecastError) { try await start() } catch {
            _ = stop(because: error)
            // Cancelled while it started.
            guard error.code != .closed else { return }
            throw error
        }
        let failure = await termination.wait()
        let unresigned = stop(because: failure ?? Self.stopped)
        if let failure = failure ?? unresigned { throw failure }
    }

    /// The bound endpoints, with their ports. Waits until the node serves.
    ///
    /// - Throws: the error of ``run()`` if the node cannot start; ``StatecastError`` with code `closed` if it has
    ///   stopped; `CancellationError`.
    public nonisolated var address: PrimaryAddress {
        get async throws { try await bound.wait { $0 }.get() }
    }

    /// Recovers the stores from their journals, binds the endpoints and begins to serve.
    @discardableResult
    package func start() async throws(StatecastError) -> PrimaryAddress {
        if driver != nil, let address = bound.value { return try address.get() }
        guard !termination.hasEnded else { throw Self.stopped }
        definitions.withLock { $0.areComplete = true }
        // Before the recovery, which may take long.
        let actions = definitions.withLock {
            Dictionary(uniqueKeysWithValues: $0.stores.map { ($0.name, $0.actionNames) })
        }
        let stores = Set(actions.keys)
        let feeds = try configuration.feeds(of: stores.union(configuration.peerStores(of: stores)))
        let control = try configuration.security.map { security throws(StatecastError) in
            AccessControl(
                try AccessFile(readingFileAt: security.accessList, fault: AccessFile.faultOfPrimary),
                stores: actions,
                feeds: feeds.map(\.stores),
                environment: environment,
                logger: logger
            )
        }
        if let standbys = try standbys() {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully, !termination.hasEnded else { throw Self.stopped }
            return try bindAndStandBy(standbys, feeds, control)
        }
        observed.withLock { $0 = PrimaryPhase.recovering.report([]) }
        let recovered = try await recovered()
        do throws(StatecastError) {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully, !termination.hasEnded else { throw Self.stopped }
            return try bindAndServe(recovered, feeds, control)
        } catch {
            for store in recovered { store.abandon() }
            throw error
        }
    }

    /// The stores whose journals are shared with other nodes; `nil` if none is.
    private func standbys() throws(StatecastError) -> [any StandbyStore]? {
        let definitions = definitions.withLock { $0.stores.sorted { $0.name < $1.name } }
        let standbys = definitions.compactMap { $0.standby(limits: configuration.limits) }
        guard let first = standbys.first else { return nil }
        let other = definitions.first { definition in !standbys.contains { $0.name == definition.name } }
        guard other == nil, standbys.allSatisfy({ $0.database === first.database }) else {
            throw StatecastError(
                .definition,
                "the stores of a node have their journals in one shared database, or none has: give the store "
                    + "\"\(other?.name ?? first.name)\" a node of its own"
            )
        }
        return standbys
    }

    /// Recovers the stores, off the loop.
    private func recovered() async throws(StatecastError) -> [any StartableStore] {
        let (definitions, limits) = (definitions.withLock { $0.stores }, configuration.limits)
        let (environment, time) = (environment, clock.time)
        let onProgress: RecoveryProgress = { [observed] progress in
            observed.withLock { report in
                let others = report.stores.filter { $0.store != progress.store }
                report = PrimaryPhase.recovering.report(others + [progress])
                report.recordGauges()
            }
        }
        return try await Threads.runBlocking { () throws(StatecastError) in
            var recovered: [any StartableStore] = []
            do throws(StatecastError) {
                var generator = EnvironmentRandom(environment: environment)
                for definition in definitions {
                    let lineage = Lineage(using: &generator)
                    recovered.append(try definition.recover(limits: limits, time: time, lineage: lineage, onProgress))
                }
            } catch {
                for store in recovered { store.abandon() }
                throw error
            }
            return recovered
        }
    }

    private func bindAndServe(
        _ recovered: [any StartableStore],
        _ feeds: [PrimaryConfiguration.Feed],
        _ control: AccessControl?
    ) throws(StatecastError) -> PrimaryAddress {
        try bind(feeds, control) { driver, sockets, actionsEndpoint in
            driver.serve(
                recovered,
                on: sockets,
                actionsEndpoint: actionsEndpoint,
                turnBudget: .ofNode(stores: recovered.count),
                onFailure: { [termination] in termination.end($0) }
            )
            serves(at: sockets.address)
        }
    }

    private func bindAndStandBy(
        _ standbys: [any StandbyStore],
        _ feeds: [PrimaryConfiguration.Feed],
        _ control: AccessControl?
    ) throws(StatecastError) -> PrimaryAddress {
        let advertised = configuration.advertiseActions ?? configuration.actions
        // A sender would take the host of one of the nodes that it is connected to.
        guard try !EndpointPolicy.bindable(advertised, .trustedNetwork, isEncrypted: false).isWildcardHost else {
            throw StatecastError(
                .endpoint,
                "senders cannot reach \(advertised) at one of several nodes: name the host of this one with "
                    + "advertiseActions (--advertise-actions)"
            )
        }
        return try bind(feeds, control) { driver, sockets, actionsEndpoint in
            driver.standBy(
                standbys,
                on: sockets,
                actionsEndpoint: actionsEndpoint,
                turnBudget: .ofNode(stores: standbys.count),
                onLead: { [weak self, address = sockets.address] in self?.assumeIsolated { $0.serves(at: address) } },
                onFailure: { [termination] in termination.end($0) }
            )
        }
    }

    private func serves(at address: PrimaryAddress) {
        bound.change { $0 = .success(address) }
        logger.info("serving", metadata: address.metadata)
    }

    private func bind(
        _ feeds: [PrimaryConfiguration.Feed],
        _ control: AccessControl?,
        _ begin: (PrimaryDriver, PrimarySockets, _ actionsEndpoint: String) -> Void
    ) throws(StatecastError) -> PrimaryAddress {
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        let advertised = try configuration.advertiseActions.map { text throws(StatecastError) in
            try EndpointPolicy.bindable(text, .trustedNetwork, isEncrypted: false)
        }
        let timer = loop.timer { [weak self] in self?.assumeIsolated { $0.driver?.tick() } }
        let trigger = loop.makeTrigger { [weak self] in self?.assumeIsolated { $0.driver?.turn() } }
        let driver = PrimaryDriver(
            configuration,
            control,
            environment: environment,
            logger: logger,
            setTimer: { [clock] in timer.set($0.map(clock.deadline)) },
            wake: { trigger.fire() }
        )
        let sockets = try bindSockets(feeds, control, driver)
        self.driver = driver
        begin(driver, sockets, advertised?.description ?? sockets.address.actions)
        resources = ResourceWatch(
            maxMemory: configuration.maxMemory,
            on: loop,
            clock: clock,
            logger,
            peers: { control?.connectionCounts ?? [:] },
            closeConnections: { [weak driver] in driver?.closeConnections(because: $0) },
            sample: { [weak driver, observed] in
                guard let report = driver?.sample() else { return }
                report.recordGauges()
                observed.withLock { $0 = report }
            }
        )
        return sockets.address
    }

    /// Binds the sockets of libzmq.
    private func bindSockets(
        _ feeds: [PrimaryConfiguration.Feed],
        _ control: AccessControl?,
        _ driver: PrimaryDriver
    ) throws(StatecastError) -> PrimarySockets {
        let services = RenewableSocket.Services(loop: loop, clock: clock, logger: logger)
        let (configuration, keys) = (configuration, configuration.security?.keys)
        let actions = try configuration.endpoint(configuration.actions)
        let receipts = control == nil ? nil : try configuration.endpoint(configuration.receipts)
        if let receipts, receipts.isLocal, let remote = feeds.first(where: { !$0.endpoint.isLocal }) {
            logger.warning(
                "senders on other machines cannot reach the endpoint for receipts",
                metadata: ["publish": "\(remote.endpoint)", "receipts": "\(receipts)"]
            )
        }
        do throws(ZeroMQError) {
            return try PrimarySockets(configuration, feeds.map(\.stores), control, logger: logger) {
                role throws(ZeroMQError) in
                let security = try keys.flatMap { keys throws(ZeroMQError) in try control?.security(of: role, keys) }
                guard role != .actions else {
                    let options = SocketOptions.puller(configuration.limits, security)
                    return try RenewableSocket(.pull, role, at: actions, options, on: services) {
                        [weak driver] in driver?.receiveActions()
                    }
                }
                guard let endpoint = feeds.first(where: { .publish($0.stores) == role })?.endpoint ?? receipts else {
                    preconditionFailure("no endpoint for \(role)")
                }
                let options = SocketOptions.publisher(configuration, security)
                return try RenewableSocket(.xpub, role, at: endpoint, options, on: services) {
                    [weak driver] in driver?.receiveSubscriptions()
                }
            }
        } catch { throw StatecastError(error) }
    }

    /// Read by probes; at most a second old.
    public nonisolated var health: NodeHealth {
        NodeHealth(on: loop) { [observed] in observed.withLock(\.self) }
    }

    /// The position of a store; `nil` if the node does not serve it.
    func position(of store: StoreName) -> Position? { driver?.position(of: store) }

    /// The peers of a store; `nil` if they are not listed.
    func peers(of store: StoreName) -> Peers? { driver?.peers(of: store) }

    /// Closes the sockets and ends all effects.
    ///
    /// Actions that were dispatched or accepted before are reduced. Senders send actions in flight again, to the next
    /// primary.
    package func stop() { _ = stop(because: Self.stopped) }

    private static var stopped: StatecastError { StatecastError(.closed, "the primary was stopped") }

    /// - Returns: why shared journals could not be given up.
    private func stop(because reason: StatecastError) -> StatecastError? {
        termination.end()
        observed.withLock { report in
            // Another node may lead soon.
            if report.gauges[.primaryLeading] != nil {
                (report.gauges[.primaryLeading], report.gauges[.primaryLeaseSeconds]) = (0, 0)
            }
            report = PrimaryPhase.stopping.report(report.stores, report.gauges)
            report.recordGauges()
        }
        bound.change { $0 = .failure(reason) }
        let failure = driver?.stop()
        (driver, resources) = (nil, nil)
        for definition in definitions.withLock({ $0.stores }) { definition.end() }
        return failure
    }

    /// Reads the access list now, also if its file seems not to have changed. Does nothing without
    /// ``PrimaryConfiguration/security``.
    ///
    /// A list that cannot be used is logged, and the one before stays in effect. If a peer may
    /// follow less than before, or send to fewer stores, all connections of the sockets concerned are closed; peers
    /// connect again, if they may.
    public func reloadAccessList() { driver?.refreshAccess(always: true) }
}
