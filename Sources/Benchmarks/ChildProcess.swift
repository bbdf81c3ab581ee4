import Dispatch
import Foundation

/// Another process of this executable, which speaks in lines: it says when it is ready, and waits for a line to start.
///
/// Unchecked, but safe: one caller at a time uses it.
final class ChildProcess: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// The next line; throws if the process has ended.
    func line() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw Invalid("a child process ended early")
    }

    /// As ``line()``; blocks no thread of the cooperative pool, on which replicas work.
    func nextLine() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try self.line() }) }
        }
    }

    func tell(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// Says a line to the parent process.
func say(_ line: String) throws { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
