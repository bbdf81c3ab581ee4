import Foundation

/// A process of an executable beside this one, whose output goes to a file.
final class Child: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output: String

    /// - Parameters:
    ///   - name: of the executable.
    ///   - openFiles: the limit of open files; `nil` for the highest possible one.
    ///   - isIdle: whether it runs only while processors are idle (Linux's policy `SCHED_IDLE`).
    ///   - output: the path of a file.
    init(_ name: String, _ arguments: [String], openFiles: Int?, isIdle: Bool = false, output: String) throws {
        self.output = output
        let folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let limited = #"ulimit -n "${1:-$(ulimit -Hn)}" && shift && exec "$@""#
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", limited, name, openFiles.map { "\($0)" } ?? ""] + (isIdle ? ["chrt", "--idle", "0"] : [])
            + [folder.appending(path: name).path] + arguments
        process.standardInput = input
        process.standardOutput = try Self.file(output)
        process.standardError = try Self.file(output + ".errors")
        try process.run()
    }

    private static func file(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(filePath: path))
        return try FileHandle(forWritingTo: URL(filePath: path))
    }

    var isRunning: Bool { process.isRunning }
    var usage: ProcessUsage {
        get throws {
            guard let usage = ProcessUsage(of: process.processIdentifier) else { throw failure }
            return usage
        }
    }

    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Terminates the process, and waits for its end.
    func stop() throws {
        process.terminate()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { throw failure }
    }

    /// How the process has ended.
    var failure: TrialFailure {
        process.waitUntilExit()
        let kind = process.terminationReason == .exit ? "status" : "signal"
        let name = process.arguments?[2] ?? ""
        return TrialFailure(
            "\(name) ended with \(kind) \(process.terminationStatus): "
                + logLines.suffix(5).joined(separator: " / ")
        )
    }

    /// The complete lines of the output.
    var lines: [Substring] {
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    var logLines: [Substring] {
        ((try? String(contentsOfFile: output + ".errors", encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// Waits until the output fulfils a condition.
    ///
    /// - Throws: if the process ends before.
    func awaitLines(_ condition: ([Substring]) -> Bool) async throws -> [Substring] {
        while true {
            let isRunning = isRunning
            let lines = lines
            if condition(lines) { return lines }
            guard isRunning else { throw failure }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// The memory and the processor time of a process, by `/proc`.
struct ProcessUsage {
    let residentBytes: Int
    let processorSeconds: Double

    /// `nil` if the process has ended.
    init?(of process: Int32) {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let resident = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = resident.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int($0) }
            ),
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = stat.lastIndex(of: ")")
        else {
            return nil
        }
        residentBytes = kilobytes << 10
        // Fields 14 and 15 of proc(5); the one after the name is the third.
        let ticks = stat[name...].split(separator: " ").dropFirst(12).prefix(2).compactMap { Double($0) }
        processorSeconds = ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
