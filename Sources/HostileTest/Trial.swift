import FleetApp
import Foundation
import Statecast
import StatecastCoding
import Synchronization

/// One scenario: a primary, honest members, and an attack.
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
            openFiles: "\(plan.openFiles)",
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
            group.addTask { (try await attack(primary, honest, peak), honest.replica.snapshot) }
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

    private func attack(_ primary: Child, _ honest: HonestNodes, _ peak: PeakMemory) async throws -> TrialReport {
        if scenario.hosts > 0 { try await honest.senders[0].addHosts(scenario.hosts) }
        if scenario.isByOneMember { try await honest.idle.send() }
        for sender in honest.senders { try await sender.load(until: .now + .seconds(1)) }
        var report = TrialReport(scenario, maxMemory: plan.maxMemory)
        report.calmBytes = peak.bytes
        try await attack(primary, honest, &report)
        if try await !isIdle(primary) { report.faults.append("the primary was busy half a minute after the attack") }
        report.peakBytes = peak.bytes
        if scenario.isByOneMember {
            try await honest.idle.send()
            let sessions = Set(await honest.idle.record.receipts.map(\.session))
            if sessions.count > 1 { report.faults.append("an honest idle session was forgotten") }
        }
        // A sender that begins after the attack.
        try await withSender(honest.newcomer.sender) { _ in try await honest.newcomer.send() }
        for sender in honest.senders + [honest.newcomer] {
            if let last = await sender.record.receipts.last { try await honest.replica.reached(last) }
        }
        return report
    }

    /// Attacks while one honest sender sends as much as it may, and another one action at a time.
    ///
    /// An attack on memory ends two seconds after the primary has closed its connections, or after half a minute.
    private func attack(_ primary: Child, _ honest: HonestNodes, _ report: inout TrialReport) async throws {
        let endpoints = honest.endpoints
        let attack = try Child(
            "statecast-hostile-test",
            [
                "attack", scenario.name, "--publish", endpoints.publish, "--actions", endpoints.actions,
                "--receipts", endpoints.receipts, "--primary-key", "\(members.primary)",
                "--keys", plan.path(Members.attacker + ".key"),
            ],
            openFiles: "$(ulimit -Hn)",
            isIdle: scenario.hoard == nil,
            output: plan.path(scenario.name)
        )
        defer { attack.kill() }
        _ = try await attack.awaitLines { _ in attack.counts.sent > 0 }
        if let hoard = scenario.hoard {
            let end = ContinuousClock.now + .seconds(30)
            while .now < end, !primary.hasClosedConnections, attack.counts.sent < hoard.count {
                report.note(try await honest.senders[0].send(until: .now + .milliseconds(100)))
            }
            report.note(try await honest.senders[0].send(until: .now + .seconds(2)))
        } else {
            let end = ContinuousClock.now + .seconds(plan.seconds)
            async let load: Void = honest.senders[1].load(until: end)
            report.note(try await honest.senders[0].send(until: end))
            try await load
        }
        guard attack.isRunning else { throw attack.failure }
        report.attack = attack.counts
    }

    /// Waits until the primary has processed what the attack has left in its queues.
    ///
    /// - Returns: `false` if that takes more than half a minute.
    private func isIdle(_ primary: Child) async throws -> Bool {
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
