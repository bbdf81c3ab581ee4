import ArgumentParser
import Foundation

@main
struct HostileTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-hostile-test",
        abstract: "Attacks a primary as a member would, and measures what honest members notice.",
        discussion: """
            For each scenario, a primary with keys and a journal runs as a process of its own. Two honest senders and \
            a replica are measured without and with an attack in turn, in \(HostilePlan.maxRounds) rounds. The attack \
            is another process, with the key of a member who may follow and send, and it ignores all rules of \
            clients. It runs while processors are idle (SCHED_IDLE), as it would not compete for them on its own \
            machine. Without an attack, two threads compute in its place. The test fails if the primary ends, its \
            memory exceeds the bound, an action is lost or doubled, the honest senders reach less than half of their \
            undisturbed throughput, or their 99th percentile is more than twice that of all rounds without an attack, \
            of all scenarios (medians). Each line with a bound names its parts. An attack that makes libzmq collect \
            more than maxMemory must make the primary close its connections, and serve the honest members again. \
            Attacks on memory are paced, and run at the standard priority: their memory has to grow also on a busy \
            machine. They run in one round, as all scenarios do with less than \(HostilePlan.ratiosFrom) seconds; \
            throughput and latency are not judged then. It needs Linux (/proc).
            """,
        subcommands: [AttackCommand.self]
    )

    @Option(help: "The seconds of each scenario's measurements, half of them with the attack.")
    var seconds = 120.0

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
        print(
            "the attack runs while processors are idle, the primary with \(openFiles) open files, "
                + "on \(ProcessInfo.processInfo.activeProcessorCount) processors"
        )
        print(TrialReport.heading)
        var (reports, isGood): ([TrialReport], Bool) = ([], true)
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
                reports.append(report)
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
        if !reports.isEmpty { print(reports.summary) }
        for fault in reports.latencyFaults { print("FAULT \(fault)") }
        guard isGood && reports.latencyFaults.isEmpty else { throw ExitCode.failure }
        print("no fault")
    }
}

/// The numbers of a run, and the paths of a trial's files.
struct HostilePlan: Sendable {
    let folder: URL
    /// Of all rounds.
    let seconds: Double
    let openFiles: Int
    let maxMemory: Int

    /// The seconds from which throughput and latency are judged.
    static let ratiosFrom = 20.0

    var judgesRatios: Bool { seconds >= Self.ratiosFrom }
    static let maxRounds = 7
    var rounds: Int { judgesRatios ? Self.maxRounds : 1 }
    /// Half of it measures the throughput, the other half the latency.
    var phase: Duration { .seconds(seconds / Double(2 * rounds)) }

    var journal: String { path("journal") }
    func path(_ name: String) -> String { folder.appending(path: name).path }
}

/// An error of a trial.
struct TrialFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension String {
    /// Appends spaces.
    func padded(to width: Int) -> String { padding(toLength: max(width, count), withPad: " ", startingAt: 0) }
}
