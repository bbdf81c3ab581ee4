import Foundation
import StatecastThreading
import StatecastZeroMQ

/// Attacks by connections, most of them without a key.
enum ConnectionAttacks {
    /// More than the primary may have.
    private static let maxHeld = 4096

    /// Opens connections, sends nothing, and replaces those that were closed.
    @Sendable static func hold(_ target: AttackTarget, _ tally: AttackTally) throws {
        let endpoints = [target.endpoints.actions, target.endpoints.receipts, target.endpoints.publish]
        var held: [RawConnection] = []
        while true {
            while held.count < maxHeld, let next = RawConnection(to: endpoints[held.count % endpoints.count]) {
                held.append(next)
                tally.send()
            }
            let before = held.count
            held.removeAll { $0.isClosed }
            tally.answer(before - held.count)
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Begins the handshake of ZMTP, and stops or resets at a random byte. Some connections announce a command of 2^62
    /// bytes.
    @Sendable static func halfHandshakes(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let greeting =
            [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 1] + Array("CURVE".utf8)
            + [UInt8](repeating: 0, count: 47)
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

    /// Whether the peer has closed or reset it.
    var isClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINPROGRESS
    }

    func write(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        // Waits for the connection.
        var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&item, 1, 10)
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// The end of the connection is a reset.
    func reset() {
        var lingers = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Relays connections to the primary, one at a time, and resets each at a random byte.
private final class CuttingRelay: Sendable {
    let endpoint: String

    init(to target: String, _ tally: AttackTally) throws {
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
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let server = RawConnection(to: target) else { continue }
                Self.relay(RawConnection(descriptor: client), server, bytes: Int(random.next() % 200_000))
                tally.send()
            }
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
        server.reset()
    }
}
