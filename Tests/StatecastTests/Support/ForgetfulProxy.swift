import Foundation
import StatecastZeroMQ
import Synchronization

/// A TCP proxy to one endpoint that can forget its connections, as a NAT does: they stay open, and nothing passes any
/// more. It serves new connections.
final class ForgetfulProxy: Sendable {
    /// Where peers connect.
    let endpoint: String
    private let server: RawServer
    private let upstream: Endpoint
    private let connections = Mutex<[Connection]>([])

    private final class Connection: Sendable {
        let down: RawStream
        let up: RawStream
        let isForgotten = Atomic(false)

        init(down: consuming RawStream, up: consuming RawStream) {
            self.down = down
            self.up = up
        }

        func end() {
            down.hangUp()
            up.hangUp()
        }

        /// Forwards what arrives in one direction, until that ends.
        func forward(from source: borrowing RawStream, to target: borrowing RawStream) {
            while case let bytes = source.readSome(), !bytes.isEmpty {
                if isForgotten.load(ordering: .acquiring) { continue }
                do { try target.write(bytes) } catch { return end() }
            }
            // A forgotten connection does not tell the other end.
            if !isForgotten.load(ordering: .acquiring) { end() }
        }
    }

    /// - Parameter target: a `tcp://127.0.0.1:` endpoint.
    init(to target: String) throws {
        upstream = try Endpoint(target)
        let server = try RawServer()
        self.server = server
        endpoint = server.endpoint.description
        Thread.detachNewThread { [weak self] in
            while let connection = try? server.connection() {
                guard let self else { return }
                self.serve(connection)
            }
        }
    }

    deinit {
        server.stop()
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

    private func serve(_ down: consuming RawStream) {
        guard let up = try? RawStream(to: upstream) else { return }
        let connection = Connection(down: down, up: up)
        connections.withLock { $0.append(connection) }
        Thread.detachNewThread { connection.forward(from: connection.down, to: connection.up) }
        Thread.detachNewThread { connection.forward(from: connection.up, to: connection.down) }
    }
}
