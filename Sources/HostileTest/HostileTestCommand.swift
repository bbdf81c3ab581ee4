import ArgumentParser
import Foundation

@main
struct HostileTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-hostile-test",
        abstract: "Attacks a primary as a member would.",
        discussion: """
            For each scenario, a primary with keys and a journal runs as a process of its own, with two honest \
            senders and a replica. The attack is another process, with the key of a member who may follow and send, \
            and it ignores all rules of clients. The test fails if the primary ends, its memory exceeds the bound, an \
            action is lost or doubled, or the honest members do not go on. Each line with a bound names its parts. An \
            attack that makes libzmq collect more than maxMemory must make the primary close its connections. Other \
            attacks run while processors are idle (SCHED_IDLE), as they would not compete for them on their own \
            machine. It needs Linux (/proc).
            """,
        subcommands: [AttackCommand.self]
    )

    @Option(help: "The seconds of each attack; one on memory lasts until it has its effect.")
    var seconds = 20.0

    @Option(help: ArgumentHelp("Run this scenario only; may be repeated.", valueName: "name"))
    var only: [String] = []

    @Flag(help: "List the scenarios.")
    var list = false

    @Option(help: "The primary's limit of open files.")
    var openFiles = 1424

    @Option(help: "The primary's maxMemory in attacks on memory, in bytes; 0: no limit, which shows what they cost.")
    var maxMemory = 300 << 20

    func validate() throws {
        for name in only where Scenario.all.allSatisfy({ $0.name != name }) {
            throw ValidationError("no scenario is called \(name): see --list")
        }
        guard seconds > 0 else { throw ValidationError("seconds are more than 0") }
    }

    func run() async throws {
        guard !list else { return Scenario.all.forEach { print($0.name.padded(to: 14) + $0.summary) } }
        print(TrialReport.heading)
        var isGood = true
        for scenario in Scenario.all where only.isEmpty || only.contains(scenario.name) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-test-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let plan = HostilePlan(
                folder: folder,
                seconds: seconds,
                openFiles: openFiles,
                maxMemory: maxMemory
            )
            let faults: [String]
            do {
                let report = try await Trial(scenario, plan).run()
                print(report.text)
                faults = report.faults
            } catch {
                faults = ["\(error)"]
            }
            for fault in faults.prefix(20) { print("FAULT \(scenario.name): \(fault)") }
            if faults.isEmpty {
                try FileManager.default.removeItem(at: folder)
            } else {
                print("the journal and the log are in \(folder.path)")
                isGood = false
            }
            fflush(nil)
        }
        guard isGood else { throw ExitCode.failure }
        print("no fault")
    }
}

/// The numbers of a trial, and the paths of its files.
struct HostilePlan: Sendable {
    let folder: URL
    /// Of the attack.
    let seconds: Double
    let openFiles: Int
    let maxMemory: Int

    var journal: String { path("journal") }
    func path(_ name: String) -> String { folder.appending(path: name).path }
}

extension String {
    /// Appends spaces.
    func padded(to width: Int) -> String { padding(toLength: max(width, count), withPad: " ", startingAt: 0) }
}
