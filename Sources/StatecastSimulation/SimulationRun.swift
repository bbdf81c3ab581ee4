import Statecast
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// One randomized run of a cluster: random nodes, settings, actions and faults. A seed determines everything that
/// happens.
package final class SimulationRun {
    private let options: SimulationOptions
    private let cluster: Cluster
    var world: World { cluster.world }
    private var random: SplitMix64
    /// The kinds of faults that are injected.
    private let faults: [Fault]
    /// The submissions that follow each other at once.
    private var burstLeft = 0
    /// The number of faults that were drawn, whether they were skipped or not.
    private var faultsDrawn = 0

    /// Chooses the stores, their durability and types, the limits, the journal's policy and the kinds of faults.
    package init(seed: UInt64, _ options: SimulationOptions = SimulationOptions()) {
        self.options = options
        var random = SplitMix64(seed: ~seed)
        let isTiny = random.oneIn(2)
        var sizes: Sizes =
            switch options.sizes {
            case .mixed: isTiny ? .tiny : .standard
            case .standard: .standard
            case .tiny: .tiny
            }
        // With keys, senders of one user evict each other's sessions.
        if sizes.evictsUsedSessions, seed % 4 == 1 { sizes.limits.maxUserSessions = 1 }
        // With keys, frames wait until their users are below their rates.
        if seed % 4 == 3 {
            sizes.limits.maxUserActionsPerSecond = 200
            sizes.limits.maxUserBurst = .milliseconds(50)
        }
        var kinds = Fault.allCases
        let stores = (0..<(random.oneIn(4) ? 2 : 1)).map { _ in
            Cluster.StoreSetup(
                durability: random.pick([.full, .full, .normal, .normal, nil]),
                build: random.pick([.plain, .plain, .table, .tree])
            )
        }
        // Those that cannot have an effect.
        let nodeCount = options.nodes == .one || options.nodes == .mixed && seed % 3 != 0 ? 1 : 2 + Int(seed / 3 % 2)
        if nodeCount == 1 {
            kinds.removeAll(where: \.isOfDatabase)
        } else {
            // The simulated access list is that of one node.
            kinds.removeAll { $0.isOfDisk || $0 == .upgrade || $0 == .rightsWithdrawn }
        }
        if stores.allSatisfy({ $0.durability == nil }) { kinds.removeAll(where: \.isOfDisk) }
        if stores.allSatisfy({ $0.build != .plain }) { kinds.removeAll { $0 == .upgrade } }
        if seed % 2 == 0 { kinds.removeAll { $0 == .rightsWithdrawn } }
        // Some of them may have no effect.
        kinds.shuffle(using: &random)
        let chosen = kinds.prefix(random.from(SimulationOptions.minFaultKinds + 3...kinds.count))
        faults = chosen.filter { !$0.isOfActions }.sorted { $0.rawValue < $1.rawValue }
        var policy = JournalPolicy()
        policy.snapshotBytes = random.pick([2 << 10, 64 << 10, 32 << 20])
        policy.snapshotRecords = random.pick([2, 20, policy.snapshotRecords])
        policy.historyBytes = random.pick([0, 16 << 10, 1 << 30])
        cluster = Cluster(
            seed: seed,
            sizes,
            stores: stores,
            policy: policy,
            nodes: nodeCount,
            faults: Set(chosen),
            keepsTrace: options.keepsTrace,
            onNote: options.onNote
        )
        self.random = random
    }

    /// Runs until enough has happened, stops the faults, and checks that the cluster converges. Call it once.
    package func run() -> SimulationReport {
        TrapReport.note(cluster.seed)
        cluster.start()
        for _ in 0..<(1 + random.below(4)) { cluster.addReplica() }
        for _ in 0..<(1 + random.below(4)) { cluster.addSender() }
        scheduleWork()
        scheduleOwnWork()
        scheduleFault()
        while world.violation == nil, !isOver, world.step() {}
        let eventsOfFaults = world.eventCount
        if world.violation == nil { cluster.converge() }
        cluster.end()
        TrapReport.note(nil)
        return SimulationReport(
            seed: cluster.seed,
            events: world.eventCount,
            eventsOfFaults: eventsOfFaults,
            time: world.now.offset,
            faults: world.faultCounts,
            faultsDrawn: faultsDrawn,
            coverage: world.coverage,
            violation: world.violation,
            trace: world.trace
        )
    }

    private var isOver: Bool {
        world.eventCount >= options.minEvents
            && (world.faultCounts.count >= SimulationOptions.minFaultKinds || !options.skippedFaults.isEmpty
                || world.eventCount >= 10 * options.minEvents)
    }

    // MARK: Events

    /// In a burst, several batches are under way.
    private func scheduleWork() {
        if burstLeft == 0, random.oneIn(50) { burstLeft = random.from(5...60) }
        burstLeft = max(0, burstLeft - 1)
        schedule(within: burstLeft > 0 ? .microseconds(50) ... .milliseconds(2) : .microseconds(100) ... .seconds(1)) {
            [self] in
            let sender = random.pick(cluster.senders)
            if sender.machine.pendingCount < Self.maxPending, world.now >= sender.process.pausedUntil {
                sender.submit(random.oneIn(10) ? random.from(1...40) : random.from(1...4))
            }
            scheduleWork()
        }
    }

    private static let maxPending = 200

    private func scheduleOwnWork() {
        schedule(within: .milliseconds(1) ... .seconds(4)) { [self] in
            let store = random.pick(cluster.stores)
            cluster.submitOwn(random.split(), to: store, isAwaited: random.oneIn(2))
            scheduleOwnWork()
        }
    }

    private func scheduleFault() {
        schedule(within: .milliseconds(2) ... .seconds(8)) { [self] in
            faultsDrawn += 1
            // Numbers of its own: what follows does not depend on whether the fault is skipped.
            var random = self.random.split()
            let fault = random.pick(faults)
            if !options.skippedFaults.contains(faultsDrawn) {
                world.note("fault \(faultsDrawn): \(fault)")
                cluster.inject(fault, &random)
            }
            scheduleFault()
        }
    }

    private func schedule(within range: ClosedRange<Duration>, _ event: @escaping () -> Void) {
        world.schedule(after: random.duration(range)) { [cluster] in if !cluster.hasStoppedFaults { event() } }
    }
}

/// How a simulation runs.
package struct SimulationOptions: Sendable {
    /// The number of events after which faults stop. A run that has had an effect of fewer than ``minFaultKinds`` kinds
    /// of faults goes on, up to ten times as long.
    package var minEvents = 10_000
    package static let minFaultKinds = 5
    package var sizes = SizeChoice.mixed
    package var nodes = NodeChoice.mixed
    package var keepsTrace = false
    /// Called with each line of the trace, as it happens.
    package var onNote: (@Sendable (String) -> Void)?
    /// The numbers of faults that are not injected.
    package var skippedFaults: Set<Int> = []

    package init() {}

    /// How many nodes a primary has.
    package enum NodeChoice: String, CaseIterable, Sendable {
        /// One or several, by the seed.
        case mixed
        case one
        case several
    }

    /// Which sizes a run has.
    package enum SizeChoice: String, CaseIterable, Sendable {
        /// Those of production or tiny ones, by the seed.
        case mixed
        case standard
        case tiny
    }
}

/// What happened in a run.
package struct SimulationReport: Sendable {
    package let seed: UInt64
    package let events: Int
    /// The number of events until faults stopped.
    let eventsOfFaults: Int
    /// The virtual time at the end.
    package let time: Duration
    /// How often a fault of each kind had an effect.
    package let faults: [Fault: Int]
    let faultsDrawn: Int
    package let coverage: Coverage
    /// The first broken rule; `nil` if all held.
    package let violation: Violation?
    /// Empty, unless the options keep it.
    package let trace: [String]
}
