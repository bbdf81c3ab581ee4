public import Logging
internal import Metrics
public import ServiceLifecycle
internal import SyncProtocol
internal import Synchronization
internal import ZeroMQ

/// The process side of one or more primaries: one pair of sockets, one loop, any number of stores.
///
/// A ``Primary`` makes a node of its own; make one yourself to let several stores share it.
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
    private let definitions = Mutex<[any StoreDefinition]>([])

    /// The loop's thread runs everything here.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var wires: Wires?
    private var stores: [StoreName: any HostedStore] = [:]
    private var router = FrameRouter(stores: [])
    /// Actions that wait for room in the journal of their store, while there is room in those of others.
    private var held: [StoreName: HeldFrames] = [:]
    private var timer: DeadlineTimer?
    /// Whether it held its endpoints before.
    private var hasBound = false
    /// What is being recovered, while that is so.
    private var starting: Task<PrimaryAddress, any Error>?
    /// Why it had to stop.
    private let ending = Ending()

    /// How much of the incoming actions one turn takes, and of those held for a store: what comes in meanwhile makes the
    /// next batch.
    private static let framesPerTurnMax = 512
    private static let bytesPerTurnMax = 4 << 20

    /// What exists while the node is bound.
    private final class Wires {
        let publisher: Publisher
        let puller: Socket
        let address: PrimaryAddress
        /// `nil` while no store has room for more.
        var actions: Watch?

        init(publisher: Publisher, puller: consuming Socket, address: PrimaryAddress) {
            self.publisher = publisher
            self.puller = puller
            self.address = address
        }
    }

    /// A node that has not bound anything yet.
    ///
    /// - Throws: ``StatecastError`` if the machine has no room for one more thread.
    public init(
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary")
    ) throws {
        do { loop = try PollLoop(name: "statecast-primary") } catch { throw StatecastError(error) }
        self.configuration = configuration
        self.logger = logger
    }

    deinit { loop.shutdown() }

    /// Adds a store; before the node starts.
    nonisolated func add(_ definition: some StoreDefinition) throws {
        try definitions.withLock { definitions in
            guard !definitions.contains(where: { $0.name == definition.name }) else {
                throw StatecastError(.definition, "the node already serves a store named \"\(definition.name)\"")
            }
            definitions.append(definition)
        }
    }

    /// Binds, unless that is done, and serves all stores until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `journal`: one line that says what is wrong and what
    ///   to do. The latter also later, when a journal cannot be written any more.
    public func run() async throws {
        try await start()
        let failure = await ending.wait()
        stop()
        if let failure { throw failure }
    }

    /// Recovers what the journals hold, binds both endpoints and begins to serve.
    ///
    /// - Returns: where it is bound, ports filled in.
    @discardableResult
    public func start() async throws -> PrimaryAddress {
        if let address = wires?.address { return address }
        if let starting { return try await starting.value }
        let starting = Task { try await recoverAndBind() }
        self.starting = starting
        defer { self.starting = nil }
        return try await starting.value
    }

    private func recoverAndBind() async throws -> PrimaryAddress {
        let recovered = try await recovered()
        do {
            // It may have been stopped meanwhile.
            try Task.checkCancellation()
            return try bindAndServe(recovered)
        } catch {
            for store in recovered { store.abandon() }
            throw error is CancellationError
                ? StatecastError(.closed, "the primary was stopped while it started") : error
        }
    }

    /// What the stores go on from; read where it holds up nobody.
    private func recovered() async throws -> [any HostableStore] {
        let (definitions, limits, time) = (definitions.withLock { $0 }, configuration.limits, clock.time)
        return try await BlockingWork.run {
            var recovered: [any HostableStore] = []
            do {
                for definition in definitions { recovered.append(try definition.recover(limits: limits, time: time)) }
            } catch {
                for store in recovered { store.abandon() }
                throw error
            }
            return recovered
        }
    }

    private func bindAndServe(_ recovered: [any HostableStore]) throws -> PrimaryAddress {
        let publish = try Reachability.endpoint(configuration.publish, insecure: configuration.insecure)
        let actions = try Reachability.endpoint(configuration.actions, insecure: configuration.insecure)
        let advertised = try configuration.advertiseActions.map { try Reachability.endpoint($0, insecure: true) }
        do {
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
            wires = Wires(publisher: down, puller: puller, address: address)
            watchActions()
            timer = loop.timer { [weak self] in self?.assumeIsolated { $0.tick() } }
            for store in stores.values { store.begin() }
            tick()
            return address
        } catch {
            throw StatecastError(error)
        }
    }

    /// The revision at which a store stands; `nil` if the node does not serve it.
    func head(of store: StoreName) -> Revision? { stores[store]?.head }

    /// Where a store stands; `nil` if the node does not serve it, or before the start.
    func position(of store: StoreName) -> Position? { stores[store]?.position }

    /// Closes the sockets and ends all effects.
    ///
    /// What its own process dispatched before is done, and so is what was accepted; what is on its way is resent by its
    /// sender to the next primary.
    public func stop() {
        starting?.cancel()
        for store in stores.values { store.finish() }
        wires = nil
        timer = nil
        for store in stores.values { store.end() }
        stores = [:]
        held = [:]
        for definition in definitions.withLock({ $0 }) { definition.end() }
    }

    // MARK: Sockets

    /// How long libzmq gets to give up an endpoint of this node, and how often it is asked; milliseconds are usual.
    private static let releaseTimeMax = Duration.milliseconds(500)
    private static let releaseCheckInterval = Duration.milliseconds(2)

    /// Binds. libzmq closes sockets in the background, so endpoints that this node held may be free a moment late. Waiting
    /// for that holds up nobody: the loop has nothing else to do before it is bound.
    private func bind(_ socket: borrowing Socket, to endpoint: Endpoint) throws(ZeroMQError) -> Endpoint {
        let deadline = clock.now.advanced(by: Self.releaseTimeMax)
        while true {
            do throws(ZeroMQError) { return try socket.bind(endpoint) } catch {
                guard hasBound, error.code == .addressInUse, clock.now < deadline else { throw error }
                clock.sleep(for: Self.releaseCheckInterval)
            }
        }
    }

    private func host(_ recovered: [any HostableStore], _ actionsEndpoint: String) {
        let (tasks, bell) = (
            LoopTasks(on: loop), loop.doorbell { [weak self] in self?.assumeIsolated { $0.endTurn() } }
        )
        let surroundings = StoreSurroundings(
            limits: configuration.limits,
            actionsEndpoint: actionsEndpoint,
            clock: clock,
            publish: { [weak self] store, topic, frame in
                self?.assumeIsolated { $0.publish(Message.encode(frame, to: Address(store, topic))) }
            },
            // Without a journal a record is as durable as it gets once it is made.
            commit: { [weak self] store, record in
                self?.assumeIsolated { $0.stores[store]?.committed(through: record.sequence) }
            },
            onLoop: { [weak self] store, work in
                Task.detached(executorPreference: tasks) { await self?.run(work, on: store) }
            },
            fail: { [ending] in ending.end($0) },
            journalPolicy: configuration.journal,
            encode: { [weak self] store, work in
                BlockingWork.start {
                    let snapshot = work()
                    Task.detached(executorPreference: tasks) { await self?.encoded(snapshot, for: store) }
                }
            },
            wake: { bell.ring() }
        )
        for store in recovered { stores[store.name] = store.host(in: surroundings) }
        router = FrameRouter(stores: Set(stores.keys))
    }

    private func run(_ work: (any HostedStore) -> Void, on store: StoreName) {
        guard let store = stores[store] else { return }
        work(store)
        endTurn()
    }

    /// Takes actions, until no store has room for more.
    private func watchActions() {
        guard let wires, wires.actions == nil else { return }
        wires.actions = loop.watch(wires.puller) { [weak self] in self?.assumeIsolated { $0.drainActions() } }
    }

    private func drainSubscriptions() {
        guard let wires else { return }
        for message in wires.publisher.takeSubscriptions() {
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
        endTurn()
    }

    private func drainActions() {
        guard let wires else { return }
        // What is not taken waits in the socket, then with its senders.
        guard stores.values.contains(where: { $0.hasRoom }) else { return wires.actions = nil }
        var bytes = 0
        for _ in 0..<Self.framesPerTurnMax {
            guard bytes < Self.bytesPerTurnMax, let message = wires.puller.next(logger) else { break }
            bytes += message.count
            guard message.count <= configuration.limits.frameBytesMax else {
                count(.tooLarge)
                continue
            }
            switch router.actions(message) {
            case .store(let store, let frame): received(frame, in: message, for: store)
            case .answer(let refusal, let address):
                count(refusal.reason.code)
                publish(Message.encode(.refusal(refusal), to: address))
            case .drop(let code): count(code)
            }
        }
        endTurn()
    }

    /// Hands a frame to its store, or queues its message after those that wait for room there.
    private func received(_ frame: ActionsFrame, in message: [UInt8], for name: StoreName) {
        guard let store = stores[name] else { return }
        if store.hasRoom, held[name] == nil { return store.received(frame) }
        let bytesMax = configuration.limits.heldBytesMax
        if !held[name, default: HeldFrames()].append(message, bytesMax: bytesMax) { store.putOff(frame) }
    }

    /// Hands a store the frames that were held for it, while it has room.
    private func takeHeld(for name: StoreName, _ store: any HostedStore) {
        var bytes = 0
        while bytes < Self.bytesPerTurnMax, store.hasRoom, let next = held[name]?.popFirst() {
            bytes += next.count
            if case .store(_, let frame) = router.actions(next) { store.received(frame) }
        }
        if held[name]?.isEmpty == true { held[name] = nil }
    }

    private func publish(_ message: [UInt8]) { wires?.publisher.send(message) }

    private func encoded(_ snapshot: EncodedSnapshot, for store: StoreName) {
        stores[store]?.snapshotEncoded(snapshot)
        endTurn()
    }

    // MARK: Turns

    private func tick() {
        for store in stores.values { store.tick() }
        endTurn()
    }

    private func endTurn() {
        for (name, store) in stores {
            takeHeld(for: name, store)
            store.endTurn()
        }
        if stores.values.contains(where: { $0.hasRoom }) { watchActions() }
        let hasRequests = stores.contains { $1.hasRequests || ($1.hasRoom && held[$0] != nil) }
        let next = hasRequests ? clock.now : stores.values.map(\.nextDeadline).min()
        timer?.set(next.map(clock.deadline))
    }

    /// Counts what no store has seen.
    private func count(_ code: Rejection.Code) {
        Counter(label: "statecast_primary_messages_dropped_total", dimensions: [("code", code.rawValue)]).increment()
        logger.debug("message dropped", metadata: ["code": "\(code)"])
    }
}
