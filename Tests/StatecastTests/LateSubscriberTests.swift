import SyncProtocol
import Testing
import ZeroMQ

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A subscriber that reads late` {
    /// Where a connection is replaced while its queue is full, libzmq ends the process as soon as the queue is read.
    @Test func `reads on, though its publisher gave it up`() async throws {
        let crowd = Crowd()
        let publisher = try Socket(
            .xpub,
            options: .with {
                $0.heartbeatInterval = .milliseconds(50)
                $0.heartbeatTimeout = .milliseconds(100)
            }
        )
        let endpoint = try publisher.bind(Endpoint("tcp://127.0.0.1:*"))
        let late = try Self.subscriber(to: "late", at: endpoint)
        while crowd.came["late"] != 1 { try await crowd.look(publisher) }
        while crowd.left["late"] != 1 {
            _ = try publisher.send(Array("late".utf8) + Self.payload)
            try await crowd.look(publisher)
        }
        // To give up another one takes longer than to replace a connection.
        let other = try Self.subscriber(to: "other", at: endpoint)
        while crowd.left["other"] != 1 {
            _ = try publisher.send(Array("other".utf8) + Self.payload)
            try await crowd.look(publisher)
        }
        #expect(crowd.came["late"] == 1)
        while try late.receive() != nil {}
        while crowd.came["late"] != 2 {
            _ = try late.receive()
            try await crowd.look(publisher)
        }
        _ = try publisher.send(Array("late, and there again".utf8))
        while try late.receive() != .message(Array("late, and there again".utf8)) { try await crowd.look(publisher) }
        _ = other.kind
    }

    private static let payload = [UInt8](repeating: 1, count: 1000)

    /// As a replica makes it, with little room.
    private static func subscriber(to topic: String, at endpoint: Endpoint) throws -> Socket {
        var options = SocketOptions.subscriber(Limits())
        options.receiveHighWaterMark = 10
        options.receiveBufferBytes = 4096
        options.reconnectInterval = .milliseconds(10)
        let socket = try Socket(.sub, options: options)
        try socket.subscribe(Array(topic.utf8))
        try socket.connect(endpoint)
        return socket
    }
}

/// Which subscriptions a publisher has seen come and go.
private final class Crowd {
    private(set) var came: [String: Int] = [:]
    private(set) var left: [String: Int] = [:]

    func look(_ publisher: borrowing Socket) async throws {
        while case .message(let bytes)? = try publisher.receive() {
            let topic = String(decoding: bytes.dropFirst(), as: UTF8.self)
            if bytes.first == 1 { came[topic, default: 0] += 1 } else { left[topic, default: 0] += 1 }
        }
        try Task.checkCancellation()
        await Task.yield()
    }
}
