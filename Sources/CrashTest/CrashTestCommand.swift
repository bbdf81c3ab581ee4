import ArgumentParser
import Foundation

@main
struct CrashTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-crash-test",
        abstract:
            "Kills a primary and its senders again and again under load, and checks that nothing is lost or doubled.",
        discussion: """
            The executables beside this one run as processes of their own. Each is ended with SIGKILL at random moments and \
            started again. At the end all that senders and replicas printed is compared with the journal. Every other primary \
            has a slow disk, so that what is made visible too early is found.
            """,
        subcommands: [SlowPrimary.self]
    )

    @Option(help: "How often the primary is killed.")
    var cycles = 20

    @Option(help: "How many senders there are.")
    var senders = 3

    @Option(help: "How many replicas follow.")
    var replicas = 2

    @Option(help: "How many actions each sender has, for each cycle.")
    var actions = 2000

    @Option(help: "full, normal or relaxed.")
    var durability = "full"

    @Option(help: "Where random moments come from: the same seed gives the same delays.")
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
            durability: durability
        )
        let cluster = try CrashCluster(plan, seed: seed)
        let verdict: CrashVerdict
        do {
            try await cluster.run()
            verdict = try CrashVerdict(plan)
        } catch {
            cluster.endAll()
            print("what was printed and journaled is in \(folder.path)")
            throw error
        }
        print(verdict.report(kills: cluster.kills))
        guard verdict.faults.isEmpty else {
            print("what was printed and journaled is in \(folder.path)")
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(at: folder)
    }
}

/// What is done, and where it is kept.
struct CrashPlan: Sendable {
    let folder: URL
    let cycles: Int
    let senders: Int
    let replicas: Int
    /// How many actions each sender has in all.
    let actions: Int
    let durability: String

    var journal: String { path("journal") }
    func path(_ name: String) -> String { folder.appending(path: name).path }
    func input(_ sender: Int) -> String { path("sender-\(sender).ndjson") }
    func session(_ sender: Int) -> String { path("sender-\(sender).session") }
    func receipts(_ sender: Int) -> String { path("sender-\(sender).receipts") }
    func states(_ replica: Int) -> String { path("replica-\(replica).states") }
}
