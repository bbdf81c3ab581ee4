public import Logging
internal import Metrics
public import ServiceLifecycle
internal import SyncProtocol
internal import Threading
internal import ZeroMQ

/// The process side of one or more primaries: one pair of sockets, one loop, any number of stores.
///
/// A ``Primary`` creates a node of its own. Create one explicitly to share it among several stores.
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

    private var sockets: Sockets?
    private var stores: [StoreName: any RunningStore] = [:]
    private var router = FrameRouter(stores: [])
    private var timer: DeadlineTimer?
    /// Whether the node has bound its endpoints before.
    private var hasBound = false
    private var isStarting = false
    private var hasRun = false
    private var termination = Termination()
    /// The bound endpoints, or the start failure; `nil` before the start.
    private nonisolated let bound = Monitor<Result<PrimaryAddress, StatecastError>?>(nil)

    private struct Definitions {
        var stores: [any StoreDefinition] = []
        /// Whether the node has started, so that no store can be added.
        var areComplete = false
    }

    /// The bounds of the actions that are received between two turns.
    private static let framesPerTurnMax = 512
    private static let bytesPerTurnMax = 4 << 20

    /// The bound sockets.
    private final class Sockets {
        let publisher: Publisher
        let puller: Socket
        let address: PrimaryAddress
        /// Of the puller; off while no store takes more frames.
        let actions: Watch

        init(publisher: Publisher, puller: consuming Socket, actions: Watch, address: PrimaryAddress) {
            self.publisher = publisher
            self.puller = puller
            self.actions = actions
            self.address = address
        }
    }

    /// Creates a node; nothing is bound before the start.
    ///
    /// - Throws: ``StatecastError`` if the system cannot start one more thread.
    public init(
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary")
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-primary", busyPollingMax: configuration.busyPollingMax) } catch {
            throw StatecastError(error)
        }
        self.configuration = configuration
        self.logger = logger
    }

    deinit { loop.shutdown() }

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

    /// Recovers the stores from their journals, binds both endpoints, and serves until the task is cancelled or the
    /// service group shuts down. Then it reduces the actions that were dispatched before, closes the sockets, and ends
    /// all effects.
    ///
    /// A shutdown or cancellation during the recovery takes effect when the recovery is complete, before the endpoints
    /// are bound.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure`, `resources` or `journal`: one line that says what
    ///   is wrong and what to do. Code `journal` also reports, later, a journal that cannot be written any more. Code
    ///   `closed`: `run()` was called before.
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

    /// Recovers the stores from their journals, binds both endpoints and begins to serve.
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
        let recovered = try await recovered()
        do throws(StatecastError) {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully, !termination.hasEnded else { throw Self.stopped }
            return try bindAndServe(recovered)
        } catch {
            for store in recovered { store.abandon() }
            throw error
        }
    }

    /// Recovers the stores, off the loop.
    private func recovered() async throws(StatecastError) -> [any StartableStore] {
        let (definitions, limits, time) = (definitions.withLock { $0.stores }, configuration.limits, clock.time)
        return try await BlockingWork.run { () throws(StatecastError) in
            var recovered: [any StartableStore] = []
            do throws(StatecastError) {
                for definition in definitions { recovered.append(try definition.recover(limits: limits, time: time)) }
            } catch {
                for store in recovered { store.abandon() }
                throw error
            }
            return recovered
        }
    }

    private func bindAndServe(_ recovered: [any StartableStore]) throws(StatecastError) -> PrimaryAddress {
        let publish = try EndpointPolicy.bindable(configuration.publish, configuration.plaintext)
        let actions = try EndpointPolicy.bindable(configuration.actions, configuration.plaintext)
        let advertised = try configuration.advertiseActions.map { text throws(StatecastError) in
            try EndpointPolicy.bindable(text, .trustedNetwork)
        }
        do throws(ZeroMQError) {
            let publisher = try Socket(.xpub, options: .publisher(configuration))
            let puller = try Socket(.pull, options: .puller(configuration.limits))
            let boundActions = try bind(puller, to: actions)
            let boundPublish = try bind(publisher, to: publish)
            hasBound = true
            host(recovered, (advertised ?? boundActions).description)
            let address = PrimaryAddress(publish: boundPublish.description, actions: boundActions.description)
            let down = Publisher(
                publisher,
                at: boundPublish,
                configuration,
                on: loop,
                clock: clock,
                logger: logger
            ) { [weak self] in self?.assumeIsolated { $0.drainSubscriptions() } }
            let watch = loop.watch(puller) { [weak self] in self?.assumeIsolated { $0.drainActions() } }
            sockets = Sockets(publisher: down, puller: puller, actions: watch, address: address)
            timer = loop.timer { [weak self] in self?.assumeIsolated { $0.tick() } }
            for store in stores.values { store.begin() }
            tick()
            bound.change { $0 = .success(address) }
            return address
        } catch {
            throw StatecastError(error)
        }
    }

    /// The head of a store; `nil` if the node does not serve it.
    func head(of store: StoreName) -> Revision? { stores[store]?.position.revision }

    /// The position of a store; `nil` if the node does not serve it.
    func position(of store: StoreName) -> Position? { stores[store]?.position }

    /// Closes the sockets and ends all effects.
    ///
    /// Actions that were dispatched or accepted before are reduced. Senders send actions in flight again, to the next
    /// primary.
    package func stop() { stop(because: Self.stopped) }

    private static var stopped: StatecastError { StatecastError(.closed, "the primary was stopped") }

    private func stop(because reason: StatecastError) {
        termination.end()
        bound.change { $0 = .failure(reason) }
        for store in stores.values { store.finish() }
        sockets = nil
        timer = nil
        for store in stores.values { store.end() }
        stores = [:]
        for definition in definitions.withLock({ $0.stores }) { definition.end() }
    }

    // MARK: Sockets

    /// The time that libzmq has to release an endpoint of this node, and the interval of the attempts. A release takes
    /// milliseconds.
    private static let releaseTimeMax = Duration.milliseconds(500)
    private static let releaseCheckInterval = Duration.milliseconds(2)

    /// Binds. libzmq closes sockets in the background, and releases endpoints that this node has bound before with a
    /// delay. Blocking is harmless: the loop has no other work before it is bound.
    private func bind(_ socket: borrowing Socket, to endpoint: Endpoint) throws(ZeroMQError) -> Endpoint {
        let deadline = clock.now.advanced(by: Self.releaseTimeMax)
        while true {
            do throws(ZeroMQError) { return try socket.bind(endpoint) } catch {
                guard hasBound, error.code == .addressInUse, clock.now < deadline else { throw error }
                clock.sleep(for: Self.releaseCheckInterval)
            }
        }
    }

    private func host(_ recovered: [any StartableStore], _ actionsEndpoint: String) {
        let bell = loop.doorbell { [weak self] in self?.assumeIsolated { $0.turn() } }
        let services = NodeServices(
            limits: configuration.limits,
            actionsEndpoint: actionsEndpoint,
            clock: clock,
            journalPolicy: configuration.journal,
            publish: { [weak self] message in self?.assumeIsolated { $0.publish(message) } },
            fail: { [termination] in termination.end($0) },
            wake: { bell.ring() }
        )
        for store in recovered { stores[store.name] = store.serve(on: services) }
        router = FrameRouter(stores: Set(stores.keys))
    }

    private func drainSubscriptions() {
        guard let sockets else { return }
        for message in sockets.publisher.receiveSubscriptions() {
            guard let flag = message.first, flag <= 1 else {
                count(.malformed)
                continue
            }
            let isBeginning = flag == 1
            switch router.subscription(message.dropFirst()) {
            case .store(let store, let topic):
                if isBeginning {
                    stores[store]?.subscribed(to: topic)
                } else {
                    stores[store]?.unsubscribed(from: topic)
                }
            case .answer(let refusal, let address):
                guard isBeginning else { continue }
                count(refusal.reason.code)
                publish(Message.encode(.refusal(refusal), to: address))
            case .drop(let code):
                if isBeginning { count(code) }
            }
        }
        turn()
    }

    private func drainActions() {
        guard let sockets else { return }
        // Further frames wait in the socket, then in their senders' outboxes.
        guard takesFrames else { return sockets.actions.wantsReadable = false }
        var bytes = 0
        for _ in 0..<Self.framesPerTurnMax where takesFrames {
            guard bytes < Self.bytesPerTurnMax, let message = sockets.puller.next(logger) else { break }
            bytes += message.count
            guard message.count <= configuration.limits.frameBytesMax else {
                count(.tooLarge)
                continue
            }
            switch router.actions(message) {
            case .store(let store, let frame): stores[store]?.received(frame)
            case .answer(let refusal, let address):
                count(refusal.reason.code)
                publish(Message.encode(.refusal(refusal), to: address))
            case .drop(let code): count(code)
            }
        }
        turn()
    }

    /// Whether frames are received: a store takes more, and no store has too many that it can reduce. Those for a store
    /// whose journal has no room are received, too, since they must not stop the others.
    private var takesFrames: Bool {
        stores.values.contains { $0.wantsFrames } && !stores.values.contains { $0.isBehind }
    }

    private func publish(_ message: [UInt8]) { sockets?.publisher.send(message) }

    // MARK: Turns

    private func tick() {
        for store in stores.values { store.tick() }
        turn()
    }

    /// Lets each store take a turn. A store with more work takes the next one after the sockets were polled.
    private func turn() {
        for store in stores.values { store.turn() }
        if takesFrames { sockets?.actions.wantsReadable = true }
        let hasWork = stores.values.contains { $0.hasWork }
        let next = hasWork ? clock.now : stores.values.map(\.nextDeadline).min()
        timer?.set(next.map(clock.deadline))
    }

    /// Counts a message that was not passed to a store.
    private func count(_ code: Rejection.Code) {
        Counter(label: "statecast_primary_messages_dropped_total", dimensions: [("code", code.rawValue)]).increment()
        logger.debug("message dropped", metadata: ["code": "\(code)"])
    }
}
