import Foundation
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// Attacks by connections, most of them without a key, and by messages that stop in the middle.
enum ConnectionAttacks {
    /// The connections of ``idle(_:_:)``.
    static let idleConnections = 1021

    /// Connects as senders do, and sends no action.
    @Sendable static func idle(_ target: AttackTarget, _ tally: AttackTally) throws {
        // Two connections each, and one more.
        let sessions = try (0..<idleConnections / 2).map { _ in Held(try RawSession(target)) }
        let last = Held(try target.socket(.push, at: target.endpoints.actions))
        tally.send(idleConnections)
        withExtendedLifetime((sessions, last)) { while true { Thread.sleep(forTimeInterval: 1) } }
    }

    /// Begins the handshake of ZMTP, and stops or resets at a random byte. Some connections announce a command of 2^62
    /// bytes.
    @Sendable static func halfHandshakes(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let greeting = RawConnection.greeting("CURVE")
        var held: [RawConnection] = []
        while true {
            guard let connection = RawConnection(to: target.endpoints.actions) else { continue }
            let command = [0x06, 0x40] + [UInt8](repeating: 0, count: 7) + random.bytes(200)
            connection.write((greeting + command).prefix(Int(random.next() % 300)))
            tally.send()
            held.append(connection)
            if held.count > 200 { held.removeFirst().reset() }
        }
    }

    /// Sends frames through a relay that resets the connection at a random byte: the primary gets the first part of an
    /// encrypted frame.
    @Sendable static func cutFrames(_ target: AttackTarget, _ tally: AttackTally) throws {
        let relay = try CuttingRelay(to: target.endpoints.actions, tally)
        let session = try RawSession(target)
        let frames = try target.socket(.push, at: relay.endpoint)
        while true { try frames.push(session.message(from: 1, count: 256)) }
    }

    /// The frames of one byte of ``endlessMessage(_:_:)``, and how many it sends in a second at most: 6 MB of 63 MB.
    static let endlessFrames = 21_000_000
    static let endlessFramesPerSecond = 2_000_000

    /// One message whose every frame says that another one follows. libzmq sends only complete messages, so the
    /// connection is a raw one, to a primary without keys: a member with a key could do the same by CURVE.
    @Sendable static func endlessMessage(_ target: AttackTarget, _ tally: AttackTally) throws {
        guard let connection = RawConnection(to: target.endpoints.actions) else { throw TrialFailure("no connection") }
        let ready = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 4] + Array("PUSH".utf8)
        connection.write(RawConnection.greeting("NULL") + [4, UInt8(ready.count)] + ready)
        // Frames before the primary's READY would break the handshake.
        guard connection.receive(64) != nil, let head = connection.receive(2), connection.receive(Int(head[1])) != nil
        else { throw TrialFailure("no handshake") }
        let count = endlessFramesPerSecond / 100
        let frames = Array(repeatElement([1, 1, 0] as [UInt8], count: count).joined())
        for _ in 0..<(endlessFrames / count) {
            guard connection.write(frames) else { break }
            tally.send(count)
            Thread.sleep(forTimeInterval: 0.01)
        }
        withExtendedLifetime(connection) { while true { Thread.sleep(forTimeInterval: 1) } }
    }

    /// The connections of ``halfMessages(_:_:)``, how many it opens in a second at most, and the bytes of each.
    static let halfMessages = 300
    static let halfMessagesPerSecond = 50
    static let halfMessageBytes = Limits().maxFrameBytes * 2

    /// A frame of the largest size on each of many connections, which stay open before its last bytes.
    @Sendable static func halfMessages(_ target: AttackTarget, _ tally: AttackTally) throws {
        let relay = try CuttingRelay(to: target.endpoints.actions, tally, holding: halfMessages)
        let frames = try target.socket(.push, at: relay.endpoint) { $0.sendHighWaterMark = 1 }
        let message = [UInt8](repeating: 0, count: halfMessageBytes)
        while true { try frames.push(message) }
    }
}

/// A TCP connection by the calls of the system, without blocking.
final class RawConnection: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// `nil` if the connection is refused, or descriptors or ports ran out.
    init?(to endpoint: String) {
        descriptor = socket(AF_INET, Self.stream, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = Self.address(port: endpoint.split(separator: ":").last.flatMap { UInt16($0) } ?? 0)
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard result == 0 || errno == EINPROGRESS else { return nil }
    }

    deinit { close(descriptor) }

    #if canImport(Glibc)
        static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        static let stream = SOCK_STREAM
    #endif

    /// An address of this machine.
    static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// The greeting of ZMTP.
    static func greeting(_ mechanism: String) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 52)
        return [0xFF] + zeros.prefix(8) + [0x7F, 3, 1] + Array(mechanism.utf8) + zeros.dropLast(mechanism.utf8.count)
    }

    /// Waits for the connection, and for room.
    ///
    /// - Returns: `false` if the connection has ended, or has no room for a second.
    @discardableResult
    func write(_ bytes: some Collection<UInt8>) -> Bool {
        var bytes = Array(bytes)[...]
        while !bytes.isEmpty {
            var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&item, 1, 1000) == 1 else { return false }
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes.removeFirst(count)
        }
        return true
    }

    /// Waits for bytes.
    ///
    /// - Returns: `nil` if the connection has ended, or is silent for a second.
    func receive(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            guard poll(&item, 1, 1000) == 1, case let read = recv(descriptor, &part, part.count, 0), read > 0 else {
                return nil
            }
            bytes += part.prefix(read)
        }
        return bytes
    }

    /// The end of the connection is a reset.
    func reset() {
        var lingers = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Relays connections to the primary, one at a time, and resets each at a random byte, or keeps it open.
private final class CuttingRelay: Sendable {
    let endpoint: String

    /// - Parameter count: the connections that stay open, each after ``ConnectionAttacks/halfMessageBytes``; `nil`:
    ///   none does.
    init(to target: String, _ tally: AttackTally, holding count: Int? = nil) throws {
        let listener = socket(AF_INET, RawConnection.stream, 0)
        var address = RawConnection.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, size) == 0 && listen(listener, 16) == 0
                && getsockname(listener, address, &size) == 0
        }
        guard isBound else { throw TrialFailure("no port for a relay") }
        endpoint = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread {
            var random = SplitMix64(seed: .random(in: .min ... .max))
            var held: [RawConnection] = []
            while held.count != count {
                let client = accept(listener, nil, nil)
                guard client >= 0, let server = RawConnection(to: target) else { continue }
                let bytes = count == nil ? Int(random.next() % 200_000) : ConnectionAttacks.halfMessageBytes
                Self.relay(RawConnection(descriptor: client), server, bytes: bytes)
                if count == nil { server.reset() } else { held.append(server) }
                tally.send()
                if count != nil { Thread.sleep(forTimeInterval: 1 / Double(ConnectionAttacks.halfMessagesPerSecond)) }
            }
            withExtendedLifetime(held) { while true { Thread.sleep(forTimeInterval: 1) } }
        }
    }

    private static func relay(_ client: RawConnection, _ server: RawConnection, bytes: Int) {
        var left = bytes
        var buffer = [UInt8](repeating: 0, count: 4096)
        while left > 0 {
            var items = [client, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            _ = poll(&items, 2, 1000)
            for (from, to) in [(client, server), (server, client)] {
                let room = from === client ? min(left, buffer.count) : buffer.count
                let count = recv(from.descriptor, &buffer, room, Int32(MSG_DONTWAIT))
                guard count != 0 else { return }
                if count > 0 { to.write(buffer.prefix(count)) }
                if from === client { left -= max(0, count) }
            }
        }
    }
}
