import Foundation
import Logging
import Testing
import ZeroMQ

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A socket whose connections can be closed` {
    /// Publishes on a loop of its own.
    private actor Publishing {
        private let loop: PollLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var socket: RenewableSocket?

        init(on loop: PollLoop) { self.loop = loop }

        func bind(_ endpoint: Endpoint, _ logger: Logger) throws {
            socket = try RenewableSocket(
                .xpub,
                .receipts,
                at: endpoint,
                SocketOptions(),
                on: .init(loop: loop, clock: NodeClock(), logger: logger),
                bind: { socket, endpoint throws(ZeroMQError) in try socket.bind(endpoint) },
                onReadable: {}
            )
        }

        func closeConnections() { socket?.closeConnections(because: "the test says so") }

        var current: ObjectIdentifier? { socket?.current.map(ObjectIdentifier.init) }

        func end() { socket = nil }
    }

    /// libzmq closes sockets one after the other: those of failed attempts would use up the descriptors.
    @Test func `uses one socket for all attempts to bind again`() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path + "/endpoint"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let log = EventLog()
        let publishing = Publishing(on: loop)
        try await publishing.bind(try Endpoint("ipc://\(place)/socket"), LogBook.logger(log))
        let first = await publishing.current
        try FileManager.default.removeItem(atPath: place)
        await publishing.closeConnections()
        let second = await publishing.current
        #expect(first != nil && second != nil && first != second)
        while !log.events.contains(where: { $0.contains("cannot bind again") }) { await Task.yield() }
        #expect(await publishing.current == second)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        while !log.events.contains(where: { $0.contains("bound again") }) { await Task.yield() }
        #expect(await publishing.current == second)
        await publishing.end()
    }
}
