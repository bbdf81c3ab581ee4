#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The lines of the standard input, read only as fast as they are taken.
package struct InputLines: Sendable {
    /// The most bytes of a line.
    package static let lineBytesMax = 1 << 20
    private static let chunkBytes = 64 << 10

    private let lane = BlockingLane("standard-input")

    /// The standard input of this process. Its lines can be read once.
    package init() {}

    /// Hands over the lines in order.
    ///
    /// - Throws: `CancellationError`, also in the middle of a read that waits; ``CommandFailure`` if reading fails.
    package func forEach(_ body: (InputLine) async throws -> Void) async throws {
        var splitter = LineSplitter(bytesMax: Self.lineBytesMax)
        while let chunk = try await lane.run(Self.readChunk).get() {
            for line in splitter.take(chunk) { try await body(line) }
        }
        if let last = splitter.end() { try await body(last) }
    }

    /// The bytes that are there, or come next; `nil` at the end. Blocks until there are some.
    package static func readChunk() -> Result<[UInt8]?, CommandFailure> {
        guard !StandardStreams.isClosed(STDIN_FILENO) else {
            return .failure(StandardStreams.failure("read from", "input"))
        }
        while true {
            var number: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: chunkBytes) { buffer, count in
                let result = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                number = result < 0 ? errno : 0
                count = max(0, result)
            }
            switch number {
            case 0: return .success(chunk.isEmpty ? nil : chunk)
            case EINTR: continue
            case EAGAIN:
                // Whoever shares the descriptor made it non-blocking.
                var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            default: return .failure(StandardStreams.failure("read from", "input", number))
            }
        }
    }
}
