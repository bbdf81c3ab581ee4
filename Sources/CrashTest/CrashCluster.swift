import CounterApp
import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading

/// A primary, senders and replicas, each a process.
final class CrashCluster {
    private let plan: CrashPlan
    private var random: SplitMix64
    private var primary: Primary?
    private var disk: SmallDisk?
    private var senders: [Child] = []
    private var replicas: [Child] = []
    private var publish = "tcp://127.0.0.1:*"
    private var actions = "tcp://127.0.0.1:*"
    private var incarnation = 0
    private(set) var counts = Counts()

    /// The number of events while senders had unsent actions.
    struct Counts {
        var primaryKills = 0
        /// Kills of primaries that were not ready yet.
        var startingKills = 0
        var senderKills = 0
        /// Primaries that ended because their disk failed or was full.
        var failures = 0
        var fullDisks = 0
    }

    /// A started process of a primary.
    private struct Primary {
        let child: Child
        let disk: PrimaryDisk
        /// Whether its disk was full at some time.
        var wasFull: Bool
    }

    init(_ plan: CrashPlan, seed: UInt64) throws {
        self.plan = plan
        random = SplitMix64(seed: seed)
        disk = try plan.disk.map { try SmallDisk($0) }
        let line = #"{"action":"CounterIncreaseRequested"}"# + "\n"
        let input = Data(String(repeating: line, count: plan.actions).utf8)
        for sender in 0..<plan.senders { try input.write(to: URL(filePath: plan.input(sender))) }
    }

    func run() async throws {
        try await startPrimary(.slow)
        senders = try (0..<plan.senders).map(startSender)
        replicas = try (0..<plan.replicas).map(startReplica)
        for cycle in 1...plan.cycles {
            // Sometimes so short that the primary is not ready yet.
            let seconds = random.below(8) == 0 ? 0.02 : 0.5
            pause(seconds / 2)
            try changeDisk()
            pause(seconds / 2)
            try endPrimary { $0.primaryKills += 1 }
            for sender in senders.indices where random.below(3) == 0 && senders[sender].isRunning {
                senders[sender].kill()
                senders[sender] = try startSender(sender)
                counts.senderKills += 1
            }
            try changeDisk()
            while random.below(3) == 0 {
                primary = try spawnPrimary(.fast)
                pause(0.1)
                try endPrimary { $0.startingKills += 1 }
            }
            let isLast = cycle == plan.cycles
            if isLast { disk?.free() }
            try await startPrimary(isLast ? .fast : PrimaryDisk.allCases[Int(random.below(3))])
            if cycle.isMultiple(of: 20) { print("\(cycle) cycles") }
        }
        for sender in senders { try sender.wait() }
        let head = try JournalReader(at: plan.journal).verify().to.revision
        for replica in 0..<plan.replicas { try awaitRevision(head, of: replica) }
        for replica in replicas { try replica.stop() }
        try primary?.child.stop()
    }

    func endAll() {
        disk?.free()
        for child in replicas + senders { child.kill() }
        primary?.child.kill()
    }

    private var hasLoad: Bool { senders.contains(where: \.isRunning) }

    /// Sometimes fills the disk, or makes room again.
    private func changeDisk() throws {
        guard disk != nil, random.below(3) == 0 else { return }
        if disk?.isFull == true {
            disk?.free()
        } else {
            try disk?.fill()
            primary?.wasFull = true
            if hasLoad { counts.fullDisks += 1 }
        }
    }

    /// Sleeps for a random time of at most this many seconds.
    private func pause(_ seconds: Double) {
        Thread.sleep(forTimeInterval: seconds * Double(random.below(1000)) / 1000)
    }

    private func spawnPrimary(_ kind: PrimaryDisk) throws -> Primary {
        incarnation += 1
        let executable = kind == .fast ? "statecast-primary" : "statecast-crash-test"
        let arguments =
            kind == .fast
            ? [
                "--app", "counter", "--journal", plan.journal, "--durability", plan.durability,
                "--publish", publish, "--actions", actions, "--snapshot-records", "50",
            ]
            : [
                "disk-primary", kind.rawValue, "\(random.next())", plan.journal, plan.durability, publish, actions,
            ]
        let child = try Child(executable, arguments, output: plan.path("primary-\(incarnation)"))
        return Primary(child: child, disk: kind, wasFull: disk?.isFull ?? false)
    }

    /// Starts a primary. If it ends because of its disk, starts another one, with room and without failures.
    private func startPrimary(_ kind: PrimaryDisk) async throws {
        let started = try spawnPrimary(kind)
        primary = started
        guard let line = try? await started.child.awaitLines({ !$0.isEmpty })[0] else {
            try endPrimary { _ in }
            disk?.free()
            return try await startPrimary(.fast)
        }
        let fields = line.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        // Later primaries bind the ports that the first one got.
        for field in fields where field.count == 2 {
            if field[0] == "publish" { publish = String(field[1]) }
            if field[0] == "actions" { actions = String(field[1]) }
        }
    }

    /// Kills the primary.
    ///
    /// - Throws: ``TrialFailure`` if it had ended for another reason than its disk.
    private func endPrimary(_ countKill: (inout Counts) -> Void) throws {
        guard let ended = primary.take() else { return }
        let hasLoad = hasLoad
        if ended.child.kill() {
            if hasLoad { countKill(&counts) }
            return
        }
        guard ended.child.hasExited, ended.disk == .failing || ended.wasFull else { throw ended.child.failure }
        if hasLoad { counts.failures += 1 }
    }

    private func startSender(_ sender: Int) throws -> Child {
        try Child(
            "statecast-send",
            [
                "--from", publish, "--store", Counter.storeName, "--ndjson", "--json",
                "--session", plan.session(sender), "--resume",
            ],
            input: plan.input(sender),
            output: plan.receipts(sender)
        )
    }

    private func startReplica(_ replica: Int) throws -> Child {
        try Child(
            "statecast-replica",
            ["--from", publish, "--store", Counter.storeName, "--json"],
            output: plan.states(replica)
        )
    }

    private func awaitRevision(_ revision: Revision, of replica: Int) throws {
        let end = Data(#""revision":\#(revision),"#.utf8)
        while try Data(contentsOf: URL(filePath: plan.states(replica))).suffix(4096).range(of: end) == nil {
            guard replicas[replica].isRunning else { throw TrialFailure("replica \(replica) ended") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}
