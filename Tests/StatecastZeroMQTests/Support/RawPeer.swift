import Foundation
import StatecastZeroMQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

#if canImport(Glibc)
    let streamSocket = CInt(SOCK_STREAM.rawValue)
#else
    let streamSocket = SOCK_STREAM
#endif

private func loopbackAddress(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// A connection without ZMTP, whose peer decides which bytes it sends.
struct RawStream: ~Copyable {
    private let descriptor: CInt

    /// Connects to a `tcp` endpoint on 127.0.0.1.
    init(to endpoint: Endpoint) throws {
        descriptor = socket(AF_INET, streamSocket, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = loopbackAddress(endpoint.port ?? 0)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Missing(what: "a connection to \(endpoint)") }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.send(descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, 0)
            }
            guard count > 0 else { throw Missing(what: "a connection that accepts bytes") }
            sent += count
        }
    }

    /// Reads bytes that libzmq sends: the first 10 at once, all 64 of its greeting after the first ones of the peer.
    func read(_ count: Int) throws {
        var bytes = [UInt8](repeating: 0, count: count)
        guard recv(descriptor, &bytes, count, CInt(MSG_WAITALL)) == count else { throw Missing(what: "a greeting") }
    }

    /// Reads until the other side hangs up.
    func waitForDisconnection() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
    }

    /// Ends the connection at once, which leaves no port in use.
    consuming func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
}

/// A peer that implements ZMTP 3.0, and can send messages that libzmq would not send.
struct RawPeer: ~Copyable {
    private let stream: RawStream

    /// Connects to a `tcp` endpoint on 127.0.0.1 and introduces itself as a PUSH socket.
    init(pushingTo endpoint: Endpoint) throws {
        let stream = try RawStream(to: endpoint)
        let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F]
        let mechanism = Array("NULL".utf8) + [UInt8](repeating: 0, count: 16)
        try stream.write(signature + [3, 0] + mechanism + [UInt8](repeating: 0, count: 32))
        // libzmq does not process received bytes before it has sent its own greeting.
        try stream.read(64)
        let ready = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 4] + Array("PUSH".utf8)
        try stream.write([4, UInt8(ready.count)] + ready)
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

/// A `tcp` server on 127.0.0.1 that reads what its own process sends.
struct RawServer: ~Copyable {
    private let descriptor: CInt
    private let endpoint: Endpoint

    /// Both ends of a connection.
    final class Link {
        let client: RawStream
        let accepted: CInt

        fileprivate init(_ client: consuming RawStream, _ accepted: CInt) {
            self.client = client
            self.accepted = accepted
        }

        deinit { close(accepted) }

        /// Whether a byte has arrived that was not received.
        var hasArrived: Bool {
            var byte: UInt8 = 0
            return recv(accepted, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
        }

        /// Returns when the bytes have been received.
        func send(_ count: Int) throws {
            var left = [UInt8](repeating: 0, count: count)
            try client.write(left)
            while !left.isEmpty {
                let count = recv(accepted, &left, left.count, 0)
                guard count > 0 else { throw Missing(what: "bytes of a connection") }
                left.removeLast(count)
            }
        }
    }

    init() throws {
        descriptor = socket(AF_INET, streamSocket, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = loopbackAddress(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard result else { throw Missing(what: "a listener") }
        endpoint = try Endpoint("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }

    deinit { close(descriptor) }

    /// Connects to itself.
    func link() throws -> Link {
        let client = try RawStream(to: endpoint)
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw Missing(what: "a connection") }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return Link(client, accepted)
    }
}

/// A server at a socket file that does not use the library's locks; with `close()` it leaves the file, like a crash.
struct RawListener: ~Copyable {
    private let descriptor: CInt

    init(at path: String) throws {
        descriptor = socket(AF_UNIX, streamSocket, 0)
        // Otherwise a process that another test starts meanwhile would keep listening.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, 8) == 0 else { throw Missing(what: "a listener at \(path)") }
    }

    deinit { close(descriptor) }
}

extension RawListener {
    /// Whether this machine has the IPv6 loopback address.
    static let hasIPv6: Bool = {
        let probe = socket(AF_INET6, streamSocket, 0)
        defer { close(probe) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
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
