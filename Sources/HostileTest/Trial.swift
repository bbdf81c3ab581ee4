import FleetApp
import Foundation
import Statecast
import StatecastCoding
import Synchronization

/// One scenario: a primary, honest members, and rounds without and with the attack.
struct Trial: Sendable {
    private let scenario: Scenario
    private let plan: HostilePlan
    private let members: Members

    init(_ scenario: Scenario, _ plan: HostilePlan) throws {
        self.scenario = scenario
        self.plan = plan
        members = try Members(plan, useKeys: scenario.usesKeys)
    }

    /// A trial ends if no honest action is confirmed for this time, or the primary has this much memory beyond its
    /// bound.
    private static let maxStall = Duration.seconds(60)
    private static let maxExcess = 1 << 30

    /// - Throws: ``TrialFailure`` if the primary ends, or something hangs.
    func run() async throws -> TrialReport {
        let primary = try Child(
            "statecast-primary",
            [
                "--app", "fleet", "--journal", plan.journal, "--history-bytes", "\(1 << 40)",
                "--publish", "tcp://127.0.0.1:*", "--actions", "tcp://127.0.0.1:*", "--receipts", "tcp://127.0.0.1:*",
                // A node that polls yields its processor between polls, here to the attack.
                "--busy-polling-max", "0",
            ] + (scenario.usesKeys ? ["--keys", plan.path("primary.key"), "--access", plan.path("access")] : [])
                + (scenario.hoard == nil ? [] : ["--max-memory", "\(plan.maxMemory)"]),
            openFiles: plan.openFiles,
            output: plan.path("primary")
        )
        defer { primary.kill() }
        let ready = try await primary.awaitLines { !$0.isEmpty }[0]
        let honest = try HonestNodes(members, Endpoints(readyLine: ready))
        let peak = PeakMemory()
        var (report, snapshot) = try await withThrowingTaskGroup(
            of: (TrialReport, StateSnapshot<Value>?)?.self
        ) { group in
            for node in honest.senders + [honest.idle] {
                group.addTask {
                    try await node.sender.run(); return nil
                }
            }
            group.addTask {
                try await honest.replica.run(); return nil
            }
            group.addTask {
                try await watch(primary, honest, peak); return nil
            }
            group.addTask { (try await measured(primary, honest, peak), honest.replica.snapshot) }
            defer { group.cancelAll() }
            while let ended = try await group.next() { if let ended { return ended } }
            throw TrialFailure("the honest members ended")
        }
        try primary.stop()
        var records: [HonestSender.Record] = []
        for sender in honest.senders + [honest.idle, honest.newcomer] { records.append(await sender.record) }
        let verdict = try JournalVerdict(at: plan.journal, records, snapshot)
        report.faults += verdict.faults
        report.actions = verdict.actions
        report.logLines = primary.logLines.count
        report.hasClosedConnections = primary.hasClosedConnections
        report.judge()
        return report
    }

    /// Records the memory of the primary.
    ///
    /// - Throws: if the primary ends, or does not serve.
    private func watch(_ primary: Child, _ honest: HonestNodes, _ peak: PeakMemory) async throws {
        var (confirmed, changed) = (0, ContinuousClock.now)
        while primary.isRunning {
            try await Task.sleep(for: .milliseconds(20))
            let bytes = try primary.usage.residentBytes
            peak.note(bytes)
            let maxBytes = scenario.memory.reduce(Self.maxExcess) { $0 + $1.bytes }
            guard bytes < maxBytes else { throw TrialFailure("stopped: the primary has \(bytes >> 20) MiB") }
            var now = await honest.newcomer.confirmed
            for sender in honest.senders { now += await sender.confirmed }
            if now > confirmed { (confirmed, changed) = (now, .now) }
            guard changed.duration(to: .now) < Self.maxStall else {
                throw TrialFailure("stopped: no receipt for \(Self.maxStall), the primary has \(bytes >> 20) MiB")
            }
        }
        throw primary.failure
    }

    private func measured(_ primary: Child, _ honest: HonestNodes, _ peak: PeakMemory) async throws -> TrialReport {
        if scenario.hosts > 0 { try await honest.senders[0].addHosts(scenario.hosts) }
        if scenario.isByOneMember { try await honest.idle.send() }
        _ = try await phase(.seconds(1), primary, honest)
        var report = TrialReport(scenario, plan)
        // The primary closes its connections again after half a minute at the earliest.
        for round in 1...(scenario.hoard == nil ? plan.rounds : 1) {
            report.calm.append(try await phase(round, of: .none, primary, honest))
            if round == 1 { report.calmBytes = peak.bytes }
            report.attacked.append(try await phase(round, of: scenario, primary, honest))
            report.isCalmAgain = try await awaitCalm(primary) && report.isCalmAgain
        }
        report.peakBytes = peak.bytes
        if scenario.isByOneMember {
            try await honest.idle.send()
            let sessions = Set(await honest.idle.record.receipts.map(\.session))
            if sessions.count > 1 { report.faults.append("an honest idle session was forgotten") }
        }
        // A sender that begins after the attacks.
        try await withSender(honest.newcomer.sender) { _ in try await honest.newcomer.send() }
        if let last = await honest.newcomer.record.receipts.last { try await honest.replica.reached(last) }
        return report
    }

    private func phase(
        _ round: Int,
        of scenario: Scenario,
        _ primary: Child,
        _ honest: HonestNodes
    ) async throws -> PhaseFigures {
        let endpoints = honest.endpoints
        let attack = try Child(
            "statecast-hostile-test",
            [
                "attack", scenario.name, "--publish", endpoints.publish, "--actions", endpoints.actions,
                "--receipts", endpoints.receipts, "--primary-key", "\(members.primary)",
                "--keys", plan.path(Members.attackers[scenario.isByOneMember ? 0 : round - 1] + ".key"),
            ],
            openFiles: nil,
            isIdle: scenario.hoard == nil,
            output: plan.path("\(scenario.name)-\(round)")
        )
        defer { attack.kill() }
        var longest: Duration?
        if let hoard = scenario.hoard {
            longest = try await longestAction(primary, attack, of: hoard, honest.senders[0])
        }
        _ = try await attack.awaitLines { _ in attack.counts.sent > 0 }
        var figures = try await phase(plan.phase, primary, honest, attack)
        figures.longestAction = longest
        guard attack.isRunning else { throw attack.failure }
        return figures
    }

    /// Measures the throughput, then the latency.
    private func phase(
        _ duration: Duration,
        _ primary: Child,
        _ honest: HonestNodes,
        _ attack: Child? = nil
    ) async throws -> PhaseFigures {
        func counts() -> AttackCounts { attack?.counts ?? AttackCounts() }
        let (start, usage, counted) = (ContinuousClock.now, try primary.usage, counts())
        let half = start + duration / 2
        let confirmed = try await withThrowingTaskGroup { group in
            for sender in honest.senders { group.addTask { try await sender.load(until: half) } }
            return try await group.reduce(0, +)
        }
        let (middle, countedMiddle) = (ContinuousClock.now, counts())
        let times = try await honest.senders[0].latencies(until: middle + duration / 2).sorted()
        let seconds = start.duration(to: .now) / .seconds(1)
        let latencySeconds = middle.duration(to: .now) / .seconds(1)
        let (end, used) = (counts(), try primary.usage.processorSeconds - usage.processorSeconds)
        let asked = ContinuousClock.now
        for sender in honest.senders {
            if let last = await sender.record.receipts.last { try await honest.replica.reached(last) }
        }
        return PhaseFigures(
            throughput: Double(confirmed) / (duration / .seconds(2)),
            p50: times[times.count / 2] / .milliseconds(1),
            p99: times[times.count * 99 / 100] / .milliseconds(1),
            processors: used / seconds,
            attackInLoad: Double(countedMiddle.sent - counted.sent) / (start.duration(to: middle) / .seconds(1)),
            attackInLatency: Double(end.sent - countedMiddle.sent) / latencySeconds,
            answers: Double(end.answered - counted.answered) / seconds,
            replicaSeconds: asked.duration(to: .now) / .seconds(1)
        )
    }

    /// Sends actions from the beginning of an attack until two seconds after the primary has closed its connections,
    /// or the attack has ended, or half a minute has passed.
    ///
    /// - Returns: the longest time of an action.
    private func longestAction(
        _ primary: Child,
        _ attack: Child,
        of hoard: Hoard,
        _ sender: HonestSender
    ) async throws -> Duration {
        var longest = Duration.zero
        let end = ContinuousClock.now + .seconds(30)
        while .now < end, !primary.hasClosedConnections, attack.counts.sent < hoard.count {
            longest = max(longest, try await sender.latencies(until: .now + .milliseconds(100)).max() ?? .zero)
        }
        return max(longest, try await sender.latencies(until: .now + .seconds(2)).max() ?? .zero)
    }

    /// Waits until the primary has processed what an attack has left in its queues.
    ///
    /// - Returns: `false` if that takes more than half a minute.
    private func awaitCalm(_ primary: Child) async throws -> Bool {
        for _ in 0..<150 {
            let before = try primary.usage.processorSeconds
            try await Task.sleep(for: .milliseconds(200))
            if try primary.usage.processorSeconds - before < 0.06 { return true }
        }
        return false
    }
}

extension Child {
    /// What an attack has done.
    fileprivate var counts: AttackCounts { lines.last.map(AttackCounts.init) ?? AttackCounts() }

    /// Whether a primary had more than `maxMemory`.
    fileprivate var hasClosedConnections: Bool {
        logLines.contains { $0.contains("more than maxMemory; peers connect again") }
    }
}

/// The largest resident size of the primary. The kernel's own mark includes the start.
final class PeakMemory: Sendable {
    private let peak = Atomic<Int>(0)

    var bytes: Int { peak.load(ordering: .relaxed) }
    func note(_ bytes: Int) { peak.max(bytes, ordering: .relaxed) }
}

/// The endpoints of a primary.
struct Endpoints: Sendable {
    let publish: String
    let actions: String
    let receipts: String

    init(publish: String, actions: String, receipts: String) {
        self.publish = publish
        self.actions = actions
        self.receipts = receipts
    }

    init(readyLine: Substring) throws {
        func field(_ name: String) throws -> String {
            guard let field = readyLine.split(separator: " ").first(where: { $0.hasPrefix(name + "=") }) else {
                throw TrialFailure("the primary's line has no \(name): \(readyLine)")
            }
            return String(field.dropFirst(name.count + 1))
        }
        // Without keys, receipts are published with the states.
        let publish = try field("publish")
        self.init(publish: publish, actions: try field("actions"), receipts: (try? field("receipts")) ?? publish)
    }
}

/// The honest members of a trial.
struct HonestNodes: Sendable {
    let endpoints: Endpoints
    let senders: [HonestSender]
    /// Sends one action before the attacks of ``Scenario/isByOneMember`` and one after them.
    let idle: HonestSender
    /// Begins after the attacks.
    let newcomer: HonestSender
    let replica: Replica<Value>

    init(_ members: Members, _ endpoints: Endpoints) throws {
        self.endpoints = endpoints
        func sender(_ user: String, _ hosts: String) throws -> HonestSender {
            HonestSender(hosts, try members.sender(user, at: endpoints.receipts))
        }
        senders = try Members.honest.map { try sender($0, $0) }
        idle = try sender(Members.honest[0], "honest-idle")
        newcomer = try sender(Members.honest[0], "honest-newcomer")
        replica = try members.replica(at: endpoints.publish)
    }
}
