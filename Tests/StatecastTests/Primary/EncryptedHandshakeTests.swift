import CZeroMQ
import SyncProtocol
import Testing

/// The bound of what a subscriber may send leaves room for encryption.
@Suite(.timeLimit(.minutes(10))) struct `A CURVE handshake` {
    private struct Failed: Error {}

    /// A key pair, as text.
    private static func keys() throws -> (open: [CChar], secret: [CChar]) {
        var (open, secret) = ([CChar](repeating: 0, count: 41), [CChar](repeating: 0, count: 41))
        guard zmq_curve_keypair(&open, &secret) == 0 else { throw Failed() }
        return (open, secret)
    }

    private static func set(_ socket: UnsafeMutableRawPointer?, _ option: Int32, _ value: [CChar]) throws {
        guard zmq_setsockopt(socket, option, value, value.count) == 0 else { throw Failed() }
    }

    @Test func `and the longest topic fit into what a publisher takes from a subscriber`() throws {
        let context = zmq_ctx_new()
        let (publisher, subscriber) = (zmq_socket(context, ZMQ_XPUB), zmq_socket(context, ZMQ_SUB))
        defer {
            zmq_close(publisher)
            zmq_close(subscriber)
            zmq_ctx_term(context)
        }
        let (server, client) = (try Self.keys(), try Self.keys())
        var (isServer, linger, bytesMax) = (Int32(1), Int32(0), Int64(Limits.subscriptionBytesMax))
        zmq_setsockopt(publisher, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        zmq_setsockopt(subscriber, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        #expect(zmq_setsockopt(publisher, ZMQ_MAXMSGSIZE, &bytesMax, MemoryLayout<Int64>.size) == 0)
        #expect(zmq_setsockopt(publisher, ZMQ_CURVE_SERVER, &isServer, MemoryLayout<Int32>.size) == 0)
        try Self.set(publisher, ZMQ_CURVE_SECRETKEY, server.secret)
        try Self.set(subscriber, ZMQ_CURVE_SERVERKEY, server.open)
        try Self.set(subscriber, ZMQ_CURVE_PUBLICKEY, client.open)
        try Self.set(subscriber, ZMQ_CURVE_SECRETKEY, client.secret)

        #expect(zmq_bind(publisher, "tcp://127.0.0.1:*") == 0)
        var (endpoint, size) = ([CChar](repeating: 0, count: 64), 64)
        #expect(zmq_getsockopt(publisher, ZMQ_LAST_ENDPOINT, &endpoint, &size) == 0)
        #expect(zmq_connect(subscriber, endpoint) == 0)
        let topic = [UInt8](repeating: 0x74, count: Limits.topicBytesMax - 1) + [0]
        #expect(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, topic, topic.count) == 0)

        var received = [UInt8](repeating: 0, count: 512)
        var items = [zmq_pollitem_t(socket: publisher, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)]
        // The time only detects that none comes.
        #expect(zmq_poll(&items, 1, 120_000) == 1)
        let count = zmq_recv(publisher, &received, received.count, ZMQ_DONTWAIT)
        #expect(received.prefix(Int(max(0, count))) == [1] + topic[...])
    }
}
