#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The lines of the standard input, read only as fast as they are taken.
package struct InputLines: AsyncIteratorProtocol, Sendable {
    /// The most bytes of a line.
    package static let lineBytesMax = 1 << 20
    private static let chunkBytes = 64 << 10

    private let lane = BlockingLane("standard-input")
    private var splitter = LineSplitter(bytesMax: lineBytesMax)
    /// Lines of the last chunk that were not handed out yet, in order.
    private var cut: ArraySlice<InputLine> = []
    private var isAtEnd = false

    /// The standard input of this process. Its lines can be read once.
    package init() {}

    /// The next line; `nil` at the end of the input.
    ///
    /// The lines are pulled instead of being pushed into an asynchronous closure: the optimizer of Swift 6.3 crashes
    /// when it specializes such a closure into its caller.
    ///
    /// - Throws: `CancellationError`, also in the middle of a read that waits; ``CommandFailure`` if reading fails.
    package mutating func next() async throws -> InputLine? {
        while cut.isEmpty, !isAtEnd {
            if let chunk = try await lane.run(Self.readChunk).get() {
                cut = splitter.take(chunk)[...]
            } else {
                isAtEnd = true
                if let last = splitter.end() { return last }
            }
        }
        return cut.popFirst()
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
