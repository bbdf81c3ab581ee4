import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Sockets` {
    private static let everywhere = ["tcp://127.0.0.1:*", "tcp://localhost:*", "ipc://*", "inproc://sockets-carry"]

    @Test(arguments: everywhere + (RawListener.hasIPv6 ? ["tcp://[::1]:*"] : []))
    func `Sockets carry messages of any size over every transport`(text: String) throws {
        let pull = try Bound(.pull, at: text)
        let push = try connected(.push, to: pull.endpoint)
        for size in [0, 1, 29, 30, 255, 256, 1_000_000] {
            let message = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            try push.push(message)
            #expect(try pull.socket.next() == message)
        }
    }

    @Test func `Sockets send slices and raw bytes as they send arrays`() throws {
        let pull = try Bound(.pull, at: "inproc://sockets-slices")
        let push = try connected(.push, to: pull.endpoint)
        let bytes: [UInt8] = [1, 2, 3, 4]
        #expect(try push.send(bytes[1...2]))
        #expect(try bytes.withUnsafeBytes { try push.send(UnsafeRawBufferPointer(rebasing: $0[2...])) })
        #expect(try pull.socket.next() == [2, 3])
        #expect(try pull.socket.next() == [3, 4])
    }

    @Test func `Sockets stay open until the end of their scope`() throws {
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*")
        let push = try connected(.push, to: pull.endpoint)
        #expect(try push.send([1]))
        #expect(try pull.socket.next() == [1])
    }

    @Test func `Sockets report the chosen port`() throws {
        let pull = try Bound(.pull, at: "tcp://*:*")
        #expect(pull.endpoint.isWildcardHost)
        #expect(try #require(pull.endpoint.port) > 0)
    }

    @Test func `Sockets receive nothing at first, and send nothing without a peer`() throws {
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*")
        let push = try Socket(.push)
        #expect(try pull.socket.receive() == nil)
        #expect(try push.send([1]) == false)
    }

    @Test func `Sockets refuse a message beyond the high-water marks until others are received`() throws {
        let one = SocketOptions.with {
            $0.sendHighWaterMark = 1
            $0.receiveHighWaterMark = 1
        }
        let pull = try Bound(.pull, at: "inproc://sockets-full", options: one)
        let push = try connected(.push, to: pull.endpoint, options: one)
        #expect(try push.send([1]))
        #expect(try push.send([2]))
        #expect(try push.send([3]) == false)
        #expect(try push.wait(for: .writable, timeout: .zero) == false)
        #expect(try pull.socket.next() == [1])
        #expect(try pull.socket.next() == [2])
        try push.push([3])
        #expect(try pull.socket.next() == [3])
    }

    @Test func `Sockets subscribe by prefix`() throws {
        let pub = try Bound(.xpub, at: "tcp://127.0.0.1:*")
        let sub = try connected(.sub, to: pub.endpoint)
        try sub.subscribe(Array("feed".utf8))
        #expect(try pub.socket.next() == [1] + Array("feed".utf8))
        for message in ["other", "feed/1", "fee", "feed/2"] { #expect(try pub.socket.send(Array(message.utf8))) }
        #expect(try sub.next() == Array("feed/1".utf8))
        #expect(try sub.next() == Array("feed/2".utf8))
    }

    @Test func `Sockets report each subscription to a verbose publisher, and the last end of a topic`() throws {
        let pub = try Bound(.xpub, at: "tcp://127.0.0.1:*", options: .with { $0.xpubVerbose = true })
        let sub = try connected(.sub, to: pub.endpoint)
        for topic: [UInt8] in [[7], [7]] { try sub.subscribe(topic) }
        for _ in 0..<2 { try sub.unsubscribe([7]) }
        try sub.subscribe([8])
        for message: [UInt8] in [[1, 7], [1, 7], [0, 7], [1, 8]] { #expect(try pub.socket.next() == message) }
    }

    /// libzmq also processes subscriptions in further frames.
    @Test func `Sockets report each frame of a subscriber to a publisher`() throws {
        let pub = try Bound(.xpub, at: "tcp://127.0.0.1:*", options: .with { $0.xpubVerbose = true })
        let sub = try connected(.xsub, to: pub.endpoint)
        #expect(try sub.send(frames: [[9], [1, 7], [0, 7], [0, 8], [9]]))
        for frame: [UInt8] in [[9], [1, 7], [0, 7], [0, 8], [9]] { #expect(try pub.socket.next() == frame) }
    }

    @Test func `Sockets report a repeated subscription only to a verbose publisher`() throws {
        let pub = try Bound(.xpub, at: "tcp://127.0.0.1:*")
        let sub = try connected(.sub, to: pub.endpoint)
        for topic: [UInt8] in [[7], [7], [8]] { try sub.subscribe(topic) }
        #expect(try pub.socket.next() == [1, 7])
        #expect(try pub.socket.next() == [1, 8])
    }

    @Test func `Sockets drop a whole message of several frames`() throws {
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*")
        let peer = try RawPeer(pushingTo: pull.endpoint)
        try peer.send([1], more: true)
        try peer.send([2], more: true)
        try peer.send([3])
        try peer.send([4])
        #expect(try pull.socket.wait(for: .readable, timeout: .seconds(30)))
        #expect(try pull.socket.receive() == .multipart(frames: 3))
        #expect(try pull.socket.next() == [4])
    }

    @Test
    func `Sockets accept a frame of the maximum size, and disconnect only the sender of one a byte larger`() throws {
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: .with { $0.maxMessageBytes = 100 })
        let bystander = try RawPeer(pushingTo: pull.endpoint)
        try bystander.send([UInt8](repeating: 1, count: 100))
        #expect(try pull.socket.next().count == 100)

        let sinner = try RawPeer(pushingTo: pull.endpoint)
        try sinner.send([2])
        #expect(try pull.socket.next() == [2])
        try sinner.announce(frameOf: 101)
        sinner.waitForDisconnection()

        try bystander.send([3])
        #expect(try pull.socket.next() == [3])
    }

    @Test func `Sockets refuse operations that their kind does not support`() throws {
        let push = try Socket(.push)
        #expect(code { try push.subscribe([]) } == .unsupported)
        #expect(code { try push.unsubscribe([]) } == .unsupported)
        #expect(code { _ = try push.receive() } == .unsupported)
        let pull = try Socket(.pull)
        #expect(code { _ = try pull.send([1]) } == .unsupported)
    }

    @Test func `Sockets refuse to connect to a wildcard`() throws {
        let push = try Socket(.push)
        for text in ["tcp://*:7001", "tcp://0.0.0.0:7001", "tcp://127.0.0.1:*", "ipc://*"] {
            #expect(code { try push.connect(Endpoint(text)) } == .invalidEndpoint)
        }
    }

    @Test func `Sockets refuse a tcp endpoint in use, naming it`() throws {
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*")
        let other = try Socket(.pull)
        let error = #expect(throws: ZeroMQError.self) { try other.bind(pull.endpoint) }
        #expect(error?.code == .addressInUse)
        #expect(error?.message.contains("cannot bind to \(pull.endpoint)") == true)
    }

    @Test func `Sockets refuse a host of another machine`() throws {
        // 192.0.2.0/24 is for documentation, RFC 5737.
        let pull = try Socket(.pull)
        #expect(code { _ = try pull.bind(Endpoint("tcp://192.0.2.1:*")) } == .addressNotAvailable)
        #expect(code { _ = try pull.bind(Endpoint("tcp://no-such-interface:*")) } == .addressNotAvailable)
    }

    @Test(arguments: [
        ("sendHighWaterMark", SocketOptions.with { $0.sendHighWaterMark = 0 }),
        ("receiveHighWaterMark", SocketOptions.with { $0.receiveHighWaterMark = 1 << 31 }),
        ("maxMessageBytes", SocketOptions.with { $0.maxMessageBytes = -1 }),
        ("reconnectInterval", SocketOptions.with { $0.reconnectInterval = .seconds(1 << 40) }),
        ("handshakeInterval", SocketOptions.with { $0.handshakeInterval = .microseconds(1) }),
        ("maxTcpUnacknowledged", SocketOptions.with { $0.maxTcpUnacknowledged = .zero }),
    ]) func `Sockets refuse an option out of its range, naming it`(name: String, options: SocketOptions) {
        let error = #expect(throws: ZeroMQError.self) { _ = try Socket(.xpub, options: options) }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains("the socket option \(name) is out of range") == true)
    }

    @Test(arguments: [SocketKind.xpub, .pub, .sub, .xsub, .push, .pull, .pair])
    func `Sockets accept every option on every kind`(kind: SocketKind) throws {
        let options = SocketOptions.with {
            $0.maxMessageBytes = 1 << 20
            $0.immediate = true
            $0.xpubVerbose = true
            $0.maxReconnectInterval = .seconds(5)
            $0.handshakeInterval = nil
            $0.maxTcpUnacknowledged = .seconds(90)
            $0.receiveBufferBytes = 1 << 18
        }
        let socket = try Socket(kind, options: options)
        #expect(socket.kind == kind)
    }

    @Test func `Sockets throw after their context's shutdown, and let it end`() throws {
        let context = Context()
        let pull = try Socket(.pull, in: context)
        _ = try pull.bind(Endpoint("inproc://terminated"))
        context.shutdown()
        #expect(code { _ = try pull.receive() } == .terminated)
        #expect(code { _ = try pull.wait(for: .readable) } == .terminated)
        #expect(code { _ = try Socket(.pull, in: context) } == .terminated)
    }
}
