import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A slow subscriber` {
    /// If a connection is replaced while its queue is full, libzmq aborts the process when the queue is read.
    @Test func `A slow subscriber continues to read after its publisher has dropped messages`() async throws {
        let crowd = Crowd()
        // As a primary, but sooner.
        let publisher = try Socket(.xpub, options: .with { $0.maxTcpUnacknowledged = .milliseconds(100) })
        let endpoint = try publisher.bind(Endpoint("tcp://127.0.0.1:*"))
        let late = try Self.subscriber(to: "late", at: endpoint)
        while crowd.came["late"] != 1 { try await crowd.look(publisher) }
        while crowd.left["late"] != 1 {
            _ = try publisher.send(Array("late".utf8) + Self.payload)
            try await crowd.look(publisher)
        }
        // Closing another connection needs more time than replacing one.
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

    /// A replica's socket, with a small queue.
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

/// The subscriptions and unsubscriptions that a publisher has received.
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

@Suite(.timeLimit(.minutes(10))) struct `A slow primary` {
    enum Way: String, CaseIterable, Codable, Sendable {
        case actions, subscriptions

        var peer: String { self == .actions ? "PUSH" : "SUB" }
    }

    /// libzmq aborts the process if a connection breaks while its queue is full and a PING of the peer is unread.
    @Test(arguments: Way.allCases)
    func `A slow primary survives peers that disconnect with unread messages and pings`(way: Way) async {
        await #expect(processExitsWith: .success) { [way] in
            let socket =
                switch way {
                case .actions: try Socket(.pull, options: .puller(Limits()))
                case .subscriptions: try Socket(.xpub, options: .publisher(PrimaryConfiguration()))
                }
            let endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
            // One thread of libzmq serves all connections: when it answers this one, it has read the messages of the
            // others.
            func awaitThread() throws { try RawConnection(to: endpoint, as: way.peer).reset() }
            for count in [2, 10, 1_100] {
                for _ in 0..<5 {
                    let peer = try RawConnection(to: endpoint, as: way.peer)
                    try peer.send(messagesAndPing: (0..<count).map { [1] + Array("\($0)".utf8) })
                    try awaitThread()
                    peer.reset()
                }
                try awaitThread()
                while try socket.receive() != nil {}
                try awaitThread()
            }
        }
    }
}
