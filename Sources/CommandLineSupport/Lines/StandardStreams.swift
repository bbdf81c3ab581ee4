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
        let all = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        // The lowest free one is what is opened.
        return Set(all.filter { !isStream($0) || (fcntl($0, F_GETFD) < 0 && open("/dev/null", O_RDWR) == $0) })
    }()

    /// False for what the runtime opened in the place before any of this ran: that is no file of any type.
    private static func isStream(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != 0
    }

    /// Why one cannot be used.
    static func failure(_ task: String, _ stream: String, _ number: Int32 = EBADF) -> CommandFailure {
        let reason = number == EBADF ? "it is closed" : String(cString: strerror(number))
        return .failed("cannot \(task) standard \(stream): \(reason)")
    }
}
