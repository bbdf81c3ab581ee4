import Foundation

/// One of the executables beside this one, as a process of its own whose output goes to the end of a file.
final class Child {
    private let process = Process()
    private let output: String

    /// - Parameters:
    ///   - name: of the executable.
    ///   - input: a file to read from.
    ///   - output: a file; what is in it already stays.
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

    /// Ends it at once, wherever it is.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Asks it to end.
    func stop() throws {
        process.terminate()
        try wait()
    }

    /// Waits until it ends by itself.
    func wait() throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw CrashFailure(
                "\(process.executableURL?.lastPathComponent ?? "") ended with \(process.terminationStatus): \(errors)"
            )
        }
    }

    /// The first line of its output.
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

/// What a run shows that must not be.
struct CrashFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
