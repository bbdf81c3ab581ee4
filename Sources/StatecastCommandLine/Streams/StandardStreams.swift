import Dispatch
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The descriptors 0, 1 and 2, some of which a process may start without.
enum StandardStreams {
    /// Records which descriptors are closed and occupies them. Otherwise the next file that is opened gets such a
    /// descriptor, and receives the standard output.
    static func reserve() { _ = closed }

    /// Whether the process started without the descriptor.
    ///
    /// The second check finds a descriptor that a thread of the runtime used for a moment while ``reserve()`` looked.
    static func isClosed(_ descriptor: Int32) -> Bool { closed.contains(descriptor) || !isStream(descriptor) }

    private static let closed: Set<Int32> = {
        let closed = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].filter { !isStream($0) }
        for descriptor in closed {
            // open(2) returns the lowest free descriptor. It is a higher one if a thread of the runtime was faster.
            let opened = open("/dev/null", O_RDWR)
            if opened > descriptor { close(opened) }
        }
        return Set(closed)
    }()

    /// False for a closed descriptor, and for one that the runtime opened: that has no file type.
    private static func isStream(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != 0
    }

    /// The error of a read or a write.
    static func failure(_ task: String, _ stream: String, _ number: Int32 = EBADF) -> CommandFailure {
        let reason = number == EBADF ? "it is closed" : String(cString: strerror(number))
        return .failed("cannot \(task) standard \(stream): \(reason)")
    }
}

/// Standard output: each line reaches the reader at once. A slow reader suspends the caller, and blocks no thread of
/// the cooperative pool.
package final class LineOutput: Sendable {
    private let queue = BlockingCallQueue("standard-output")

    package init() {}

    /// Writes a line.
    ///
    /// - Throws: ``OutputClosed`` if the reader closed the stream; `CancellationError`; ``CommandFailure`` for any
    ///   other error.
    package func write(_ line: String) async throws { try await write(raw: line + "\n") }

    /// Writes text without a line end.
    func write(raw text: String) async throws {
        try await queue.run { Result { try Self.writeNow(Array(text.utf8)) } }.get()
    }

    /// Writes bytes, and blocks until all are written.
    ///
    /// A process that is killed leaves no part of a line in a pipe, unless the line is longer than `PIPE_BUF` bytes.
    ///
    /// - Throws: as ``write(_:)``.
    package static func writeNow(_ bytes: [UInt8]) throws {
        guard !StandardStreams.isClosed(STDOUT_FILENO) else { throw StandardStreams.failure("write to", "output") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = atomicPiece(of: rest)
            let count = piece.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares the descriptor made it non-blocking.
                var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            case EPIPE: throw OutputClosed()
            case let number: throw StandardStreams.failure("write to", "output", number)
            }
        }
    }

    /// The first lines that the system writes to a pipe as a whole (POSIX: at most `PIPE_BUF` bytes); the first line if
    /// it is longer.
    private static func atomicPiece(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.count > Int(PIPE_BUF) else { return bytes }
        let piece = bytes.prefix(Int(PIPE_BUF))
        let lineEnd = UInt8(ascii: "\n")
        let end = piece.lastIndex(of: lineEnd) ?? bytes.firstIndex(of: lineEnd)
        return end.map { bytes[...$0] } ?? bytes
    }
}

/// Standard error: unbuffered lines. Errors of a write are ignored.
enum StandardError {
    static func write(_ line: String) {
        guard !StandardStreams.isClosed(STDERR_FILENO) else { return }
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }
}

/// `write(2)`, under a name that no method shadows.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// A serial queue for calls that block, so that they occupy no thread of the cooperative pool.
///
/// A cancelled caller resumes at once. Its system call continues in the background, because it cannot be cancelled.
final class BlockingCallQueue: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// - Throws: `CancellationError`.
    func run<T: Sendable>(_ call: @escaping @Sendable () -> T) async throws -> T {
        try Task.checkCancellation()
        let result = Monitor<T?>(nil)
        queue.async {
            let value = call()
            result.change { $0 = value }
        }
        return try await result.wait { $0 }
    }
}
