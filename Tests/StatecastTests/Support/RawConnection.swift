import ZeroMQ

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
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = (UInt16(endpoint.description.split(separator: ":").last ?? "") ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Broken() }
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
