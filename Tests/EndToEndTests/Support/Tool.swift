import Foundation
import Subprocess
import Synchronization

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// One of the package's executables.
struct Tool {
    let name: String

    static let primary = Tool(name: "statecast-primary")
    static let replica = Tool(name: "statecast-replica")
    static let send = Tool(name: "statecast-send")
    static let journal = Tool(name: "statecast-journal")
    static let keys = Tool(name: "statecast-keys")
    static let agent = Tool(name: "fleet-agent")
    static let statecast = Tool(name: "statecast")
    /// See Tests/PoisonPrimary.
    static let poison = Tool(name: "poison-primary")

    static let crashTest = Tool(name: "statecast-crash-test")
    static let simulate = Tool(name: "statecast-simulate")

    var location: String { path.string }

    /// The executable beside the tests.
    private var path: FilePath {
        if name.hasPrefix("/") { return FilePath(name) }
        #if os(Linux)
            let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        #else
            let tests = Bundle(for: BundleMark.self).bundlePath
        #endif
        return FilePath(URL(filePath: tests).deletingLastPathComponent().appending(path: name).path)
    }

    /// The result of a run.
    struct Ending: Sendable {
        let exitCode: Int32?
        let signal: Int32?
        let output: [String]
        let errors: String
    }

    /// An unlinked file. Not a pipe: a tool that exits before it reads its input would end the tests with SIGPIPE.
    private static func file(of input: String) throws -> FileDescriptor {
        let path = FilePath(FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)").path)
        try Data(input.utf8).write(to: URL(filePath: path.string))
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        return try FileDescriptor.open(path, .readOnly)
    }

    /// Runs to the end and returns all output.
    func run(_ arguments: [String], input: String = "") async throws -> Ending {
        let result = try await Subprocess.run(
            .path(path),
            arguments: Arguments(arguments),
            environment: Self.environment,
            input: .fileDescriptor(try Self.file(of: input), closeAfterSpawningProcess: true),
            output: .string(limit: 64 << 20),
            error: .string(limit: 1 << 20)
        )
        let output = result.standardOutput.split(separator: "\n").map(String.init)
        return Ending(result.terminationStatus, output: output, errors: result.standardError)
    }

    /// Runs a command line that finds the tools by name and the primary at an endpoint.
    static func shell(_ command: String, from endpoint: String) async throws -> Ending {
        let folder = primary.path.removingLastComponent().string
        let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let result = try await Subprocess.run(
            .name("sh"),
            arguments: ["-c", command],
            environment: .custom(["PATH": path, "STATECAST_FROM": endpoint, "STATECAST_TIMEOUT": patience]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        let output = result.standardOutput.split(separator: "\n").map(String.init)
        return Ending(result.terminationStatus, output: output, errors: result.standardError)
    }

    /// Runs beside the body, which may read its lines, write to it and send it signals. Ends with SIGTERM after the
    /// body.
    func running<T: Sendable>(
        _ arguments: [String],
        _ body: @Sendable (RunningTool) async throws -> T
    ) async throws -> (value: T, ending: Ending) {
        let result = try await Subprocess.run(
            .path(path),
            arguments: Arguments(arguments),
            environment: Self.environment,
            input: .inputWriter,
            output: .sequence,
            error: .string(limit: 1 << 20)
        ) { execution in
            let running = RunningTool(execution.processIdentifier, execution.standardInputWriter)
            let reading = Task {
                defer { running.ended() }
                // A state is one line of any length.
                let lines = execution.standardOutput.strings(bufferingPolicy: .unbounded)
                for try await line in lines { running.read(line) }
            }
            defer { running.ended() }
            do {
                let value = try await body(running)
                running.send(SIGTERM)
                try await reading.value
                return value
            } catch {
                running.send(SIGCONT)
                running.send(SIGKILL)
                throw error
            }
        }
        return (result.closureResult, Ending(result.terminationStatus, output: [], errors: result.standardError))
    }

    /// Like ``running(_:_:)``, but returns the body's value alone.
    @discardableResult
    func runningValue<T: Sendable>(
        _ arguments: [String],
        _ body: @Sendable (RunningTool) async throws -> T
    ) async throws -> T {
        try await running(arguments, body).value
    }

    /// The default time limit of a tool, long enough for a busy machine.
    private static let patience = "600"

    /// Without the settings of the environment in which the tests run.
    private static let environment = Environment.custom([
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "SWIFT_BACKTRACE": "enable=no",
        "STATECAST_JOURNAL": "memory", "STATECAST_TIMEOUT": patience,
    ])
}

private final class BundleMark {}

extension Tool.Ending {
    init(_ status: TerminationStatus, output: [String], errors: String) {
        switch status {
        case .exited(let code): self.init(exitCode: Int32(code), signal: nil, output: output, errors: errors)
        #if !os(Windows)
            case .signaled(let signal): self.init(exitCode: nil, signal: Int32(signal), output: output, errors: errors)
        #endif
        }
    }
}

/// A running executable.
final class RunningTool: Sendable {
    let processIdentifier: ProcessIdentifier
    private let continuation: AsyncStream<String>.Continuation
    /// The lines of standard output, each once.
    let lines: AsyncStream<String>

    private let input: StandardInputWriter

    init(_ processIdentifier: ProcessIdentifier, _ input: StandardInputWriter) {
        self.processIdentifier = processIdentifier
        self.input = input
        (lines, continuation) = AsyncStream.makeStream(of: String.self)
    }

    func read(_ line: String) {
        continuation.yield(line.trimmingCharacters(in: .newlines))
    }

    /// Writes to standard input.
    func write(_ text: String) async throws { _ = try await input.write(text) }

    /// Ends standard input.
    func finishInput() async throws { try await input.finish() }

    /// The root of its file system, which may be its own mount.
    var root: String { "/proc/\(processIdentifier.value)/root" }

    func ended() { continuation.finish() }

    func send(_ signal: Int32) { kill(processIdentifier.value, signal) }

    /// The next line that meets a condition.
    func line(where condition: (String) -> Bool) async throws -> String {
        for await line in lines where condition(line) { return line }
        throw Ended()
    }

    /// The tool ended before the line came.
    struct Ended: Error {}
}
