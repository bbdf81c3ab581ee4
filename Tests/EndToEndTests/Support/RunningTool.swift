import Foundation
import Subprocess
import Synchronization

/// An executable that runs.
final class RunningTool: Sendable {
    let processIdentifier: ProcessIdentifier
    private let continuation: AsyncStream<String>.Continuation
    /// The lines of its standard output, each once.
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

    /// Writes to its standard input.
    func write(_ text: String) async throws { _ = try await input.write(text) }

    /// Where it finds its files, if these are not those of everybody.
    var root: String { "/proc/\(processIdentifier.value)/root" }

    func ended() { continuation.finish() }

    func send(_ signal: Int32) { kill(processIdentifier.value, signal) }

    /// The next line that meets a condition.
    func line(where condition: (String) -> Bool) async throws -> String {
        for await line in lines where condition(line) { return line }
        throw Ended()
    }

    /// It ended before the line came.
    struct Ended: Error {}
}
