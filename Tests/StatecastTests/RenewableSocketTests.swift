import CZeroMQ
import Foundation
import Logging
import Testing

@testable import Statecast
@testable import ZeroMQ

@Suite(.timeLimit(.minutes(10))) struct `A socket whose connections can be closed` {
    /// Publishes on a loop of its own.
    private actor Publishing {
        private let loop: PollLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var socket: RenewableSocket?

        init(on loop: PollLoop) { self.loop = loop }

        func bind(_ endpoint: Endpoint, _ logger: Logger) throws -> Endpoint {
            let socket = try RenewableSocket(
                .xpub,
                .receipts,
                at: endpoint,
                SocketOptions(),
                on: .init(loop: loop, clock: NodeClock(), logger: logger),
                bind: { socket, endpoint throws(ZeroMQError) in try socket.bind(endpoint) },
                onReadable: {}
            )
            self.socket = socket
            return socket.endpoint
        }

        func closeConnections() { socket?.closeConnections(because: "the test says so") }

        /// The connections of the socket that is bound, or to be bound.
        var connections: ConnectionMonitor? { socket?.current?.connections }

        func publish(_ message: [UInt8]) { socket?.send(message) }

        func end() { socket = nil }
    }

    /// libzmq releases sockets one after the other: those of failed attempts would use up the descriptors.
    @Test func `uses one socket for all attempts to bind again`() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path + "/endpoint"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let log = EventLog()
        let publishing = Publishing(on: loop)
        _ = try await publishing.bind(try Endpoint("ipc://\(place)/socket"), LogBook.logger(log))
        let first = await publishing.connections
        try FileManager.default.removeItem(atPath: place)
        await publishing.closeConnections()
        let second = await publishing.connections
        #expect(first != nil && second != nil && first !== second)
        try await log.wait(for: "cannot bind again")
        #expect(await publishing.connections === second)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try await log.wait(for: "bound again")
        #expect(await publishing.connections === second)
        await publishing.end()
    }

    /// After a flood of subscriptions, libzmq needs seconds to release a socket.
    ///
    /// In a process of its own: sockets of other tests could not be released either, and a process has at most 1,023.
    @Test func `lets its peers connect again while libzmq releases the sockets before it, up to two`() async {
        await #expect(processExitsWith: .success) {
            let loop = try PollLoop()
            defer { loop.shutdown() }
            let log = EventLog()
            let publishing = Publishing(on: loop)
            let endpoint = try await publishing.bind(try Endpoint("tcp://127.0.0.1:*"), LogBook.logger(log))
            let peer = try Socket(.sub)
            try peer.connect(endpoint)
            func waitForMessage(_ text: String) async throws {
                try peer.subscribe(Array(text.utf8))
                var received = false
                while !received {
                    try Task.checkCancellation()
                    await publishing.publish(Array(text.utf8))
                    while case .message(let bytes)? = try peer.receive() {
                        received = received || bytes == Array(text.utf8)
                    }
                    await Task.yield()
                }
            }
            try await waitForMessage("first")
            let releases = try BlockedRelease()
            defer { releases.resume() }
            for text in ["second", "third"] {
                let connections = try #require(await publishing.connections)
                await publishing.closeConnections()
                try await waitForMessage(text)
                #expect(!connections.isStopped)
            }
            await publishing.closeConnections()
            try await log.wait(for: "cannot bind again")
            releases.resume()
            try await waitForMessage("fourth")
            await publishing.end()
        }
    }
}

/// Lets libzmq's thread that releases closed sockets wait.
private final class BlockedRelease {
    private let monitor: Socket
    private let endpoint: Endpoint
    private var isBlocked = true

    init() throws {
        endpoint = try Endpoint("inproc://blocked-release-\(UUID())")
        monitor = try Socket(.pair)
        let socket = try Socket(.pull)
        let result = zmq_socket_monitor(socket.handle.used(), endpoint.wireText, ZMQ_EVENT_ALL)
        precondition(result == 0)
        // When it is released, its monitor has an event to send, and no peer to take it.
    }

    func resume() {
        guard isBlocked else { return }
        isBlocked = false
        do { try monitor.connect(endpoint) } catch { Issue.record(error) }
    }
}

extension EventLog {
    fileprivate func wait(for text: String) async throws {
        while !events.contains(where: { $0.contains(text) }) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
