import Foundation
import StatecastZeroMQ

#if canImport(Glibc)
    let streamSocket = CInt(SOCK_STREAM.rawValue)
#else
    let streamSocket = SOCK_STREAM
#endif

#if canImport(Darwin)
    private let noSignal: CInt = 0
#else
    private let noSignal = CInt(MSG_NOSIGNAL)
#endif

/// A TCP connection on 127.0.0.1 without ZMTP: the test decides which bytes it sends.
struct RawStream: ~Copyable, Sendable {
    private let descriptor: CInt

    struct Broken: Error {}

    /// Connects to a `tcp` endpoint.
    init(to endpoint: Endpoint) throws {
        let descriptor = socket(AF_INET, streamSocket, 0)
        self.init(owning: descriptor)
        var address = loopbackAddress(port: endpoint.port ?? 0)
        guard withPointer(to: &address, { connect(descriptor, $0, $1) }) == 0 else { throw Broken() }
    }

    /// - Parameter descriptor: of a connection, which is closed with this value.
    init(owning descriptor: CInt) {
        self.descriptor = descriptor
        // A process that another test starts meanwhile must not keep it open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Otherwise sent bytes may wait for an acknowledgement, and be lost when the connection is reset.
        var isOn: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { throw Broken() }
            sent += count
        }
    }

    /// Reads exactly this many bytes.
    @discardableResult
    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard recv(descriptor, &bytes, count, CInt(MSG_WAITALL)) == count else { throw Broken() }
        return bytes
    }

    /// Reads what has arrived, at least one byte; none once the other side has hung up.
    func readSome(_ maxCount: Int = 1 << 16) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: maxCount)
        let count = recv(descriptor, &bytes, maxCount, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Reads until the other side hangs up.
    func waitForDisconnection() {
        while !readSome().isEmpty {}
    }

    /// The handshake of ZMTP 3.0 with the mechanism NULL.
    ///
    /// - Parameter type: the socket type to announce, for example `PUSH`.
    func shakeHands(as type: String) throws {
        let zeros = [UInt8](repeating: 0, count: 31)
        try write([0xFF] + zeros.prefix(8) + [0x7F, 3, 0] + Array("NULL".utf8) + zeros.prefix(16) + [0] + zeros)
        // libzmq does not process received bytes before it has sent its own greeting.
        try read(64)
        func property(_ name: String, _ value: String) -> [UInt8] {
            [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let ready = [5] + Array("READY".utf8) + property("Socket-Type", type) + property("Identity", "")
        try write([4, UInt8(ready.count)] + ready)
        try read(Int(try read(2)[1]))
    }

    /// Ends both directions, also for a thread that reads.
    func hangUp() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Resets the connection: the other side notices at once, even with unread bytes, and no port stays in use.
    consuming func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Leaves the connection open until the process ends.
    consuming func keepOpen() { discard self }
}

func loopbackAddress(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// Calls a function of sockets with an address and its size.
func withPointer<Address>(
    to address: inout Address,
    _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
) -> CInt {
    withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Address>.size))
        }
    }
}
