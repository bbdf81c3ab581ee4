import StatecastZeroMQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A peer that implements ZMTP, and can send messages that libzmq never sends, or reset the connection.
struct RawConnection: ~Copyable {
    private let descriptor: Int32

    /// - Parameter type: the socket type that the peer announces, for example `PUSH`.
    init(to endpoint: Endpoint, as type: String) throws {
        try self.init(opened: Self.open(to: endpoint), as: type)
    }

    /// The descriptor of a connection without a handshake.
    static func open(to endpoint: Endpoint) throws -> Int32 {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Broken() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = (UInt16(endpoint.description.split(separator: ":").last ?? "") ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return descriptor }
        close(descriptor)
        throw Broken()
    }

    /// - Parameter descriptor: of a connection without a handshake.
    fileprivate init(opened descriptor: Int32, as type: String) throws {
        self.descriptor = descriptor
        // Otherwise sent bytes may wait for an acknowledgement, and be lost when the connection is reset.
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        try shakeHands(type)
    }

    struct Broken: Error {}

    /// ZMTP 3.0 with the mechanism NULL.
    private func shakeHands(_ type: String) throws {
        let zeros = [UInt8](repeating: 0, count: 31)
        try send([0xFF] + zeros.prefix(8) + [0x7F, 3, 0] + Array("NULL".utf8) + zeros.prefix(16) + [0] + zeros)
        _ = try receive(64)
        func property(_ name: String, _ value: String) -> [UInt8] {
            [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let ready = [5] + Array("READY".utf8) + property("Socket-Type", type) + property("Identity", "")
        try send([4, UInt8(ready.count)] + ready)
        _ = try receive(Int(try receive(2)[1]))
    }

    private func send(_ bytes: [UInt8]) throws {
        #if canImport(Darwin)
            let count = Darwin.send(descriptor, bytes, bytes.count, 0)
        #elseif canImport(Musl)
            let count = Musl.send(descriptor, bytes, bytes.count, 0)
        #else
            let count = Glibc.send(descriptor, bytes, bytes.count, 0)
        #endif
        guard count == bytes.count else { throw Broken() }
    }

    private func receive(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count else { throw Broken() }
        return bytes
    }

    /// Sends a message of one frame.
    func send(message: [UInt8]) throws { try send(Self.frame(message)) }

    /// Sends the beginning of a message.
    func send(bytes count: Int, ofMessageWith length: Int) throws {
        try send(Array(Self.frame([UInt8](repeating: 0, count: length)).prefix(count)))
    }

    /// Sends the first part of a message, which goes on.
    func send(firstPart bytes: [UInt8]) throws { try send([1, UInt8(bytes.count)] + bytes) }

    /// Sends parts of one byte, of a message that does not end.
    func send(parts count: Int) throws { try send(Array(repeatElement([1, 1, 0], count: count).joined())) }

    /// Sends messages and a PING of ZMTP 3.1 in one call.
    func send(messagesAndPing messages: [[UInt8]]) throws {
        try send(messages.flatMap(Self.frame) + [4, 7, 4] + Array("PING".utf8) + [0, 0])
    }

    private static func frame(_ message: [UInt8]) -> [UInt8] {
        let length = message.count
        let head =
            length < 256
            ? [0, UInt8(length)] : [2] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        return head + message
    }

    /// The next byte; `nil` once the other side has closed the connection.
    func receiveByte() throws -> UInt8? {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) == 1 ? byte : nil
    }

    /// Resets the connection: the other side notices at once, even with unread bytes.
    consuming func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(descriptor)
    }
}

/// Accepts connections on a free port of this machine.
struct RawListener: Sendable {
    let endpoint: Endpoint
    private let descriptor: Int32

    init() throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else { throw RawConnection.Broken() }
        endpoint = try Endpoint("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }

    /// The next connection, after its handshake.
    func accept(as type: String) throws -> RawConnection {
        #if canImport(Darwin)
            let accepted = Darwin.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
            let accepted = Musl.accept(descriptor, nil, nil)
        #else
            let accepted = Glibc.accept(descriptor, nil, nil)
        #endif
        return try RawConnection(opened: accepted, as: type)
    }
}
