import Foundation
import StatecastZeroMQ

/// A peer that implements ZMTP 3.0, and can send messages that libzmq would not send.
struct RawPeer: ~Copyable {
    private let stream: RawStream

    /// Connects to a `tcp` endpoint on 127.0.0.1 and introduces itself as a PUSH socket.
    init(pushingTo endpoint: Endpoint) throws {
        let stream = try RawStream(to: endpoint)
        try stream.shakeHands(as: "PUSH")
        self.stream = stream
    }

    /// Sends one frame of at most 255 bytes; `more` says that another one belongs to its message.
    func send(_ bytes: [UInt8], more: Bool = false) throws {
        try stream.write([more ? 1 : 0, UInt8(bytes.count)] + bytes)
    }

    /// Announces a frame without sending its content.
    func announce(frameOf count: UInt64) throws {
        try stream.write([2] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * UInt64($0))) })
    }

    /// Reads until the other side hangs up.
    func waitForDisconnection() { stream.waitForDisconnection() }
}

/// A server at a socket file that does not use the library's locks; at its end it leaves the file, like a crash.
struct RawListener: ~Copyable {
    private let descriptor: CInt

    init(at path: String) throws {
        descriptor = socket(AF_UNIX, streamSocket, 0)
        // Otherwise a process that another test starts meanwhile would keep listening.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = descriptor
        guard withPointer(to: &address, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw Missing(what: "a listener at \(path)")
        }
    }

    deinit { close(descriptor) }

    /// Whether this machine has the IPv6 loopback address.
    static let hasIPv6: Bool = {
        let probe = socket(AF_INET6, streamSocket, 0)
        defer { close(probe) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withPointer(to: &address) { bind(probe, $0, $1) } == 0
    }()
}

/// A lock on a file, held as another process would hold it.
struct RawLock: ~Copyable {
    private let descriptor: CInt

    init(at path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Missing(what: "a lock") }
    }

    deinit { close(descriptor) }
}
