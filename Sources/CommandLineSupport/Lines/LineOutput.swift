#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard output: each write reaches the reader at once, and waits for a slow one without holding up a thread of
/// the tasks.
package final class LineOutput: Sendable {
    private let lane = BlockingLane("standard-output")

    /// The standard output of this process.
    package init() {}

    /// Writes a line.
    ///
    /// - Throws: ``OutputClosed`` if the reader went away; `CancellationError`; ``CommandFailure`` for anything else.
    package func write(_ line: String) async throws { try await write(raw: line + "\n") }

    /// Writes text as it is.
    func write(raw text: String) async throws { try await lane.run { Self.writeNow(text) }.get() }

    /// Writes text as it is, and blocks until it is written.
    @discardableResult
    static func writeNow(_ text: String) -> Result<Void, any Error> { Result { try writeNow(Array(text.utf8)) } }

    /// Writes bytes as they are, and blocks until they are written.
    ///
    /// - Throws: as ``write(_:)``.
    package static func writeNow(_ bytes: [UInt8]) throws {
        guard !StandardStreams.isClosed(STDOUT_FILENO) else { throw StandardStreams.failure("write to", "output") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Whoever shares the descriptor made it non-blocking.
                var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            case EPIPE: throw OutputClosed()
            case let number: throw StandardStreams.failure("write to", "output", number)
            }
        }
    }
}
