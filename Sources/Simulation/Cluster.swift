import Journal
import StateCore
import Statecast
import SyncProtocol

/// A primary with its stores, replicas and senders, in one thread and under a virtual clock; and what can go wrong.
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
    let limits: Limits
    /// Which special actions senders submit.
    private let actionFaults: Set<Fault>
    /// The faults that had an effect.
    private(set) var faultCounts: [Fault: Int] = [:]
    /// Actions whose kind is not left to chance.
    var chosenKinds: [WorkID: WorkAction.Kind] = [:]
    let stores: [SimulatedStore]
    let primary: SimulatedPrimary
    private(set) var replicas: [SimulatedReplica] = []
    private(set) var senders: [SimulatedSender] = []
    private var senderCount: UInt32 = 0
    private var replicaCount = 0
    /// Whether faults and new actions are over.
    private(set) var isCalm = false
    /// Until when a hostile primary may answer.
    private var hostileUntil = SyncProtocol.Instant.origin
    private var random: SplitMix64

    /// - Parameters:
    ///   - policy: when the journals store snapshots, and what they keep.
    ///   - faults: those by which senders submit special actions. The others happen by ``happen(_:)``.
    ///   - queueMax: the messages that may wait in each subscriber's pipe; `nil`: as fits the limits.
    init(
        seed: UInt64,
        limits: Limits = Limits(),
        stores: [StoreSetup] = [StoreSetup(durability: .full)],
        policy: JournalPolicy = JournalPolicy(),
        faults: Set<Fault> = [],
        queueMax: Int? = nil,
        keepsTrace: Bool = false,
        onNote: ((String) -> Void)? = nil
    ) {
        (self.seed, self.limits, actionFaults) = (seed, limits, faults)
        let world = World(seed: seed, keepsTrace: keepsTrace, onNote: onNote)
        self.world = world
        random = world.random.split()
        network = Network(world, queueMax: queueMax ?? (limits == Limits() ? 2000 : 40))
        self.stores = stores.enumerated().map { index, setup in
            do {
                return SimulatedStore(
                    world,
                    name: try StoreName("store\(index)"),
                    disk: setup.durability.map { Disk(world, $0) },
                    build: setup.build,
                    patchBytesMax: limits.patchBytesMax
                )
            } catch { preconditionFailure("\(error)") }
        }
        primary = SimulatedPrimary(world, network, self.stores, limits: limits, policy: policy)
        let kinds = self.stores.map { "\($0.name) \($0.disk?.durability.rawValue ?? "none") \($0.build)" }
        world.note("seed \(seed): \(kinds), \(faults.map(\.rawValue).sorted())")
    }

    // MARK: Nodes

    @discardableResult
    func addReplica(of store: SimulatedStore? = nil) -> SimulatedReplica {
        replicaCount += 1
        let replica = SimulatedReplica(
            "replica.\(replicaCount)",
            of: store ?? random.pick(stores),
            world,
            network,
            on: host(),
            limits: limits
        )
        if world.now < hostileUntil { replica.hostileUntil = hostileUntil }
        replicas.append(replica)
        replica.start()
        return replica
    }

    @discardableResult
    func addSender(of store: SimulatedStore? = nil, isSaved: Bool? = nil) -> SimulatedSender {
        senderCount += 1
        let store = store ?? random.pick(stores)
        let isSaved = isSaved ?? random.oneIn(2)
        let file =
            isSaved ? SimulatedSessionFile(SavedSession(store: store.name, session: SessionID(using: &random))) : nil
        return start(store, index: senderCount, on: host(), file: file)
    }

    /// Ends a sender. Another one continues its session if that is saved.
    @discardableResult
    func restart(_ sender: SimulatedSender) -> SimulatedSender {
        sender.end()
        senders.removeAll { $0 === sender }
        guard let file = sender.file else { return addSender() }
        // Its file may know the history of a hostile primary.
        return start(sender.store, index: sender.index, on: sender.host, file: file, sender.hostileUntil)
    }

    private func start(
        _ store: SimulatedStore,
        index: UInt32,
        on host: Host,
        file: SimulatedSessionFile?,
        _ hostileUntil: Instant? = nil
    ) -> SimulatedSender {
        let bits = seed ^ UInt64(index) << 32
        let sender = SimulatedSender(
            "sender.\(index)",
            index: index,
            of: store,
            world,
            network,
            on: host,
            limits: limits,
            file: file
        ) { [weak self] id in
            self?.action(id, SplitMix64(seed: bits ^ UInt64(id.serial))) ?? WorkAction(id: id, kind: .change, bits: 0)
        }
        sender.hostileUntil = world.now < self.hostileUntil ? self.hostileUntil : hostileUntil
        if actionFaults.contains(.hostilePeer) {
            sender.onOpening = { [weak self, unowned sender] in self?.intrudeSoon(on: sender) }
        }
        senders.append(sender)
        sender.start()
        return sender
    }

    private func host() -> Host { Host(using: &random) }

    /// The action of a number: the same one each time.
    private func action(_ id: WorkID, _ random: SplitMix64) -> WorkAction {
        var random = random
        if let kind = chosenKinds[id] { return WorkAction(id: id, kind: kind, bits: random.next()) }
        var kind = WorkAction.Kind.change
        switch random.below(60) {
        case 0...2 where actionFaults.contains(.actionsRefused):
            kind = .refused
            count(.actionsRefused)
        // A text of a megabyte takes long.
        case 3...5 where actionFaults.contains(.changesTooLarge) && (limits.frameBytesMax < 10_000 || random.oneIn(20)):
            kind = random.oneIn(3) ? .tooLarge : .large
            count(.changesTooLarge)
        case 6 where actionFaults.contains(.reducerTraps) && random.oneIn(8):
            kind = .trap
            count(.reducerTraps)
        case 7...9 where actionFaults.contains(.reducerRandom):
            kind = .random
            count(.reducerRandom)
        case 10...11: kind = .effect
        case 12: kind = .work
        case 13: kind = .cancel
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
        if isAwaited { request(action, of: store) } else { store.dispatch(action) }
    }

    private func request(_ action: WorkAction, of store: SimulatedStore) {
        guard let process = primary.process else { return }
        let (history, own) = (Unchecked(store.history), Unchecked(store))
        store.openRequests.insert(action.id)
        store.request(action) { outcome in
            guard process.isAlive else { return }
            own.value.openRequests.remove(action.id)
            switch outcome {
            case .success(let receipt): history.value.confirmed(action.id, at: receipt.position, to: process.name)
            case .failure(let reason) where reason.code == .outcomeUnknown: break
            case .failure(let reason): history.value.rejected(action.id, "\(reason.code)", to: process.name)
            }
        }
    }

    /// A journal of durability `normal` syncs its log every second.
    func scheduleSync() {
        world.schedule(after: .seconds(1)) { [self] in
            for store in stores where primary.isServing { store.disk?.sync() }
            if !isCalm { scheduleSync() }
        }
    }

    // MARK: Faults

    /// Lets a fault happen now, to some node. Counts it if it has an effect.
    func happen(_ fault: Fault) {
        var random = random.split()
        happen(fault, &random)
    }

    func happen(_ fault: Fault, _ random: inout SplitMix64) {
        let (replica, sender) = (random.pick(replicas), random.pick(senders))
        let store = random.pick(fault.isOfDisk ? stores.filter { $0.disk != nil } : stores)
        let isReplica = random.oneIn(2)
        let (name, socket): (String, Subscriber) =
            isReplica ? (replica.name, replica.socket) : (sender.name, sender.socket)
        let path = network.path(of: name)
        let hasEffect =
            switch fault {
            case .pushBreaks, .pushLost: sender.pusher != nil
            case .primaryPauses, .primaryEnds, .primaryEndsAtOutput: primary.process?.isAlive == true
            case .primaryStops: primary.isServing
            case .upgrade: store.build == .plain
            default: !fault.isOfActions
            }
        guard hasEffect else { return }
        count(fault)
        let target =
            switch fault {
            case .feedBreaks, .feedHalfOpen, .partitionUp, .partitionDown, .subscriberPauses: name
            case .pushBreaks, .pushLost, .senderEnds, .hostilePeer: sender.name
            case .replicaEnds: replica.name
            case .diskFull, .diskStuck, .diskFails, .snapshotDamaged, .upgrade: store.name.text
            case .clockJumps: "a clock"
            default: "primary"
            }
        world.note("\(fault): \(target)")
        switch fault {
        case .feedBreaks: socket.breakConnection(noticedAfter: .zero)
        case .feedHalfOpen: socket.breakConnection(noticedAfter: random.duration(.seconds(1) ... .seconds(30)))
        case .pushBreaks: sender.pusher?.breakConnection(keeping: .max)
        case .pushLost: sender.pusher?.breakConnection(keeping: random.oneIn(2) ? 0 : random.below(8))
        case .partitionUp: path.block(.up, until: end(of: .milliseconds(10) ... .seconds(60), &random))
        case .partitionDown: path.block(.down, until: end(of: .milliseconds(10) ... .seconds(60), &random))
        case .subscriberPauses:
            let time = random.duration(.milliseconds(1) ... .seconds(3600))
            if isReplica { replica.process.pause(for: time) } else { sender.process.pause(for: time) }
        case .primaryPauses: primary.process?.pause(for: random.duration(.milliseconds(1) ... .seconds(20)))
        case .replicaEnds:
            replica.end()
            replicas.removeAll { $0 === replica }
            addReplica()
        case .senderEnds where random.oneIn(2): restart(sender)
        case .senderEnds:
            sender.process.atEnd { [weak self] in
                if let self, self.senders.contains(where: { $0 === sender }) { self.restart(sender) }
            }
            sender.process.end(afterOutputs: random.below(10))
        case .primaryEnds: primary.process?.end()
        case .primaryEndsAtOutput: primary.process?.end(afterOutputs: random.below(20))
        case .primaryCrashLoops: primary.crashesLeft = random.from(2...4)
        case .primaryStops: primary.stop()
        case .powerCut:
            primary.process?.end()
            for store in stores { store.disk?.cutPower() }
        case .upgrade:
            primary.process?.end()
            store.build = .nextPlain
        case .diskFull: store.disk?.fullUntil = end(of: .milliseconds(1) ... .seconds(20), &random)
        case .diskStuck: store.disk?.stuckUntil = end(of: .milliseconds(100) ... .seconds(20), &random)
        case .diskFails: store.disk?.failNext()
        case .snapshotDamaged: store.disk?.damageNewestSnapshot()
        case .clockJumps:
            let jump = Int64(random.below(7_200_000)) - 3_600_000
            (random.oneIn(3) ? primary.host : isReplica ? replica.host : sender.host).wallOffset += jump
        case .hostilePeer:
            // What it sends may be under way when the disk is full.
            if random.oneIn(2) { sender.store.disk?.fullUntil = world.now.advanced(by: .seconds(1)) }
            intrude(on: sender, &random)
        case .hostilePrimary:
            primary.process?.end()
            let time = random.duration(.milliseconds(10) ... .seconds(10))
            hostileUntil = max(hostileUntil, world.now.advanced(by: time))
            for replica in replicas { replica.hostileUntil = hostileUntil }
            for sender in senders { sender.hostileUntil = hostileUntil }
            HostilePrimary(
                world,
                network,
                at: SimulatedPrimary.endpoint,
                after: primary.published,
                store.history.position
            ).serve(for: time)
        case .reducerTraps, .actionsRefused, .changesTooLarge, .reducerRandom: break
        }
    }

    private func count(_ fault: Fault) { faultCounts[fault, default: 0] += 1 }

    /// While the primary does not know the session of a sender.
    private func intrudeSoon(on sender: SimulatedSender) {
        guard random.oneIn(2) else { return }
        world.schedule(after: random.duration(.microseconds(1) ... .milliseconds(5))) { [self] in
            if !isCalm, sender.process.isAlive { intrude(on: sender, &random) }
        }
    }

    private func intrude(on sender: SimulatedSender, _ random: inout SplitMix64) {
        guard let server = network.server(at: SimulatedPrimary.endpoint), primary.isServing else { return }
        HostilePeer(world: world, network: network, server: server).intrude(on: sender, &random)
    }

    private func end(of range: ClosedRange<Duration>, _ random: inout SplitMix64) -> SyncProtocol.Instant {
        let end = world.now.advanced(by: random.duration(range))
        world.note("until \(end.offset)")
        return end
    }

    // MARK: Rest

    /// Ends all faults, lets everything go on, and checks that the cluster comes to rest.
    func comeToRest() {
        calm()
        let (start, deadline) = (world.eventCount, world.now.advanced(by: Self.restTimeMax))
        while world.violation == nil, !isAtRest, world.now < deadline,
            world.eventCount < start + Self.restEventsMax, world.step()
        {}
        if world.violation == nil, let reason = unrest {
            let what = "\(world.eventCount - start) events and at most \(Self.restTimeMax)"
            world.violated(.converges, "after \(what) without faults, \(reason)")
        }
    }

    /// Longer than all deadlines of the protocol, and than what a queue holds takes to be sent.
    private static let restTimeMax = Duration.seconds(600)
    /// Many times what any run needs: nodes that keep each other busy never come to rest.
    private static let restEventsMax = 500_000

    private func calm() {
        world.note("calm")
        isCalm = true
        for store in stores { store.disk?.heal() }
        for replica in replicas { replica.process.resume() }
        for sender in senders { sender.process.resume() }
        primary.process?.resume()
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
        for replica in replicas { replica.end() }
        for sender in senders { sender.end() }
        primary.process?.end()
        world.end()
    }

    private var isAtRest: Bool { unrest == nil }

    /// Why the cluster is not at rest.
    private var unrest: String? {
        guard primary.isServing else { return "the primary does not serve" }
        for store in stores where !store.openRequests.isEmpty {
            return "\(store.name) has not answered \(store.openRequests.count) requests of its own process"
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
            guard replica.status == .live, replica.position?.revision == history.position?.revision,
                replica.digest == history.digest
            else {
                return "\(replica.name) is \(replica.status) at \(replica.position.map { "\($0)" } ?? "none"), "
                    + "the primary at \(history.position.map { "\($0)" } ?? "none")"
            }
        }
        return nil
    }
}

extension Limits {
    /// Limits so small that every bound is reached.
    static var tiny: Limits {
        var limits = Limits()
        limits.sessionsMax = 2
        limits.sessionRunsMax = 40
        limits.frameBytesMax = Limits.topicBytesMax + 64 + 900
        limits.actionBytesMax = 400
        limits.windowActionsMax = 8
        limits.windowBytesMax = 400
        limits.frameBytesMin = 40
        limits.frameBytesTarget = 120
        limits.uncommittedRecordsMax = 4
        limits.heldBytesMax = 4000
        limits.catchUpUpdatesMax = 3
        limits.catchUpComposedMax = 20
        limits.ringUpdatesMax = 40
        limits.chunkBytesMax = 200
        limits.chunksAheadMax = 2
        limits.backlogBytesMax = 2500
        limits.joinsPerTurnMax = 1
        limits.joinsWaitingMax = 2
        limits.chunkBytesPerTurnMax = 400
        limits.snapshotsMax = 2
        limits.snapshotRetention = .seconds(5)
        return limits
    }
}
