#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The three descriptors that every process is expected to have.
enum StandardStreams {
    /// Sees which are closed, and keeps their places: otherwise the next file to be opened takes one, and what is meant for
    /// the standard output goes there.
    static func reserve() { _ = closed }

    /// Whether the process began without it.
    static func isClosed(_ descriptor: Int32) -> Bool { closed.contains(descriptor) }

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

    /// Why one cannot be used.
    static func failure(_ task: String, _ stream: String, _ number: Int32 = EBADF) -> CommandFailure {
        let reason = number == EBADF ? "it is closed" : String(cString: strerror(number))
        return .failed("cannot \(task) standard \(stream): \(reason)")
    }
}
