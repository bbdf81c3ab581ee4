import Foundation
import Logging
import Testing

@testable import Statecast
@testable import StatecastZeroMQ

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
                onReadable: {}
            )
            self.socket = socket
            return try Endpoint(socket.endpoint)
        }

        func closeConnections() { socket?.closeConnections(because: "the test says so") }

        private weak var noted: RenewableSocket.OpenSocket?

        /// Notes the socket that is bound, or to be bound.
        func note() { noted = socket?.current }

        /// Whether it is the noted one.
        var isNoted: Bool { noted != nil && noted === socket?.current }

        func end() { socket = nil }
    }

    /// libzmq releases sockets one after the other: those of failed attempts would use up the descriptors.
    @Test
    func `A socket whose connections can be closed uses one socket for all attempts to bind again`() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path + "/endpoint"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let log = EventLog()
        let publishing = Publishing(on: loop)
        _ = try await publishing.bind(try Endpoint("ipc://\(place)/socket"), LogBook.logger(log))
        await publishing.note()
        try FileManager.default.removeItem(atPath: place)
        await publishing.closeConnections()
        #expect(await !publishing.isNoted)
        await publishing.note()
        try await log.wait(for: "cannot bind again")
        #expect(await publishing.isNoted)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try await log.wait(for: "bound again")
        #expect(await publishing.isNoted)
        await publishing.end()
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
