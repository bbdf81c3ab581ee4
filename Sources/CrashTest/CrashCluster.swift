import CounterApp
import Foundation
import Journal
import SQLiteJournal
import StateCore
import SyncProtocol

/// A primary, senders and replicas, each a process.
final class CrashCluster {
    private let plan: CrashPlan
    private var random: SeededGenerator
    private var primary: Child?
    private var senders: [Child] = []
    private var replicas: [Child] = []
    private var publish = "tcp://127.0.0.1:*"
    private var actions = "tcp://127.0.0.1:*"
    private var incarnation = 0
    private(set) var kills = Kills()

    /// The number of kills while senders had unsent actions.
    struct Kills {
        var primary = 0
        /// Primaries that were not ready yet.
        var starting = 0
        var sender = 0
    }

    init(_ plan: CrashPlan, seed: UInt64) throws {
        self.plan = plan
        random = SeededGenerator(state: seed)
        let line = #"{"action":"CounterIncreaseRequested"}"# + "\n"
        let input = Data(String(repeating: line, count: plan.actions).utf8)
        for sender in 0..<plan.senders { try input.write(to: URL(filePath: plan.input(sender))) }
    }

    func run() async throws {
        try startPrimary(isSlow: true)
        senders = try (0..<plan.senders).map(startSender)
        replicas = try (0..<plan.replicas).map(startReplica)
        for cycle in 1...plan.cycles {
            // Sometimes so short that the primary is not ready yet.
            pause(random.next(below: 8) == 0 ? 0.02 : 0.5)
            let hasLoad = senders.contains(where: \.isRunning)
            primary?.kill()
            if hasLoad { kills.primary += 1 }
            for sender in senders.indices where senders[sender].isRunning && random.next(below: 3) == 0 {
                senders[sender].kill()
                senders[sender] = try startSender(sender)
                kills.sender += 1
            }
            while random.next(below: 3) == 0 {
                let starting = try spawnPrimary(isSlow: false)
                pause(0.1)
                starting.kill()
                if hasLoad { kills.starting += 1 }
            }
            try startPrimary(isSlow: cycle < plan.cycles && random.next(below: 2) == 0)
            if cycle.isMultiple(of: 20) { print("\(cycle) cycles") }
        }
        for sender in senders { try sender.wait() }
        let head = try JournalReader(at: plan.journal).verify().to.revision
        for replica in 0..<plan.replicas { try awaitRevision(head, of: replica) }
        for replica in replicas { try replica.stop() }
        try primary?.stop()
    }

    func endAll() {
        for child in replicas + senders { child.kill() }
        primary?.kill()
    }

    /// Sleeps for a random time of at most this many seconds.
    private func pause(_ seconds: Double) {
        Thread.sleep(forTimeInterval: seconds * Double(random.next(below: 1000)) / 1000)
    }

    private func spawnPrimary(isSlow: Bool) throws -> Child {
        incarnation += 1
        let executable = isSlow ? "statecast-crash-test" : "statecast-primary"
        let arguments =
            isSlow
            ? ["slow-primary", plan.journal, plan.durability, publish, actions]
            : [
                "--app", "counter", "--journal", plan.journal, "--durability", plan.durability,
                "--publish", publish, "--actions", actions, "--snapshot-records", "50",
            ]
        return try Child(executable, arguments, output: plan.path("primary-\(incarnation)"))
    }

    private func startPrimary(isSlow: Bool) throws {
        let child = try spawnPrimary(isSlow: isSlow)
        primary = child
        let fields = try child.firstLine().split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        // Later primaries bind the ports that the first one got.
        for field in fields where field.count == 2 {
            if field[0] == "publish" { publish = String(field[1]) }
            if field[0] == "actions" { actions = String(field[1]) }
        }
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
            guard replicas[replica].isRunning else { throw CrashFailure("replica \(replica) ended") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func next(below bound: UInt64) -> UInt64 { next() % bound }
}

/// A process of an executable beside this one, whose output is appended to a file.
private final class Child {
    private let process = Process()
    private let output: String

    /// - Parameters:
    ///   - name: of the executable.
    ///   - input: the path of a file.
    ///   - output: the path of a file.
    init(_ name: String, _ arguments: [String], input: String? = nil, output: String) throws {
        self.output = output
        process.executableURL = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: name)
        process.arguments = arguments
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: URL(filePath: $0)) } ?? FileHandle.nullDevice
        process.standardOutput = try Self.end(of: output)
        process.standardError = try Self.end(of: output + ".errors")
        try process.run()
    }

    private static func end(of path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        try handle.seekToEnd()
        return handle
    }

    var isRunning: Bool { process.isRunning }

    /// Kills the process.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Terminates the process.
    func stop() throws {
        process.terminate()
        try wait()
    }

    /// Waits for the process to exit.
    func wait() throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw CrashFailure(
                "\(process.executableURL?.lastPathComponent ?? "") ended with \(process.terminationStatus): \(errors)"
            )
        }
    }

    /// The first line of the output.
    func firstLine() throws -> String {
        while process.isRunning {
            let lines = try String(contentsOfFile: output, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            if lines.count > 1 { return String(lines[0]) }
            Thread.sleep(forTimeInterval: 0.005)
        }
        throw CrashFailure("\(process.executableURL?.lastPathComponent ?? "") ended before it was ready: \(errors)")
    }

    private var errors: String {
        let text = (try? String(contentsOfFile: output + ".errors", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(5).joined(separator: " / ")
    }
}

/// An error of a run.
struct CrashFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
