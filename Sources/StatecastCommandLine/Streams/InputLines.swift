#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A line of input, numbered from 1.
package enum InputLine: Sendable, Equatable {
    /// The line without its end.
    case line(number: Int, [UInt8])
    /// The line exceeds the limit and was skipped.
    case tooLong(number: Int)
}

/// The lines of standard input, which is read only as fast as the lines are consumed.
package struct InputLines: AsyncIteratorProtocol, Sendable {
    /// The longest line, in bytes.
    package static let maxLineBytes = 1 << 20
    private static let chunkBytes = 64 << 10

    private let queue = BlockingCallQueue("standard-input")
    private var splitter = LineSplitter(maxBytes: maxLineBytes)
    /// Lines of the last chunk that ``next()`` has not returned yet, in order.
    private var pending: ArraySlice<InputLine> = []
    private var isAtEnd = false

    package init() {}

    /// The next line; `nil` at the end of the input.
    ///
    /// An iterator, because the optimizer of Swift 6.3 crashes when it specializes an asynchronous closure that
    /// consumes lines into its caller.
    ///
    /// - Throws: `CancellationError`, also during a read that waits; ``CommandFailure`` if reading fails.
    package mutating func next() async throws -> InputLine? { try await next(maxCount: 1)?.first }

    /// The next lines that have arrived, at least one and at most `maxCount`; `nil` at the end of the input.
    ///
    /// - Throws: as ``next()``.
    mutating func next(maxCount: Int) async throws -> ArraySlice<InputLine>? {
        while pending.isEmpty, !isAtEnd {
            if let chunk = try await queue.run(Self.readChunk).get() {
                pending = splitter.append(chunk)[...]
            } else {
                isAtEnd = true
                if let last = splitter.finish() { pending = [last] }
            }
        }
        guard !pending.isEmpty else { return nil }
        defer { pending = pending.dropFirst(maxCount) }
        return pending.prefix(maxCount)
    }

    /// The next bytes; `nil` at the end. Blocks until some are available.
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
                // Another process that shares the descriptor made it non-blocking.
                var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            default: return .failure(StandardStreams.failure("read from", "input", number))
            }
        }
    }
}

/// Splits a stream of bytes into lines. Buffers at most one line of bounded length.
struct LineSplitter: Sendable {
    private let maxBytes: Int
    private var partial: [UInt8] = []
    private var isSkipping = false
    private var number = 0

    /// - Parameter maxBytes: the longest line, without its end.
    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Returns the lines that end in these bytes.
    mutating func append(_ bytes: [UInt8]) -> [InputLine] {
        var lines: [InputLine] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            buffer(rest[..<end])
            lines.append(endLine())
            rest = rest[(end + 1)...]
        }
        buffer(rest)
        return lines
    }

    /// Returns the last line, if it has no line end.
    mutating func finish() -> InputLine? { partial.isEmpty && !isSkipping ? nil : endLine() }

    private mutating func buffer(_ bytes: ArraySlice<UInt8>) {
        guard !isSkipping else { return }
        if partial.count + bytes.count > maxBytes {
            partial = []
            isSkipping = true
        } else {
            partial += bytes
        }
    }

    private mutating func endLine() -> InputLine {
        defer {
            partial = []
            isSkipping = false
        }
        number += 1
        return isSkipping ? .tooLong(number: number) : .line(number: number, partial)
    }
}

extension [UInt8] {
    /// The bytes without the byte order mark with which some editors begin UTF-8.
    var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
