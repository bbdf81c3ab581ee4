#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A pipe that makes a poll return.
final class WakeUp: Sendable {
    /// What to poll for reading.
    let descriptor: CInt
    private let entrance: CInt

    init() throws(ZeroMQError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .failed("cannot make a poll loop", errno: errno, advice: "raise the limit of descriptors (ulimit -n)")
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, entrance) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(entrance)
    }

    /// From any thread. A pipe that is full wakes up as well, so only an interruption is a reason to try again.
    func signal() {
        var byte: UInt8 = 1
        while write(entrance, &byte, 1) < 0 && errno == EINTR {}
    }

    /// Takes back what was signalled.
    func clear() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { bytes in
            while read(descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }
}
