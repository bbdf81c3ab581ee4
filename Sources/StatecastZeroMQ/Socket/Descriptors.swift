#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file descriptors that libzmq needs.
///
/// libzmq 4.3 aborts the process if it gets no descriptor for the `epoll` of its threads, which the first socket of a
/// context starts, or for the list of network interfaces, which it reads to bind. So a socket is made and bound only
/// while enough descriptors are free.
enum Descriptors {
    /// The first socket of a context opens 7 on Linux.
    static let minFree = 16

    /// - Parameter what: the operation that needs them, for the message.
    /// - Throws: `resourcesExhausted`.
    static func check(for what: @autoclosure () -> String) throws(ZeroMQError) {
        var ends: [CInt] = [-1, -1]
        // A pipe needs no permission.
        var opened = pipe(&ends) == 0 ? ends : []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < minFree {
            let next = opened.first.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
            guard next >= 0 else {
                // Whatever else is wrong, libzmq reports it.
                guard errno == EMFILE || errno == ENFILE else { return }
                throw .failed(
                    "\(what()): \(minFree) file descriptors have to be free, and \(opened.count) of \(limit) are",
                    errno: errno,
                    advice: "raise the limit (ulimit -n, or LimitNOFILE= of a systemd unit)"
                )
            }
            opened.append(next)
        }
    }

    private static var limit: rlim_t {
        var limits = rlimit()
        #if canImport(Glibc)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #else
            getrlimit(RLIMIT_NOFILE, &limits)
        #endif
        return limits.rlim_cur
    }
}
