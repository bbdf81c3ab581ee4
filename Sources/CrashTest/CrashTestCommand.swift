import ArgumentParser
import Foundation

@main
struct CrashTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-crash-test",
        abstract:
            "Kills a primary and its senders repeatedly under load, and checks that no action is lost or applied "
            + "twice.",
        discussion: """
            The executables beside this one run as processes of their own. Each is killed with SIGKILL at random \
            moments and restarted. At the end, the output of all senders and replicas is compared with the journal. \
            A third of the primaries has a slow disk, to detect updates that become visible before they are durable; \
            another third has one that also fails in the middle of a commit. With --disk, the disk is full at times.
            """,
        subcommands: [DiskPrimary.self, EffectNode.self]
    )

    @Option(help: "The number of kills of the primary.")
    var cycles = 20

    @Option(help: "The number of senders.")
    var senders = 3

    @Option(help: "The number of replicas.")
    var replicas = 2

    @Option(help: "The actions of each sender in each cycle.")
    var actions = 2000

    @Option(help: "full or normal.")
    var durability = "full"

    @Option(
        help: ArgumentHelp(
            "The mount point of a small file system, for the journal: it is filled at random.",
            valueName: "path"
        )
    )
    var disk: String?

    @Option(help: "The seed of the random delays: the same seed gives the same delays.")
    var seed: UInt64?

    func validate() throws {
        guard cycles > 0, senders > 0, replicas > 0, actions > 0 else {
            throw ValidationError("cycles, senders, replicas and actions are at least 1")
        }
    }

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        let folder = FileManager.default.temporaryDirectory.appending(path: "crash-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let plan = CrashPlan(
            folder: folder,
            cycles: cycles,
            senders: senders,
            replicas: replicas,
            actions: actions * cycles,
            durability: durability,
            disk: disk
        )
        let cluster = try CrashCluster(plan, seed: seed)
        let verdict: CrashVerdict
        do {
            try await cluster.run()
            verdict = try CrashVerdict(plan)
        } catch {
            cluster.endAll()
            try keep(plan)
            throw error
        }
        print(verdict.report(cluster.counts))
        guard verdict.faults.isEmpty else {
            try keep(plan)
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(atPath: plan.journal)
        try FileManager.default.removeItem(at: folder)
    }

    /// Keeps the outputs and the journal of a run that failed.
    private func keep(_ plan: CrashPlan) throws {
        print("the outputs and the journal are in \(plan.folder.path)")
        // The disk may exist only as long as this process.
        if plan.disk != nil { try FileManager.default.copyItem(atPath: plan.journal, toPath: plan.path("journal")) }
    }
}

/// The numbers of a run, and the paths of its files.
struct CrashPlan: Sendable {
    let folder: URL
    let cycles: Int
    let senders: Int
    let replicas: Int
    /// The total number of actions of each sender.
    let actions: Int
    let durability: String
    /// The mount point of a small file system.
    let disk: String?

    var journal: String { disk.map { $0 + "/journal" } ?? path("journal") }
    func path(_ name: String) -> String { folder.appending(path: name).path }
    func input(_ sender: Int) -> String { path("sender-\(sender).ndjson") }
    func session(_ sender: Int) -> String { path("sender-\(sender).session") }
    func receipts(_ sender: Int) -> String { path("sender-\(sender).receipts") }
    func states(_ replica: Int) -> String { path("replica-\(replica).states") }
}
