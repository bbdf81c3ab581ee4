import Foundation
import Synchronization

/// A TCP proxy to one endpoint that can forget its connections, as a NAT does: they stay open, and nothing passes any
/// more. It serves new connections.
final class ForgetfulProxy: Sendable {
    /// Where peers connect.
    let endpoint: String
    private let listener: Int32
    private let upstream: UInt16
    private let connections = Mutex<[Connection]>([])

    private final class Connection: Sendable {
        let down: Int32
        let up: Int32
        let isForgotten = Atomic(false)

        init(down: Int32, up: Int32) { (self.down, self.up) = (down, up) }

        deinit {
            close(down)
            close(up)
        }

        func end() {
            shutdown(down, Int32(SHUT_RDWR))
            shutdown(up, Int32(SHUT_RDWR))
        }

        /// Forwards what arrives in one direction, until that ends.
        func forward(from source: Int32, to target: Int32) {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
                if isForgotten.load(ordering: .acquiring) { continue }
                var sent = 0
                while sent < count {
                    let written = buffer[sent..<count].withUnsafeBytes {
                        send(target, $0.baseAddress, $0.count, noSignal)
                    }
                    guard written > 0 else { return end() }
                    sent += written
                }
            }
            // A forgotten connection does not tell the other end.
            if !isForgotten.load(ordering: .acquiring) { end() }
        }
    }

    /// - Parameter target: a `tcp://127.0.0.1:` endpoint.
    init(to target: String) throws {
        upstream = try Self.port(of: target)
        let listener = Self.socket()
        self.listener = listener
        var address = Self.address(port: 0)
        guard Self.call(&address, { bind(listener, $0, $1) }) == 0, listen(listener, 128) == 0 else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = Self.call(&address) { name, _ in getsockname(listener, UnsafeMutablePointer(mutating: name), &length) }
        endpoint = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        let thread = Thread { [weak self] in
            while case let down = accept(listener, nil, nil), down >= 0 {
                guard let self else { close(down); break }
                self.serve(down)
            }
            close(listener)
        }
        thread.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { $0 }.forEach { $0.end() }
    }

    /// Forwards nothing more on the present connections.
    ///
    /// - Returns: their number.
    @discardableResult
    func forget() -> Int {
        connections.withLock { connections in
            for connection in connections { connection.isForgotten.store(true, ordering: .releasing) }
            defer { connections = [] }
            return connections.count
        }
    }

    private func serve(_ down: Int32) {
        let up = Self.socket()
        var address = Self.address(port: upstream)
        guard Self.call(&address, { connect(up, $0, $1) }) == 0 else {
            close(up)
            close(down)
            return
        }
        let connection = Connection(down: down, up: up)
        connections.withLock { $0.append(connection) }
        Thread.detachNewThread { connection.forward(from: connection.down, to: connection.up) }
        Thread.detachNewThread { connection.forward(from: connection.up, to: connection.down) }
    }

    // MARK: Sockets

    private static func port(of endpoint: String) throws -> UInt16 {
        guard let port = endpoint.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw POSIXError(.EINVAL)
        }
        return port
    }

    private static func socket() -> Int32 {
        #if canImport(Glibc)
            let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func call(
        _ address: inout sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(UnsafePointer($0), socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

#if canImport(Darwin)
    private let noSignal: Int32 = 0
#else
    private let noSignal = Int32(MSG_NOSIGNAL)
#endif
