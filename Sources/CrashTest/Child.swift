import Foundation

/// A process of an executable beside this one, whose output is appended to a file.
final class Child: Sendable {
    private let process = Process()
    private let name: String
    private let output: String

    /// - Parameters:
    ///   - name: of the executable.
    ///   - input: the path of a file; `nil` for a pipe, which ends with this process.
    ///   - openFiles: the limit of open files, as an argument of the shell's `ulimit -n`; `nil` for that of this
    ///     process.
    ///   - isIdle: whether it runs only while processors are idle (Linux's policy `SCHED_IDLE`).
    ///   - output: the path of a file.
    init(
        _ name: String,
        _ arguments: [String],
        input: String? = nil,
        openFiles: String? = nil,
        isIdle: Bool = false,
        output: String
    ) throws {
        (self.name, self.output) = (name, output)
        let folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let limit = openFiles.map { "ulimit -n \($0) && " } ?? ""
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", limit + #"exec "$@""#, name] + (isIdle ? ["chrt", "--idle", "0"] : [])
            + [folder.appending(path: name).path] + arguments
        if let input {
            process.standardInput = try FileHandle(forReadingFrom: URL(filePath: input))
        } else {
            process.standardInput = Pipe()
        }
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

    var identifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// Whether the process has ended by itself, and not by a signal.
    var hasExited: Bool { !process.isRunning && process.terminationReason == .exit }

    /// Kills the process.
    ///
    /// - Returns: whether it had not ended before.
    @discardableResult
    func kill() -> Bool {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
    }

    /// Terminates the process.
    func stop() throws {
        process.terminate()
        try wait()
    }

    /// Waits for the process to exit.
    func wait() throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { throw failure }
    }

    /// How the process has ended.
    var failure: TrialFailure {
        process.waitUntilExit()
        let kind = process.terminationReason == .exit ? "status" : "signal"
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

/// An error of a trial.
struct TrialFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
