import Statecast
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A primary with its stores on one node or several, replicas and senders, in one thread and under a virtual clock, and
/// what can go wrong.
final class Cluster {
    /// One of its stores.
    struct StoreSetup {
        /// `nil`: without a journal.
        var durability: Durability?
        var build = SimulatedStore.Build.plain
    }

    let seed: UInt64
    let world: World
    let network: Network
    let sizes: Sizes
    /// The kinds of faults of this cluster: some are special actions of senders, the others are injected.
    private let faults: Set<Fault>
    /// Actions whose kind is not left to chance.
    var chosenKinds: [WorkID: WorkAction.Kind] = [:]
    let stores: [SimulatedStore]
    /// That its nodes share; `nil` with one node.
    let database: SimulatedDatabase?
    let nodes: [RestartingPrimary]
    /// The node that leads, or any other.
    var primary: RestartingPrimary {
        nodes.count == 1 ? nodes[0] : nodes.filter(\.isServing).max { $0.epoch < $1.epoch } ?? nodes[0]
    }
    private(set) var replicas: [ReplicaProcess] = []
    private(set) var senders: [SenderProcess] = []
    private var senderCount: UInt32 = 0
    private var replicaCount = 0
    /// Whether no fault is injected any more, and no new action submitted.
    private(set) var hasStoppedFaults = false
    private var convergedSince: StatecastProtocol.Instant?
    private var random: SplitMix64

    /// - Parameters:
    ///   - policy: when the journals store snapshots, and what they keep.
    ///   - nodes: of the primary; several ones share a database, whatever the durability of the stores.
    ///   - faults: the kinds of faults. Special actions of senders are part of them; ``inject(_:_:)`` injects the
    ///     others.
    init(
        seed: UInt64,
        _ sizes: Sizes = .standard,
        stores: [StoreSetup] = [StoreSetup(durability: .full)],
        policy: JournalPolicy = JournalPolicy(),
        nodes nodeCount: Int = 1,
        faults: Set<Fault> = [],
        keepsTrace: Bool = false,
        onNote: ((String) -> Void)? = nil
    ) {
        (self.seed, self.sizes, self.faults) = (seed, sizes, faults)
        let world = World(seed: seed, keepsTrace: keepsTrace, onNote: onNote)
        self.world = world
        random = world.random.split()
        network = Network(world, maxQueue: sizes.maxQueue)
        let names = stores.indices.map { index in
            do { return try StoreName("store\(index)") } catch { preconditionFailure("\(error)") }
        }
        let database = nodeCount == 1 ? nil : SimulatedDatabase(world, names, time: Timestamp(milliseconds: 0))
        self.database = database
        self.stores = zip(names, stores).map { name, setup in
            let disk = nodeCount == 1 ? setup.durability.map { Disk(world, $0) } : nil
            return SimulatedStore(
                world,
                name: name,
                disk: disk,
                database.map { DatabaseContent($0, name) } ?? disk,
                build: setup.build,
                maxPatchBytes: sizes.limits.maxPatchBytes
            )
        }
        for store in self.stores { database?.check(store.history, of: store.name) }
        let (all, network) = (self.stores, network)
        nodes = (0..<nodeCount).map { index in
            RestartingPrimary(
                world,
                network,
                all,
                sizes,
                policy: policy,
                hasKeys: seed % 2 == 1,
                name: nodeCount == 1 ? "primary" : "node\(index)",
                database: database
            )
        }
        let kinds = self.stores.map { "\($0.name) \($0.disk?.durability.rawValue ?? "none") \($0.build)" }
        world.note("seed \(seed): \(kinds), \(faults.map(\.rawValue).sorted())")
        scheduleSync()
    }

    // MARK: Nodes

    /// Starts all nodes of the primary.
    func start() { for node in nodes { node.start() } }

    @discardableResult
    func addReplica(of store: SimulatedStore? = nil) -> ReplicaProcess {
        replicaCount += 1
        let replica = ReplicaProcess(
            "replica.\(replicaCount)",
            of: store ?? random.pick(stores),
            world,
            network,
            on: host(),
            limits: sizes.limits,
            from: nodes.map(\.publish)
        )
        replicas.append(replica)
        replica.start()
        return replica
    }

    @discardableResult
    func addSender(of store: SimulatedStore? = nil, isSaved: Bool? = nil) -> SenderProcess {
        senderCount += 1
        let store = store ?? random.pick(stores)
        let isSaved = isSaved ?? random.oneIn(2)
        let session = SavedSession(store: store.name, SessionSecret(using: &random))
        let file = isSaved ? SimulatedSessionFile(session, keepsOutcomes: random.oneIn(2), random: random.split()) : nil
        return start(store, index: senderCount, on: host(), file: file)
    }

    /// Ends a sender. Another one continues its session if that is saved.
    @discardableResult
    func restart(_ sender: SenderProcess) -> SenderProcess {
        senders.removeAll { $0 === sender }
        sender.end()
        guard let file = sender.file else { return addSender() }
        return start(sender.store, index: sender.index, on: sender.host, file: file)
    }

    private func start(
        _ store: SimulatedStore,
        index: UInt32,
        on host: Host,
        file: SimulatedSessionFile?
    ) -> SenderProcess {
        let bits = seed ^ UInt64(index) << 32
        let sender = SenderProcess(
            "sender.\(index)",
            index: index,
            of: store,
            world,
            network,
            on: host,
            sizes,
            from: nodes.map(\.endpointOfSenders),
            file: file
        ) { [weak self] id in
            self?.action(id, SplitMix64(seed: bits ^ UInt64(id.serial))) ?? WorkAction(id: id, kind: .change, bits: 0)
        }
        // Not at once: a call of the sender may be on the stack.
        sender.onEnd = { [world, weak self, weak sender] in
            world.schedule(after: .zero) {
                guard let self, let sender, self.senders.contains(where: { $0 === sender }) else { return }
                self.restart(sender)
            }
        }
        if faults.contains(.hostilePeer) {
            sender.onOpening = { [weak self, unowned sender] in self?.intrudeSoon(on: sender) }
        }
        senders.append(sender)
        sender.start()
        return sender
    }

    private func host() -> Host { Host(using: &random) }

    /// The action with an identity. It follows from the identity, so that a sender that reads its input again submits
    /// the same one.
    private func action(_ id: WorkID, _ random: SplitMix64) -> WorkAction {
        var random = random
        if let kind = chosenKinds[id] { return WorkAction(id: id, kind: kind, bits: random.next()) }
        var kind = WorkAction.Kind.change
        switch random.below(60) {
        case 0...2 where faults.contains(.actionsRejected): kind = .rejected
        // A text of a megabyte takes long.
        case 3...5
        where faults.contains(.changesTooLarge) && (sizes.limits.maxFrameBytes < 10_000 || random.oneIn(20)):
            kind = random.oneIn(3) ? .tooLarge : .large
        case 6 where faults.contains(.reducerTraps) && random.oneIn(8): kind = .trap
        case 7...9 where faults.contains(.reducerRandom): kind = .random
        case 10...11: kind = .effect
        case 12: kind = .work
        case 13: kind = .cancel
        case 14...23 where faults.contains(.rightsWithdrawn): kind = .guarded
        default: break
        }
        return WorkAction(id: id, kind: kind, bits: random.next())
    }

    /// An action of the primary's own process, whose outcome may be awaited.
    func submitOwn(_ bits: SplitMix64, to store: SimulatedStore, isAwaited: Bool) {
        guard primary.isServing else { return }
        let id = store.nextOwnID()
        var action = action(id, bits)
        if action.kind == .trap { action = WorkAction(id: id, kind: .change, bits: action.bits) }
        guard let defined = primary.defined(store) else { return }
        if isAwaited { request(action, of: store, defined) } else { defined.dispatch(action) }
    }

    private func request(_ action: WorkAction, of store: SimulatedStore, _ defined: DefinedStore) {
        guard let process = primary.process else { return }
        let history = Unchecked(store.history)
        defined.openRequests.insert(action.id)
        defined.request(action) { outcome in
            guard process.isAlive else { return }
            defined.openRequests.remove(action.id)
            switch outcome {
            case .success(let receipt): history.value.confirmed(action.id, at: receipt.position, to: process.name)
            case .failure(let reason) where reason.code == .outcomeUnknown: break
            case .failure(let reason): history.value.rejected(action.id, "\(reason.code)", to: process.name)
            }
        }
    }

    /// Journals sync what they have written within a second.
    private func scheduleSync() {
        world.schedule(after: .seconds(1)) { [self] in
            for store in stores where primary.isServing { store.disk?.sync() }
            if !hasStoppedFaults { scheduleSync() }
        }
    }

    // MARK: Faults

    /// What follows from the injection of a fault.
    private enum Injection {
        /// Nothing: there is nothing that could fail.
        case none
        /// It has its effect on a node, and is counted.
        case now(String)
        /// It is counted where it has its effect, if it has one.
        case later(String)
    }

    /// Injects a fault.
    ///
    /// - Parameter random: determines the node and the extent, so that what happened before is the same if a fault is
    ///   skipped.
    func inject(_ fault: Fault, _ random: inout SplitMix64) {
        switch injection(of: fault, &random) {
        case .none: break
        case .now(let node):
            world.note("\(fault): \(node)")
            world.count(fault)
        case .later(let node): world.note("\(fault): \(node), soon")
        }
    }

    private func injection(of fault: Fault, _ random: inout SplitMix64) -> Injection {
        let (replica, sender) = (random.pick(replicas), random.pick(senders))
        let store = random.pick(stores)
        let disk = store.disk ?? stores.lazy.compactMap(\.disk).first
        let isReplica = random.oneIn(2)
        let (name, socket): (String, Subscriber) =
            isReplica ? (replica.name, replica.socket) : (sender.name, sender.socket)
        // Most often the one that leads.
        let node = nodes.count == 1 || random.oneIn(2) ? primary : random.pick(nodes)
        let link = nodes.count == 1 ? 0 : random.below(nodes.count)
        let running = node.process.flatMap { $0.isAlive ? $0 : nil }
        switch fault {
        case .feedBreaks: return socket.breakConnection(noticedAfter: .zero, link: link) ? .now(name) : .none
        case .feedHalfOpen:
            let delay = random.duration(.seconds(1) ... .seconds(30))
            return socket.breakConnection(noticedAfter: delay, link: link) ? .now(name) : .none
        case .pushBreaks: return sender.pusher.breakConnection(keeping: .max) ? .now(sender.name) : .none
        case .pushLost:
            let count = random.oneIn(2) ? 0 : random.below(8)
            return sender.pusher.breakConnection(keeping: count) ? .now(sender.name) : .none
        case .feedSilent:
            return socket.silence(random.pick([[.up], [.down], [.up, .down]]), link: link) ? .now(name) : .none
        case .pushSilent: return sender.pusher.silence() ? .now(sender.name) : .none
        case .partition, .partitionUp, .partitionDown:
            let end = end(of: .milliseconds(10) ... .seconds(60), &random)
            for path in paths(of: name, &random) {
                if fault != .partitionDown { path.block(.up, until: end) }
                if fault != .partitionUp { path.block(.down, until: end) }
            }
            return .now(name)
        case .subscriberPauses:
            let time = random.duration(.milliseconds(1) ... .seconds(3600))
            (isReplica ? replica.process : sender.process).pause(for: time)
            return .now(name)
        case .primaryPauses:
            guard let running else { return .none }
            running.pause(for: random.duration(.milliseconds(1)...(random.oneIn(20) ? .seconds(3600) : .seconds(20))))
            return .now(running.name)
        case .replicaEnds:
            replica.end()
            replicas.removeAll { $0 === replica }
            addReplica()
            return .now(replica.name)
        case .senderEnds:
            restart(sender)
            return .now(sender.name)
        case .senderEndsAtOutput:
            sender.process.end(afterOutputs: random.below(10), by: fault)
            return .later(sender.name)
        case .senderStops:
            sender.process.schedule(after: .zero) { [weak self] in
                self?.world.count(fault)
                sender.stop()
            }
            return .later(sender.name)
        case .sessionFileFails:
            guard let file = sender.file else { return .none }
            file.failsNextSave = true
            return .later(sender.name)
        case .primaryEnds:
            guard let running else { return .none }
            running.end()
            return .now(running.name)
        case .primaryEndsAtOutput:
            guard let running else { return .none }
            running.end(afterOutputs: random.below(20), by: fault)
            return .later(running.name)
        case .primaryCrashLoops:
            node.crashesLeft = random.from(2...4)
            return .later("the next processes")
        case .primaryStops:
            guard node.isServing, let running else { return .none }
            running.schedule(after: .zero) { [weak self, weak node] in
                self?.world.count(fault)
                node?.stop()
            }
            return .later(running.name)
        case .powerCut:
            running?.end()
            let hasLost = stores.map { $0.cutPower() }.contains(true)
            return running != nil || hasLost ? .now("the primary's computer") : .none
        case .upgrade:
            guard store.build == .plain else { return .none }
            running?.end()
            store.build = .nextPlain
            return .now(store.name.text)
        case .diskFull:
            disk?.fill(until: end(of: .milliseconds(1) ... .seconds(20), &random), by: fault)
            return disk == nil ? .none : .later("a disk")
        case .diskStuck:
            disk?.block(until: end(of: .milliseconds(100) ... .seconds(20), &random))
            return disk == nil ? .none : .later("a disk")
        case .diskFails:
            disk?.failNext()
            return disk == nil ? .none : .later("a disk")
        case .snapshotDamaged: return disk?.damageNewestSnapshot() == true ? .later("a disk") : .none
        case .clockJumps:
            let jump = Int64(random.below(7_200_000)) - 3_600_000
            (random.oneIn(3) ? node.host : isReplica ? replica.host : sender.host).wallOffset += jump
            return .now("a clock")
        case .databaseCut, .databaseReplyLost, .databaseRestarts, .databasePromoted, .databaseCancels, .databaseStuck,
            .databaseStopsWaiting, .databaseFull:
            return injection(of: fault, node, &random)
        case .rightsWithdrawn:
            changeRights(of: sender.user, to: random.pick([[], [WorkAction.name], [GuardedAction.name]]))
            world.schedule(at: end(of: .milliseconds(10) ... .seconds(60), &random)) { [self] in restoreRights() }
            return .later(sender.user)
        case .hostilePeer:
            guard intrude(on: sender, &random) else { return .none }
            // What it sends may arrive when the disk is full.
            if random.oneIn(2) {
                world.note("the disk of \(sender.store.name) is full")
                sender.store.disk?.fill(until: world.now.advanced(by: .seconds(1)))
            }
            return .now(sender.name)
        case .reducerTraps, .actionsRejected, .changesTooLarge, .reducerRandom:
            preconditionFailure("\(fault) is an action")
        }
    }

    private func injection(
        of fault: Fault,
        _ node: RestartingPrimary,
        _ random: inout SplitMix64
    ) -> Injection {
        guard let database else { return .none }
        let server = database.current
        switch fault {
        case .databaseCut:
            let end = end(of: .milliseconds(10) ... .seconds(60), &random)
            let path = network.path(from: node.name, to: RestartingPrimary.database)
            for direction in random.pick([[.up], [.down], [.up, .down]] as [[Path.Direction]]) {
                path.block(direction, until: end)
            }
        case .databaseReplyLost:
            guard let client = node.client else { return .none }
            client.lostReplies = random.from(1...3)
            return .later(node.name)
        case .databaseRestarts: database.restart()
        case .databasePromoted: guard database.promote() else { return .none }
        case .databaseCancels: guard server.cancelOne() else { return .none }
        case .databaseStuck: server.hold(until: end(of: .milliseconds(100) ... .seconds(20), &random))
        case .databaseStopsWaiting:
            database.waitForNoServer(until: end(of: .milliseconds(100) ... .seconds(20), &random))
        case .databaseFull:
            server.fullUntil = end(of: .milliseconds(1) ... .seconds(20), &random)
            return .later("the database")
        default: return .none
        }
        return .now(fault == .databaseCut ? node.name : "the database")
    }

    /// The paths of a node to all servers, or to one.
    private func paths(of name: String, _ random: inout SplitMix64) -> [Path] {
        let paths = network.paths(from: name)
        guard paths.count > 1, random.oneIn(2) else { return paths }
        return [random.pick(paths)]
    }

    /// While the primary does not know the session of a sender.
    private func intrudeSoon(on sender: SenderProcess) {
        guard random.oneIn(2) else { return }
        world.schedule(after: random.duration(.microseconds(1) ... .milliseconds(5))) { [self] in
            if !hasStoppedFaults, sender.process.isAlive { _ = intrude(on: sender, &random) }
        }
    }

    /// - Returns: whether there is a primary to which a hostile peer can connect.
    private func intrude(on sender: SenderProcess, _ random: inout SplitMix64) -> Bool {
        let primary = primary
        let endpoint = random.oneIn(2) ? primary.publish : primary.endpointOfSenders
        guard let publisher = network.publisher(at: endpoint), primary.isServing,
            let puller = network.puller(at: primary.actions)
        else { return false }
        let user = random.pick([HostilePeer.intruder, HostilePeer.member])
        HostilePeer(
            world: world,
            network: network,
            publisher: publisher,
            puller: puller,
            user: user,
            hasKeys: primary.hasKeys
        ).intrude(on: sender, &random)
        return true
    }

    /// Changes what a user may send, when the primary reads its access list.
    func changeRights(of user: String, to names: Set<String>) {
        world.note("\(user) may send \(names.sorted())")
        world.rights.change(user, to: names)
        for sender in senders where sender.user == user {
            world.coverage.note(sender.machine.phaseName, .rightsChanged)
        }
    }

    func restoreRights() {
        world.note("all users have their rights again")
        world.rights.restore()
    }

    private func end(of range: ClosedRange<Duration>, _ random: inout SplitMix64) -> StatecastProtocol.Instant {
        let end = world.now.advanced(by: random.duration(range))
        world.note("until \(end.offset)")
        return end
    }

    // MARK: Convergence

    /// Stops faults and new actions for good, and checks that the cluster converges: replicas show the primary's state,
    /// and every action has its outcome. It must stay so: without heartbeats, a replica is live only for seconds.
    func converge() {
        stopFaults()
        let (start, deadline) = (world.eventCount, world.now.advanced(by: Self.maxConvergenceTime))
        while world.violation == nil, !staysConverged(), world.now < deadline,
            world.eventCount < start + Self.maxConvergenceEvents, world.step()
        {}
        if world.violation == nil, !staysConverged() {
            let reason = reasonAgainstConvergence ?? "the cluster did not stay converged for \(Self.steadyTime)"
            let what = "\(world.eventCount - start) events and at most \(Self.maxConvergenceTime)"
            world.violated(.converges, "after \(what) without faults, \(reason)")
        }
    }

    private func staysConverged() -> Bool {
        convergedSince = reasonAgainstConvergence == nil ? convergedSince ?? world.now : nil
        return convergedSince.map { world.now >= $0.advanced(by: Self.steadyTime) } ?? false
    }

    /// Longer than a replica waits for a heartbeat.
    private static let steadyTime = Duration.seconds(10)
    /// Longer than all deadlines of the protocol, and than what a queue holds takes to be sent.
    private static let maxConvergenceTime = Duration.seconds(600)
    /// More than the nodes and the hostile peers at a time.
    private static let maxPeers = 30
    /// Many times what any run needs: nodes that keep each other busy never converge.
    private static let maxConvergenceEvents = 500_000

    /// What remains: damaged snapshots, actions that trap, messages and commits that are delayed already, connections
    /// whose break is noticed later, and hostile peers, which end within five seconds.
    private func stopFaults() {
        world.note("faults stop")
        hasStoppedFaults = true
        for store in stores { store.disk?.heal() }
        for replica in replicas { replica.process.heal() }
        for sender in senders {
            sender.process.heal()
            sender.file?.failsNextSave = false
        }
        for node in nodes {
            node.process?.heal()
            node.crashesLeft = 0
            node.client?.lostReplies = 0
        }
        database?.heal()
        restoreRights()
        // Replicas of another build than their primary's do not show its state.
        for replica in replicas where replica.build != replica.store.build {
            replica.end()
            replicas.removeAll { $0 === replica }
            addReplica(of: replica.store)
        }
        network.heal()
    }

    /// Ends all processes, which release each other then.
    func end() {
        let ended = senders
        senders = []
        for replica in replicas { replica.end() }
        for sender in ended { sender.end() }
        for node in nodes { node.process?.end() }
        world.end()
    }

    private var reasonAgainstConvergence: String? {
        guard primary.isServing else { return "the primary does not serve" }
        for store in stores {
            guard let count = primary.defined(store)?.openRequests.count, count > 0 else { continue }
            return "\(store.name) has not answered \(count) requests of its own process"
        }
        for sender in senders where !sender.isDone {
            return "\(sender.name) has \(sender.machine.pendingCount) actions in its outbox, "
                + "\(sender.outcomesMissing) without an outcome"
        }
        for sender in senders {
            guard let id = sender.unreported.first else { continue }
            return "no process of \(sender.name) was told the outcome of \(id), which is in its file"
        }
        for replica in replicas {
            let history = replica.store.history
            // The epoch is not compared: a new incarnation publishes nothing until its first update.
            guard replica.status == .live, replica.position?.lineage == history.position?.lineage,
                replica.position?.revision == history.position?.revision, replica.digest == history.digest
            else {
                return "\(replica.name) is \(replica.status) at \(replica.position.map { "\($0)" } ?? "none"), "
                    + "the primary at \(history.position.map { "\($0)" } ?? "none")"
            }
        }
        return stores.lazy.compactMap(reasonAgainstPeers).first
    }

    /// The list of a store has its replicas, none of which lags, and without keys its senders: with keys, the end of a
    /// hostile peer's subscription may be taken for that of a sender.
    private func reasonAgainstPeers(of store: SimulatedStore) -> String? {
        // A list that was full may lack some.
        guard PeerList.maxPeers(primary.limits) > Self.maxPeers else { return nil }
        var listed = (primary.peers(of: store.name)?.peers ?? [:]).values
            .filter { $0.kind == .replica || !primary.hasKeys }
            .map { $0.kind == .replica && $0.lag != 0 ? "\($0.name) lags" : $0.name }
        let senders = senders.filter { $0.store === store && !primary.hasKeys }
        var expected = senders.map { String($0.machine.session.peerID.prefix(8)) }
        for replica in replicas where replica.store === store {
            if replica.socket.losesRequests {
                // It follows, and is not heard.
                listed.removeAll { $0 == replica.name || $0 == "\(replica.name) lags" }
            } else {
                expected.append(replica.name)
            }
        }
        guard listed.sorted() != expected.sorted() else { return nil }
        return "the peers of \(store.name) are \(listed.sorted()), not \(expected.sorted())"
    }
}
