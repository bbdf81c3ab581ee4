public import Logging
import Metrics
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
public actor PrimaryNode: Service {
    private let loop: PollLoop
    private let configuration: PrimaryConfiguration
    private let logger: Logger
    private let clock = NodeClock()
    private let definitions = Locked(Definitions())

    /// The node runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var sockets: PrimarySockets?
    /// `nil` while the node does not serve.
    private var stores: HostedStores?
    private var timer: DeadlineTimer?
    /// Of a node with keys, while it serves.
    private var access: (control: AccessControl, timer: DeadlineTimer)?
    /// While the node serves.
    private var resources: ResourceWatch?
    private var isRefreshingAccess = false
    /// Whether the list has to be read again after the present refresh.
    private var isAccessReloadDue = false
    /// Whether the node has bound its endpoints before.
    private var hasBound = false
    private var isStarting = false
    private var hasRun = false
    private var termination = Termination()
    /// The bound endpoints, or the start failure; `nil` before the start.
    private nonisolated let bound = Monitor<Result<PrimaryAddress, StatecastError>?>(nil)

    private struct Definitions {
        var stores: [any StoreDefinition] = []
        /// Whether the node has started or was released, so that no store can be added.
        var areComplete = false
    }

    /// The bounds of the actions that are received between two turns.
    private static let maxFramesPerTurn = 512
    private static let maxBytesPerTurn = 4 << 20

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
                let stores = definitions.stores.map { "\($0.name)" }.joined(separator: " and ")
                return definitions.areComplete ? nil : "primary of store \(stores)"
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
            throw StatecastError(
                .closed,
                "run() was called before, and works once for a node and its primaries: create another primary"
            )
        }
        hasRun = true
        do throws(StatecastError) { try await start() } catch {
            stop(because: error)
            // Cancelled while it started.
            guard error.code != .closed else { return }
            throw error
        }
        let failure = await termination.wait()
        stop(because: failure ?? Self.stopped)
        if let failure { throw failure }
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
        if let address = sockets?.address { return address }
        guard !isStarting else { throw StatecastError(.closed, "the primary starts already") }
        isStarting = true
        defer { isStarting = false }
        definitions.withLock { $0.areComplete = true }
        let termination = Termination()
        self.termination = termination
        bound.change { $0 = nil }
        // Before the recovery, which may take long.
        let actions = definitions.withLock {
            Dictionary(uniqueKeysWithValues: $0.stores.map { ($0.name, $0.actionNames) })
        }
        let feeds = try configuration.feeds(of: Set(actions.keys))
        let control = try configuration.security.map { security throws(StatecastError) in
            try AccessControl(security, stores: actions, feeds: feeds.map(\.stores), clock: clock, logger: logger)
        }
        let recovered = try await recovered()
        do throws(StatecastError) {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully, !termination.hasEnded else { throw Self.stopped }
            return try bindAndServe(recovered, feeds, control)
        } catch {
            for store in recovered { store.abandon() }
            throw error
        }
    }

    /// Recovers the stores, off the loop.
    private func recovered() async throws(StatecastError) -> [any StartableStore] {
        let (definitions, limits, time) = (definitions.withLock { $0.stores }, configuration.limits, clock.time)
        return try await Threads.runBlocking { () throws(StatecastError) in
            var recovered: [any StartableStore] = []
            do throws(StatecastError) {
                var generator = SystemRandom()
                for definition in definitions {
                    let lineage = Lineage(using: &generator)
                    recovered.append(try definition.recover(limits: limits, time: time, lineage: lineage))
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
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        let advertised = try configuration.advertiseActions.map { text throws(StatecastError) in
            try EndpointPolicy.bindable(text, .trustedNetwork, isEncrypted: false)
        }
        let sockets = try PrimarySockets(
            configuration,
            feeds,
            control,
            on: loop,
            clock: clock,
            logger: logger,
            .init(
                onSubscriptions: { [weak self] in self?.assumeIsolated { $0.drainSubscriptions() } },
                onActions: { [weak self] in self?.assumeIsolated { $0.drainActions() } },
                onDrop: { [weak self] code in self?.assumeIsolated { $0.count(code) } }
            ),
            bind: bind
        )
        hasBound = true
        self.sockets = sockets
        host(recovered, advertised?.description ?? sockets.address.actions)
        timer = loop.timer { [weak self] in self?.assumeIsolated { $0.tick() } }
        if let control {
            access = (control, loop.timer { [weak self] in self?.assumeIsolated { $0.refreshAccess() } })
            setAccessTimer()
        }
        resources = ResourceWatch(
            maxMemory: configuration.maxMemory,
            on: loop,
            clock: clock,
            logger,
            peers: { control?.connectionCounts ?? [:] },
            closeConnections: { [weak self] reason in
                self?.assumeIsolated { $0.sockets?.closeConnections(because: reason) }
            }
        )
        stores?.begin()
        tick()
        bound.change { $0 = .success(sockets.address) }
        logger.info("serving", metadata: sockets.address.metadata)
        return sockets.address
    }

    /// The head of a store; `nil` if the node does not serve it.
    func head(of store: StoreName) -> Revision? { position(of: store)?.revision }

    /// The position of a store; `nil` if the node does not serve it.
    func position(of store: StoreName) -> Position? { stores?.position(of: store) }

    /// Closes the sockets and ends all effects.
    ///
    /// Actions that were dispatched or accepted before are reduced. Senders send actions in flight again, to the next
    /// primary.
    package func stop() { stop(because: Self.stopped) }

    private static var stopped: StatecastError { StatecastError(.closed, "the primary was stopped") }

    private func stop(because reason: StatecastError) {
        termination.end()
        bound.change { $0 = .failure(reason) }
        stores?.finish()
        sockets = nil
        timer = nil
        access = nil
        resources = nil
        stores?.end()
        stores = nil
        for definition in definitions.withLock({ $0.stores }) { definition.end() }
    }

    // MARK: Sockets

    /// The time that libzmq has to release an endpoint of this node, and the interval of the attempts. A release takes
    /// milliseconds.
    private static let maxReleaseTime = Duration.milliseconds(500)
    private static let releaseCheckInterval = Duration.milliseconds(2)

    /// Binds. libzmq closes sockets in the background, and releases endpoints that this node has bound before with a
    /// delay. Blocking is harmless: the loop has no other work before it is bound.
    private func bind(_ socket: borrowing Socket, to endpoint: Endpoint) throws(ZeroMQError) -> Endpoint {
        let deadline = clock.now.advanced(by: Self.maxReleaseTime)
        while true {
            do throws(ZeroMQError) { return try socket.bind(endpoint) } catch {
                guard hasBound, error.code == .addressInUse, clock.now < deadline else { throw error }
                clock.sleep(for: Self.releaseCheckInterval)
            }
        }
    }

    private func host(_ recovered: [any StartableStore], _ actionsEndpoint: String) {
        let trigger = loop.makeTrigger { [weak self] in self?.assumeIsolated { $0.turn() } }
        let services = NodeServices(
            limits: configuration.limits,
            actionsEndpoint: actionsEndpoint,
            environment: ThreadedEnvironment(clock: clock),
            journalPolicy: configuration.journal,
            turnBudget: .ofNode(stores: recovered.count),
            publish: { [weak self] store, message in self?.assumeIsolated { $0.publish(message, of: store) } },
            fail: { [termination] in termination.end($0) },
            wake: { trigger.fire() }
        )
        stores = HostedStores(recovered, on: services) { [weak self] code in self?.assumeIsolated { $0.count(code) } }
    }

    private func drainSubscriptions() {
        guard let sockets, let stores else { return }
        sockets.receiveSubscriptions(stores)
        turn()
    }

    private func drainActions() {
        guard let sockets, let stores else { return }
        // Further frames wait in the socket, then in their senders' outboxes.
        guard stores.takesFrames else { return sockets.takesActions = false }
        var bytes = 0
        for _ in 0..<Self.maxFramesPerTurn where stores.takesFrames {
            guard bytes < Self.maxBytesPerTurn, let next = sockets.nextActions() else { break }
            bytes += next.message.count
            stores.receivedActions(next.message) { store throws(Rejection) in
                try sockets.sender(next.peer, to: store)
            }
        }
        turn()
    }

    private func publish(_ message: [UInt8], of store: StoreName?) { sockets?.publish(message, of: store) }

    // MARK: Access

    /// The interval at which a node with keys checks whether its access list has changed.
    private static let accessInterval = Duration.seconds(1)

    private func setAccessTimer() { access?.timer.set(clock.deadline(clock.now.advanced(by: Self.accessInterval))) }

    /// Reads the access list now, also if its file seems not to have changed. Does nothing without
    /// ``PrimaryConfiguration/security``.
    ///
    /// A list that cannot be used is logged, and the one before stays in effect. If a peer may
    /// follow less than before, or send to fewer stores, all connections of the sockets concerned are closed; peers
    /// connect again, if they may.
    public func reloadAccessList() { refreshAccess(always: true) }

    private func refreshAccess(always: Bool = false) {
        guard let control = access?.control else { return }
        guard !isRefreshingAccess else { return isAccessReloadDue = isAccessReloadDue || always }
        (isRefreshingAccess, isAccessReloadDue) = (true, false)
        let executor = LoopTaskExecutor(on: loop)
        // On a thread of its own: a right must end also while other code occupies Swift's pool.
        Threads.startInBackground { [weak self] in
            let narrowed = control.refresh(always: always)
            Task(executorPreference: executor) { await self?.accessChanged(narrowed, by: control) }
        }
    }

    private func accessChanged(_ narrowed: Set<AccessControl.SocketRole>, by control: AccessControl) {
        isRefreshingAccess = false
        guard let access else { return }
        // The node may have been started again meanwhile, with a list that it has just read.
        for role in narrowed where access.control === control {
            sockets?.closeConnections(role, because: "the access list permits a peer less than before")
        }
        if isAccessReloadDue { refreshAccess(always: true) } else { setAccessTimer() }
    }

    // MARK: Turns

    private func tick() {
        stores?.tick()
        turn()
    }

    private func turn() {
        guard let stores else { return }
        let next = stores.turn()
        if stores.takesFrames { sockets?.takesActions = true }
        timer?.set(next.map(clock.deadline))
    }

    /// Counts a message that was not passed to a store.
    private func count(_ code: Rejection.Code) {
        Counter(label: "statecast_primary_messages_dropped_total", dimensions: [("code", code.rawValue)]).increment()
        logger.debug("message dropped", metadata: ["code": "\(code)"])
    }
}
