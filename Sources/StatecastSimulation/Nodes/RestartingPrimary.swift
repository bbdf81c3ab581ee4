import Statecast
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A primary, or a node of one: one process after the other on one host, with the production code of its driver and its
/// stores.
///
/// Unchecked, but safe: see ``World``.
final class RestartingPrimary: @unchecked Sendable {
    /// Where it publishes, where it takes actions, and where it publishes receipts if it has keys.
    let (publish, actions, receipts): (String, String, String)
    let name: String

    private let world: World
    private let network: Network
    private let configuration: PrimaryConfiguration
    let host: Host
    /// Whether it knows the users of its peers, and what they may send.
    let hasKeys: Bool
    private let stores: [SimulatedStore]
    /// The database that it shares with other nodes; `nil`: its journals are its own.
    private let database: SimulatedDatabase?
    /// The crash markers of its stores in the database.
    private let pages: [CrashPages]
    private(set) var client: DatabaseClient?
    private(set) var process: Process?
    private var sockets: [SimulatedSocket] = []
    /// `nil` while its process does not run.
    private var driver: PrimaryDriver?
    /// Whether its process has begun to serve. One of several nodes that was replaced stays so until it notices.
    private var isReady = false
    /// The stores as its process defines them.
    private var defined: [StoreName: DefinedStore] = [:]
    private var loop: Loop?
    /// The time of the next tick, on the process's clock.
    private var deadline: StatecastProtocol.Instant?
    /// Whether the driver is to take a turn.
    private var isWoken = false
    private var random: SplitMix64
    /// The number of starts.
    private(set) var startCount = 0
    private let commitTime: ClosedRange<Duration>
    private let turnBudget: TurnBudget
    /// The number of processes that end soon after they start.
    var crashesLeft = 0

    init(
        _ world: World,
        _ network: Network,
        _ stores: [SimulatedStore],
        _ sizes: Sizes,
        policy: JournalPolicy,
        hasKeys: Bool,
        name: String = "primary",
        database: SimulatedDatabase? = nil
    ) {
        (self.world, self.network, self.stores, self.hasKeys) = (world, network, stores, hasKeys)
        (self.name, self.database) = (name, database)
        (publish, actions, receipts) = ("tcp://\(name):1", "tcp://\(name):2", "tcp://\(name):3")
        pages = database == nil ? [] : stores.map { _ in CrashPages() }
        var configuration = PrimaryConfiguration()
        (configuration.limits, configuration.journal) = (sizes.limits, policy)
        self.configuration = configuration
        random = world.random.split()
        host = Host(using: &random)
        turnBudget = sizes.hasShortTurns ? TurnBudget(actions: random.from(1...6), bytes: 300) : TurnBudget()
        commitTime = random.oneIn(3) ? .milliseconds(1) ... .milliseconds(60) : .microseconds(80) ... .milliseconds(2)
    }

    /// Where its senders subscribe.
    var endpointOfSenders: String { hasKeys ? receipts : publish }

    var isServing: Bool { isReady && process?.isAlive == true }

    /// The highest epoch that it serves.
    var epoch: Epoch { stores.compactMap { driver?.position(of: $0.name)?.epoch }.max() ?? Epoch(0) }

    /// A store as its process defines it.
    func defined(_ store: SimulatedStore) -> DefinedStore? { isServing ? defined[store.name] : nil }

    // MARK: Lifecycle

    /// Starts a process, which serves after it has recovered its stores.
    func start() {
        startCount += 1
        let process = Process("\(name).\(startCount)", on: host, in: world)
        process.onEnd = { [weak self] in self?.ended() }
        self.process = process
        world.note("\(process.name) starts")
        process.schedule(after: random.duration(.milliseconds(1) ... .seconds(1))) { [weak self] in
            self?.serve(process)
        }
    }

    private func serve(_ process: Process) {
        let environment = SimulatedEnvironment(
            process,
            commitTime: commitTime,
            disks: stores.compactMap(\.disk),
            hasDatabase: database != nil
        )
        let loop = Loop(of: process) { [weak self] in self?.poll() }
        (self.loop, deadline, isWoken) = (loop, nil, false)
        do throws(StatecastError) {
            guard let database else { return try serve(process, environment, loop) }
            try standBy(database, process, environment, loop)
        } catch { failed(error, process) }
    }

    private func serve(
        _ process: Process,
        _ environment: SimulatedEnvironment,
        _ loop: Loop
    ) throws(StatecastError) {
        var startable: [any StartableStore] = []
        for store in stores {
            do throws(StatecastError) {
                let (limits, lineage) = (configuration.limits, Lineage(bits: random.next()))
                let defined = try store.define(in: process)
                self.defined[store.name] = defined
                startable.append(try defined.recover(limits: limits, time: process.time, lineage: lineage))
            } catch {
                for store in startable { store.abandon() }
                throw error
            }
        }
        guard process.isAlive else { return }
        let (driver, bound) = makeDriver(process, environment, loop)
        self.driver = driver
        beganToServe(process)
        driver.serve(
            startable,
            on: bound,
            actionsEndpoint: actions,
            turnBudget: turnBudget,
            onFailure: { [weak self] in self?.failed($0, process) }
        )
        for store in stores {
            world.note(
                "\(process.name) serves \(store.name) at \(driver.position(of: store.name).map { "\($0)" } ?? "?")"
            )
        }
    }

    private func beganToServe(_ process: Process) {
        guard process.isAlive else { return }
        isReady = true
        guard crashesLeft > 0 else { return }
        crashesLeft -= 1
        process.end(afterOutputs: random.below(12), by: .primaryCrashLoops)
    }

    private func standBy(
        _ database: SimulatedDatabase,
        _ process: Process,
        _ environment: SimulatedEnvironment,
        _ loop: Loop
    ) throws(StatecastError) {
        let client = DatabaseClient(database, of: process, network.path(from: name, to: Self.database))
        self.client = client
        let standbys = try zip(stores, pages).map { store, pages throws(StatecastError) in
            let marker = CrashMarker(page: pages.page)
            let defined = try store.define(in: process, SharedJournal(client, store: store.name, crashMarker: marker))
            self.defined[store.name] = defined
            return defined.standby(limits: configuration.limits)
        }
        let (driver, bound) = makeDriver(process, environment, loop)
        self.driver = driver
        driver.standBy(
            standbys,
            on: bound,
            actionsEndpoint: actions,
            turnBudget: turnBudget,
            onLead: { [weak self, world] in
                world.note("\(process.name) leads")
                self?.beganToServe(process)
            },
            onFailure: { [weak self] in self?.failed($0, process) }
        )
    }

    var limits: Limits { configuration.limits }

    /// The peers of a store that it lists.
    func peers(of store: StoreName) -> Peers? { driver?.peers(of: store) }

    /// The host of the database in the network.
    static let database = "database"

    private func makeDriver(
        _ process: Process,
        _ environment: SimulatedEnvironment,
        _ loop: Loop
    ) -> (PrimaryDriver, PrimarySockets) {
        let access = hasKeys ? access(environment) : nil
        let driver = PrimaryDriver(
            configuration,
            access,
            environment: environment,
            logger: .silent,
            setTimer: { [weak self, weak loop] in
                self?.deadline = $0
                loop?.wake(atLocal: $0)
            },
            wake: { [weak self, weak loop] in
                self?.isWoken = true
                loop?.wake()
            }
        )
        let names = Set(stores.map(\.name))
        let all = names.union(configuration.peerStores(of: names))
        return (driver, PrimarySockets(configuration, [all], access, logger: .silent) { socket($0, of: process) })
    }

    private func access(_ environment: SimulatedEnvironment) -> AccessControl {
        _ = world.rights.refresh(always: true)
        let names = [WorkAction.name, GuardedAction.name]
        return AccessControl(
            world.rights,
            stores: stores.reduce(into: [:]) { $0[$1.name] = names },
            feeds: [Set(stores.map(\.name))],
            environment: environment,
            logger: .silent
        )
    }

    private func socket(_ role: AccessControl.SocketRole, of process: Process) -> SimulatedSocket {
        let socket: SimulatedSocket
        if role == .actions {
            socket = BoundPuller(network, at: actions, hasKeys: hasKeys, of: process)
        } else {
            let endpoint = role == .receipts ? receipts : publish
            let publisher = BoundPublisher(network, at: endpoint, hasKeys: hasKeys, of: process)
            publisher.onSend = { [weak self] in self?.publishes($0, from: process) ?? false }
            socket = publisher
        }
        socket.onReadable = { [weak loop] in loop?.wake(at: $0) }
        socket.onUser = { [world] in if world.rights.areChanged(ofKey: $0) { world.count(.rightsWithdrawn) } }
        sockets.append(socket)
        return socket
    }

    private func failed(_ failure: StatecastError, _ process: Process) {
        guard process.isAlive else { return }
        // A primary that serves waits for room.
        let code = (failure.cause as? JournalFailure)?.code
        let isExpected =
            database == nil
            ? "\(failure)".contains(Disk.failed) || driver == nil && "\(failure)".contains(Disk.full)
            : [.fenced, .unknown, .storageFull, .inputOutput].contains(code)
        world.require(isExpected, .nodesStayUp, "\(process.name) failed: \(failure)")
        world.note("\(process.name) fails: \(failure)")
        process.end()
    }

    /// The process has ended, and another one is started some time later. What it is in the middle of has no effect.
    private func ended() {
        world.note("\(process?.name ?? "") ends")
        world.schedule(after: random.duration(.milliseconds(1) ... .seconds(10))) { [weak self] in self?.start() }
        if let process { for store in stores { store.ended(process) } }
        for pages in pages { pages.processEnded() }
        (isReady, defined, client) = (false, [:], nil)
        close()
        // Not now: a call of the stores may be on the stack.
        let last = driver
        driver = nil
        world.schedule(after: .zero) { withExtendedLifetime(last) {} }
    }

    private func close() {
        for socket in sockets { socket.close() }
        (sockets, loop, deadline) = ([], nil, nil)
    }

    /// Stops the process as an operator does.
    func stop() {
        guard driver != nil, process?.isAlive == true else { return }
        world.note("\(process?.name ?? "") stops")
        driver?.stop()
        process?.end()
    }

    // MARK: Messages

    /// - Returns: whether the process lives to publish the message.
    private func publishes(_ message: [UInt8], from process: Process) -> Bool {
        guard process.canOutput() else { return false }
        if let client {
            world.require(
                process.now < client.lastConfirmedSent.advanced(by: configuration.leaseTime),
                .silentAfterLease,
                "\(process.name) publishes; its last confirmed commit was sent at \(client.lastConfirmedSent.offset)"
            )
        }
        if let (address, frame) = try? Message.decode(message),
            let history = stores.first(where: { $0.name == address.store })?.history
        {
            switch (address.topic, frame) {
            case (.feed, .update(let update)): history.published(update, by: process.name)
            case (.receipts(let session), .receipts(let receipts)):
                history.published(receipts, for: session, by: process.name)
            case (.receipts(let session), .watermark(let watermark)): history.published(watermark, for: session)
            default: break
            }
        }
        return true
    }

    // MARK: The loop

    private func poll() {
        guard let process, process.isAlive, let driver, let loop else { return }
        if sockets.contains(where: { $0.endpoint != actions && $0.isReadable }) { driver.receiveSubscriptions() }
        if sockets.contains(where: { $0.endpoint == actions && $0.isReadable }) { driver.receiveActions() }
        if let deadline, process.now >= deadline {
            self.deadline = nil
            driver.tick()
        }
        if isWoken {
            isWoken = false
            driver.turn()
        }
        if let exceededLimit = driver.exceededLimit { world.violated(.limitsHold, exceededLimit) }
        guard process.isAlive else { return }
        loop.wake(atLocal: deadline)
        for socket in sockets where socket.wantsMessages {
            if let arrival = socket.nextArrival { loop.wake(at: arrival) }
        }
    }
}
