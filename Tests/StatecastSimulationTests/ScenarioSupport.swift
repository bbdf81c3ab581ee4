import Statecast
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastSimulation

/// Runs a script on a cluster whose primary serves, and ends all processes after it.
func scenario(_ cluster: Cluster, _ script: () throws -> Void) throws {
    defer { cluster.end() }
    cluster.primary.start()
    try cluster.wait("the primary serves") { cluster.primary.isServing }
    try script()
}

/// A rule was broken, or a situation was not reached.
struct ScenarioFailure: Error, CustomStringConvertible {
    let description: String
}

extension Cluster {
    /// Lets the cluster run until a condition holds.
    ///
    /// - Parameter time: the virtual time after which the condition is not expected any more.
    /// - Throws: ``ScenarioFailure`` if a rule is broken, or if the condition does not hold in time.
    func wait(_ what: String, atMost time: Duration = .seconds(60), until condition: () -> Bool) throws(ScenarioFailure)
    {
        let deadline = world.now.advanced(by: time)
        while !condition() {
            if let violation = world.violation { throw ScenarioFailure(description: "\(what)? \(violation)") }
            guard world.now < deadline, world.step() else {
                throw ScenarioFailure(description: "\(what)? Not within \(time).\n\(trace(lines: 20))")
            }
        }
    }

    /// Lets the cluster run for a virtual time.
    func run(for time: Duration) throws(ScenarioFailure) {
        let end = world.now.advanced(by: time)
        var isOver = false
        world.schedule(at: end) { isOver = true }
        try wait("\(time) pass", atMost: time + .seconds(1)) { isOver }
    }

    /// Stops faults, dispatched actions and the disks' syncs for good, and checks that the cluster converges without a
    /// broken rule.
    func convergeOrThrow() throws(ScenarioFailure) {
        converge()
        if let violation = world.violation { throw ScenarioFailure(description: "\(violation)\n\(trace(lines: 20))") }
    }

    /// Lets the primary's own process dispatch an action again and again, until faults stop.
    func dispatch(to store: SimulatedStore, every interval: Duration) {
        var random = SplitMix64(seed: seed)
        world.schedule(after: interval) { [self] in
            guard !hasStoppedFaults else { return }
            submitOwn(random.split(), to: store, isAwaited: false)
            dispatch(to: store, every: interval)
        }
    }

    /// Submits an action of a kind.
    func submit(_ kind: WorkAction.Kind, by sender: SenderProcess) -> WorkID {
        let id = WorkID(sender: sender.index, serial: sender.serial + 1)
        chosenKinds[id] = kind
        sender.submit(1)
        return id
    }

    /// Adds a sender that is ready to push actions.
    func addOpenSender(of store: SimulatedStore? = nil) throws(ScenarioFailure) -> SenderProcess {
        let sender = addSender(of: store ?? stores[0], isSaved: false)
        try wait("\(sender.name) is open") { sender.machine.phaseName == .open }
        return sender
    }

    /// Adds a replica that follows the primary.
    func addLiveReplica() throws(ScenarioFailure) -> ReplicaProcess {
        let replica = addReplica(of: stores[0])
        try wait("\(replica.name) is live") { replica.status == .live }
        return replica
    }

    /// Interrupts the way from or to a node.
    func block(_ direction: Path.Direction, of node: String, for time: Duration) {
        for path in network.paths(from: node) { path.block(direction, until: world.now.advanced(by: time)) }
    }

    /// The number of times that a replica's machine received a frame in a phase.
    func count(_ phase: ReplicaMachine.PhaseName, _ frame: FrameKind) -> Int {
        world.coverage.counts[Coverage.Pair(machine: "replica", phase: phase.rawValue, event: "\(frame)")] ?? 0
    }

    /// Whether the trace has a line with a text.
    func hasNoted(_ text: String) -> Bool { world.trace.contains { $0.contains(text) } }

    private func trace(lines: Int) -> String { world.trace.suffix(lines).joined(separator: "\n") }
}

extension ReplicaProcess {
    func count(_ event: ReplicaEvent) -> Int { events.count { $0.event == event } }

    var snapshotCount: Int { events.count { if case .snapshot = $0.event { true } else { false } } }
}

extension SenderProcess {
    /// The numbers of actions with each kind of outcome: `applied` or the code of the rejection.
    var outcomeCounts: [String: Int] {
        outcomes.values.reduce(into: [:]) { counts, outcome in
            switch outcome {
            case .success: counts["applied", default: 0] += 1
            case .failure(let reason): counts["\(reason.code)", default: 0] += 1
            }
        }
    }
}
