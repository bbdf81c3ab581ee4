import Testing
import ZeroMQ

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A primary that reads late` {
    enum Way: CaseIterable, Sendable { case actions, subscriptions }

    /// Where a connection breaks while the queue behind it is full, libzmq's next heartbeat on it would end the process.
    @Test(arguments: Way.allCases)
    func `lives on, though a peer whose messages wait went away`(way: Way) async throws {
        var options = way == .actions ? SocketOptions.puller(Limits()) : .publisher(PrimaryConfiguration())
        options.receiveHighWaterMark = 10
        options.receiveBufferBytes = 4096
        // If there were any, they would come often.
        if options.heartbeatInterval != nil { options.heartbeatInterval = .milliseconds(20) }
        let socket = try Socket(way == .actions ? .pull : .xpub, options: options)
        let endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
        let peer = try RawConnection(to: endpoint, as: way == .actions ? "PUSH" : "SUB")
        try await peer.flood(way == .actions ? Array("action".utf8) : [1] + Array("topic".utf8))
        peer.reset()
        try await Self.severalHeartbeats()
        while try socket.receive() != nil {}
        let next = try RawConnection(to: endpoint, as: way == .actions ? "PUSH" : "SUB")
        next.reset()
    }

    /// A publisher with heartbeats gives up a subscriber that does not read: that takes several.
    private static func severalHeartbeats() async throws {
        let publisher = try Socket(
            .xpub,
            options: .with {
                $0.heartbeatInterval = .milliseconds(50)
                $0.heartbeatTimeout = .milliseconds(100)
            }
        )
        let stalled = try Socket(
            .sub,
            options: .with {
                $0.receiveHighWaterMark = 10
                $0.receiveBufferBytes = 4096
            }
        )
        try stalled.subscribe([])
        try stalled.connect(publisher.bind(Endpoint("tcp://127.0.0.1:*")))
        var subscriptions = 0
        while subscriptions >= 0 {
            if subscriptions > 0 { _ = try publisher.send([UInt8](repeating: 1, count: 1000)) }
            if case .message(let bytes)? = try publisher.receive() {
                if bytes.first == 0 { return }
                subscriptions += 1
            }
            await Task.yield()
        }
        _ = stalled.kind
    }
}
