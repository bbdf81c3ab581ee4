import Journal
import StateCore
import Statecast
package import SyncProtocol

/// One run of a whole cluster: primaries, replicas, senders, journals and session files in one thread, under a virtual
/// clock, with faults. A seed determines everything that happens.
package final class Simulation {
    private let seed: UInt64
    private let options: SimulationOptions
    private let world: World
    private let network: Network
    private let limits: Limits
    private var random: SplitMix64
    private let faults: Set<Fault>
    private var faultCounts: [Fault: Int] = [:]
    private var stores: [SimulatedStore] = []
    private var primary: SimulatedPrimary!
    private var replicas: [SimulatedReplica] = []
    private var senders: [SimulatedSender] = []
    private var senderCount: UInt32 = 0
    private var replicaCount = 0
    /// Whether faults and new actions are over.
    private var isCalm = false
    /// Until when a hostile primary may answer.
    private var hostileUntil = SyncProtocol.Instant.origin
    /// The number of faults that were drawn, whether they were skipped or not.
    private var faultsDrawn = 0

    package init(seed: UInt64, _ options: SimulationOptions = SimulationOptions()) {
        (self.seed, self.options) = (seed, options)
        world = World(seed: seed, keepsTrace: options.keepsTrace)
        var random = world.random.split()
        limits = options.limits ?? (random.oneIn(2) ? Limits() : .tiny)
        network = Network(world, queueMax: limits == Limits() ? 2000 : 40)
        var kinds = Fault.allCases
        kinds.shuffle(using: &random)
        faults = Set(kinds.prefix(5 + random.below(kinds.count - 4)))
        self.random = random
        makeStores()
        var policy = JournalPolicy()
        policy.snapshotBytes = random.pick([2 << 10, 64 << 10, 32 << 20])
        policy.historyBytes = random.pick([0, 16 << 10, 1 << 30])
        self.primary = SimulatedPrimary(world, network, stores, limits: limits, policy: policy)
    }

    private func makeStores() {
        for index in 0..<(random.oneIn(4) ? 2 : 1) {
            let durability = random.pick([Durability.full, .full, .normal, .relaxed, nil])
            let disk = durability.map { Disk(world, $0) }
            let build = random.oneIn(2) ? SimulatedStore.Build.plain : .table
            do {
                let name = try StoreName("store\(index)")
                stores.append(
                    SimulatedStore(world, name: name, disk: disk, build: build, patchBytesMax: limits.patchBytesMax)
                )
            } catch { preconditionFailure("\(error)") }
        }
    }

    // MARK: Run

    /// Runs until enough has happened, lets the cluster come to rest, and reports.
    package func run() -> SimulationReport {
        #if DEBUG
            PlantedFault.$current.withValue(options.planted) { runToEnd() }
        #else
            precondition(options.planted == nil, "faults can be planted in debug builds only")
            return runToEnd()
        #endif
    }

    private func runToEnd() -> SimulationReport {
        world.note(
            "seed \(seed): \(stores.map { "\($0.name) \($0.disk?.durability.rawValue ?? "none") \($0.build)" }), \(faults.map(\.rawValue).sorted())"
        )
        primary.start()
        for _ in 0..<(1 + random.below(4)) { addReplica() }
        for _ in 0..<(1 + random.below(4)) { addSender() }
        scheduleWork()
        scheduleFault()
        scheduleSync()
        scheduleOwnWork()
        while world.violation == nil, world.eventCount < options.eventsMin, world.step() {}
        calm()
        let deadline = world.now.advanced(by: Self.calmTimeMax)
        while world.violation == nil, !isAtRest, world.now < deadline, world.step() {}
        if world.violation == nil, let reason = unrest {
            world.violated(.converges, "after \(Self.calmTimeMax) without faults, \(reason)")
        }
        return SimulationReport(
            seed: seed,
            events: world.eventCount,
            time: world.now.offset,
            faults: faultCounts,
            faultsDrawn: faultsDrawn,
            coverage: world.coverage,
            violation: world.violation,
            trace: world.trace
        )
    }

    /// Longer than all deadlines of the protocol, and than what a queue holds takes to be sent.
    private static let calmTimeMax = Duration.seconds(600)

    private func addReplica(of store: SimulatedStore? = nil) {
        replicaCount += 1
        let replica = SimulatedReplica(
            "replica.\(replicaCount)",
            of: store ?? random.pick(stores),
            world,
            network,
            on: host(),
            limits: limits
        )
        replica.meetsHostilePrimary = world.now < hostileUntil
        replicas.append(replica)
        replica.start()
    }

    private func addSender() {
        senderCount += 1
        let store = random.pick(stores)
        let file =
            random.oneIn(2)
            ? SimulatedSessionFile(SavedSession(store: store.name, session: SessionID(using: &random))) : nil
        start(store, index: senderCount, run: 1, on: host(), file: file)
    }

    private func start(_ store: SimulatedStore, index: UInt32, run: Int, on host: Host, file: SimulatedSessionFile?) {
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
        senders.append(sender)
        sender.start()
    }

    private func host() -> Host {
        let drift = random.oneIn(4) ? Double(random.below(2001) - 1000) / 10_000 : 0
        return Host(rate: 1 + drift, wallOffset: 1_700_000_000_000 + Int64(random.below(1 << 30)))
    }

    /// The action of a number: the same one each time.
    private func action(_ id: WorkID, _ random: SplitMix64) -> WorkAction {
        var random = random
        var kind = WorkAction.Kind.change
        switch random.below(60) {
        case 0...2 where faults.contains(.actionsRefused): kind = .refused
        // A text of a megabyte takes long.
        case 3...5 where faults.contains(.changesTooLarge) && (limits.frameBytesMax < 10_000 || random.oneIn(20)):
            kind = random.oneIn(3) ? .tooLarge : .large
        case 6 where faults.contains(.reducerTraps) && random.oneIn(8): kind = .trap
        case 7...9 where faults.contains(.reducerRandom): kind = .random
        case 10...11: kind = .effect
        case 12: kind = .work
        case 13: kind = .cancel
        default: break
        }
        return WorkAction(id: id, kind: kind, bits: random.next())
    }

    // MARK: Work

    private func scheduleWork() {
        world.schedule(after: random.duration(.microseconds(100) ... .seconds(1))) { [self] in
            guard !isCalm else { return }
            let sender = random.pick(senders)
            if sender.machine.pendingCount < Self.pendingMax, world.now >= sender.process.pausedUntil {
                sender.submit(random.oneIn(10) ? random.from(1...40) : random.from(1...4))
            }
            scheduleWork()
        }
    }

    private static let pendingMax = 200

    private func scheduleOwnWork() {
        world.schedule(after: random.duration(.milliseconds(1) ... .seconds(4))) { [self] in
            guard !isCalm else { return }
            let store = random.pick(stores)
            if primary.isServing {
                let bits = random.split()
                let id = store.nextOwnID()
                var action = action(id, bits)
                if action.kind == .trap { action = WorkAction(id: id, kind: .change, bits: action.bits) }
                if random.oneIn(2) { store.dispatch(action) } else { request(action, of: store) }
            }
            scheduleOwnWork()
        }
    }

    private func request(_ action: WorkAction, of store: SimulatedStore) {
        guard let process = primary.process else { return }
        let history = Unchecked(store.history)
        store.request(action) { outcome in
            guard process.isAlive else { return }
            switch outcome {
            case .success(let receipt): history.value.confirmed(action.id, at: receipt.position, to: process.name)
            case .failure(let reason) where reason.code == .outcomeUnknown: break
            case .failure(let reason): history.value.rejected(action.id, "\(reason.code)", to: process.name)
            }
        }
    }

    /// A journal of durability `normal` syncs its log every second.
    private func scheduleSync() {
        world.schedule(after: .seconds(1)) { [self] in
            for store in stores where primary.isServing { store.disk?.sync() }
            if !isCalm { scheduleSync() }
        }
    }

    // MARK: Faults

    private func scheduleFault() {
        world.schedule(after: random.duration(.milliseconds(2) ... .seconds(8))) { [self] in
            guard !isCalm else { return }
            faultsDrawn += 1
            var random = self.random.split()
            let fault = random.pick(faults.sorted { $0.rawValue < $1.rawValue })
            if !options.skippedFaults.contains(faultsDrawn) { happen(fault, &random) }
            scheduleFault()
        }
    }

    private func happen(_ fault: Fault, _ random: inout SplitMix64) {
        world.note("fault \(faultsDrawn): \(fault)")
        faultCounts[fault, default: 0] += 1
        let (replica, sender, store) = (random.pick(replicas), random.pick(senders), random.pick(stores))
        let isReplica = random.oneIn(2)
        let socket: Subscriber = isReplica ? replica.socket : sender.socket
        let path = network.path(of: isReplica ? replica.name : sender.name)
        switch fault {
        case .feedBreaks: socket.breakConnection(noticedAfter: .zero)
        case .feedHalfOpen: socket.breakConnection(noticedAfter: random.duration(.seconds(1) ... .seconds(30)))
        case .pushBreaks: sender.pusher?.breakConnection(losingAll: false)
        case .pushLost: sender.pusher?.breakConnection(losingAll: true)
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
        case .senderEnds: restart(sender)
        case .primaryEnds: primary.process?.end()
        case .primaryEndsAtOutput: primary.process?.end(afterOutputs: random.below(20))
        case .primaryCrashLoops: primary.crashesLeft = random.from(2...4)
        case .primaryStops: primary.stop()
        case .powerCut:
            primary.process?.end()
            for store in stores { store.disk?.cutPower() }
        case .upgrade:
            primary.process?.end()
            if store.build == .plain { store.build = .nextPlain }
        case .diskFull: store.disk?.fullUntil = end(of: .milliseconds(1) ... .seconds(20), &random)
        case .diskStuck: store.disk?.stuckUntil = end(of: .milliseconds(100) ... .seconds(20), &random)
        case .diskFails: store.disk?.failNext()
        case .snapshotDamaged: store.disk?.damageNewestSnapshot()
        case .clockJumps:
            let jump = Int64(random.below(7_200_000)) - 3_600_000
            (random.oneIn(3) ? primary.host : isReplica ? replica.host : sender.host).wallOffset += jump
        case .hostilePeer:
            if let server = network.server(at: SimulatedPrimary.endpoint), primary.isServing {
                HostilePeer(world: world, network: network, server: server).intrude(on: sender, &random)
            }
        case .hostilePrimary:
            for replica in replicas { replica.meetsHostilePrimary = true }
            for sender in senders { sender.mayLoseOutcomes = true }
            primary.process?.end()
            let time = random.duration(.milliseconds(10) ... .seconds(10))
            hostileUntil = max(hostileUntil, world.now.advanced(by: time))
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

    private func end(of range: ClosedRange<Duration>, _ random: inout SplitMix64) -> SyncProtocol.Instant {
        world.now.advanced(by: random.duration(range))
    }

    private func restart(_ sender: SimulatedSender) {
        sender.end()
        senders.removeAll { $0 === sender }
        if let file = sender.file {
            start(sender.store, index: sender.index, run: 2, on: sender.host, file: file)
        } else {
            addSender()
        }
    }

    // MARK: Rest

    /// Ends faults and new actions, and lets everything go on.
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

    private var isAtRest: Bool { unrest == nil }

    /// Why the cluster is not at rest.
    private var unrest: String? {
        guard primary.isServing else { return "the primary does not serve" }
        for sender in senders where !sender.isDone {
            return "\(sender.name) has \(sender.machine.pendingCount) actions in its outbox, "
                + "\(sender.outcomesMissing) without an outcome"
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

/// How a simulation runs.
package struct SimulationOptions: Sendable {
    /// A fault in production code, for debug builds.
    package var planted: PlantedFault?
    /// The number of events after which faults stop.
    package var eventsMin = 10_000
    /// `nil`: the standard limits or tiny ones, by the seed.
    package var limits: Limits?
    package var keepsTrace = false
    /// The numbers of faults that do not happen.
    package var skippedFaults: Set<Int> = []

    package init() {}
}

/// What happened in a run.
package struct SimulationReport: Sendable {
    package let seed: UInt64
    package let events: Int
    /// The virtual time.
    package let time: Duration
    package let faults: [Fault: Int]
    let faultsDrawn: Int
    package let coverage: Coverage
    package let violation: Violation?
    package let trace: [String]
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
