import Foundation
import StatecastZeroMQ

/// A peer that implements ZMTP, and can send messages that libzmq never sends, or reset the connection.
struct RawConnection: ~Copyable {
    private let stream: RawStream

    /// - Parameter type: the socket type that the peer announces, for example `PUSH`.
    init(to endpoint: Endpoint, as type: String) throws { try self.init(RawStream(to: endpoint), as: type) }

    init(_ stream: consuming RawStream, as type: String) throws {
        try stream.shakeHands(as: type)
        self.stream = stream
    }

    /// Sends a message of one frame.
    func send(message: [UInt8]) throws { try stream.write(Self.frame(message)) }

    /// Sends the beginning of a message.
    func send(bytes count: Int, ofMessageWith length: Int) throws {
        try stream.write(Array(Self.frame([UInt8](repeating: 0, count: length)).prefix(count)))
    }

    /// Sends the first part of a message, which goes on.
    func send(firstPart bytes: [UInt8]) throws { try stream.write([1, UInt8(bytes.count)] + bytes) }

    /// Sends parts of one byte, of a message that does not end.
    func send(parts count: Int) throws { try stream.write(Array(repeatElement([1, 1, 0], count: count).joined())) }

    /// Sends messages and a PING of ZMTP 3.1 in one call.
    func send(messagesAndPing messages: [[UInt8]]) throws {
        try stream.write(messages.flatMap(Self.frame) + [4, 7, 4] + Array("PING".utf8) + [0, 0])
    }

    private static func frame(_ message: [UInt8]) -> [UInt8] {
        let length = message.count
        let head =
            length < 256
            ? [0, UInt8(length)] : [2] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        return head + message
    }

    /// The next byte; `nil` once the other side has closed the connection.
    func receiveByte() -> UInt8? { stream.readSome(1).first }

    /// Resets the connection: the other side notices at once, even with unread bytes.
    consuming func reset() { stream.reset() }

    /// Leaves the connection open until the process ends.
    consuming func keepOpen() { stream.keepOpen() }
}

/// Accepts connections on a free port of 127.0.0.1.
final class RawServer: Sendable {
    let endpoint: Endpoint
    private let descriptor: CInt

    init() throws {
        let descriptor = socket(AF_INET, streamSocket, 0)
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var (address, size) = (loopbackAddress(port: 0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let isListening = withPointer(to: &address) { address, _ in
            guard bind(descriptor, address, size) == 0, listen(descriptor, 128) == 0 else { return -1 }
            return getsockname(descriptor, address, &size)
        }
        guard isListening == 0 else { throw RawStream.Broken() }
        endpoint = try Endpoint("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }

    deinit { close(descriptor) }

    /// The next connection.
    ///
    /// - Throws: ``RawStream/Broken`` after ``stop()``.
    func connection() throws -> RawStream {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw RawStream.Broken() }
        return RawStream(owning: accepted)
    }

    /// Accepts no more connections.
    func stop() { shutdown(descriptor, CInt(SHUT_RDWR)) }
}
