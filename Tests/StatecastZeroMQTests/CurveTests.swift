import Foundation
import StatecastThreading
import StatecastZeroMQ
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Sockets with CURVE` {
    private let server = CurveKeyPair.generate()
    private let known = CurveKeyPair.generate()
    private let stranger = CurveKeyPair.generate()

    /// The keys that a domain was asked for, and those that it permits.
    private final class Users: Sendable {
        private struct Lists {
            var permitted: [CurvePublicKey: String] = [:]
            var asked: [CurvePublicKey: Int] = [:]
        }

        private let lists = Monitor(Lists())

        func permit(_ keys: CurveKeyPair, as user: String) {
            lists.change { $0.permitted[keys.publicKey] = user }
        }

        func revoke(_ keys: CurveKeyPair) { lists.change { $0.permitted[keys.publicKey] = nil } }

        func decide(_ key: CurvePublicKey) -> String? {
            lists.change { lists in
                lists.asked[key, default: 0] += 1
                return lists.permitted[key]
            }
        }

        /// Waits until a peer has tried to connect again and again.
        func wait(for keys: CurveKeyPair, times: Int) async throws {
            try await lists.wait { ($0.asked[keys.publicKey] ?? 0) >= times ? () : nil }
        }
    }

    /// A socket in a collection.
    private final class Peer {
        let socket: Socket

        init(_ socket: consuming sending Socket) { self.socket = socket }
    }

    /// Options of a server with a domain of its own.
    private func serving(_ users: Users, _ keys: CurveKeyPair? = nil) throws -> SocketOptions {
        let domain = try AuthenticationHandler.add("test-\(UInt64.random(in: .min ... .max))") { users.decide($0) }
        return .with {
            $0.security = .server(keys ?? server, domain)
            $0.handshakeInterval = .milliseconds(500)
        }
    }

    private func client(_ keys: CurveKeyPair, of serverKey: CurvePublicKey? = nil) -> SocketOptions {
        .with {
            $0.security = .client(keys, server: serverKey ?? server.publicKey)
            $0.immediate = true
            $0.reconnectInterval = .milliseconds(10)
            // Of a connection to itself, which is possible while the port is free.
            $0.handshakeInterval = .seconds(1)
        }
    }

    /// Without the handler, libzmq would accept every peer.
    @Test func `Sockets with CURVE end the process if peers can no longer be authenticated`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = Context()
            let domain = try AuthenticationHandler.add("lost", in: context) { _ in nil }
            context.shutdown()
            while true { withExtendedLifetime(domain) { _ = pause() } }
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("peers can no longer be authenticated"))
    }

    /// Nothing shuts down the shared context, also not the end of the process.
    @Test func `Sockets with CURVE leave the exit code of a process that exits while peers are authenticated`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let (sockets, users) = (Self(), Users())
            let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: sockets.serving(users))
            let client = sockets.client(sockets.stranger)
            let peers = try (0..<20).map { _ in Peer(try connected(.push, to: pull.endpoint, options: client)) }
            try await users.wait(for: sockets.stranger, times: 40)
            withExtendedLifetime(peers) { exit(7) }
        }
    }

    @Test func `Sockets with CURVE carry messages of permitted peers`() throws {
        let users = Users()
        users.permit(known, as: "operator")
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(users))
        let push = try connected(.push, to: pull.endpoint, options: client(known))
        try push.push([1, 2, 3])
        #expect(try pull.socket.next() == [1, 2, 3])
    }

    @Test func `Sockets with CURVE refuse others, and let them in when they are permitted`() async throws {
        let users = Users()
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(users))
        let push = try connected(.push, to: pull.endpoint, options: client(stranger))
        try await users.wait(for: stranger, times: 3)
        #expect(try !push.send([1]))
        users.permit(stranger, as: "guest")
        try push.push([2])
        #expect(try pull.socket.next() == [2])
    }

    @Test func `Sockets with CURVE refuse a peer that is revoked, from its next connection on`() async throws {
        let users = Users()
        users.permit(known, as: "operator")
        users.permit(stranger, as: "guest")
        let options = try serving(users)
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: options)
        let endpoint = pull.endpoint
        let revoked = try connected(.push, to: endpoint, options: client(stranger))
        try revoked.push([1])
        #expect(try next(andCloses: pull.intoSocket()) == [1])
        users.revoke(stranger)
        let again = try bound(.pull, at: endpoint, options: options)
        let push = try connected(.push, to: endpoint, options: client(known))
        try await users.wait(for: stranger, times: 3)
        #expect(try !revoked.send([2]))
        try push.push([3])
        #expect(try again.next() == [3])
    }

    @Test func `Sockets with CURVE do not connect to a server with another key`() async throws {
        let users = Users()
        users.permit(known, as: "operator")
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(users))
        let misled = try connected(.push, to: pull.endpoint, options: client(known, of: stranger.publicKey))
        let push = try connected(.push, to: pull.endpoint, options: client(known))
        try push.push([1])
        #expect(try pull.socket.next() == [1])
        #expect(try !misled.send([2]))
    }

    @Test func `Sockets with CURVE do not accept peers without a key`() async throws {
        let users = Users()
        users.permit(known, as: "operator")
        let pull = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(users))
        let plain = try connected(.push, to: pull.endpoint, options: .with { $0.immediate = true })
        let push = try connected(.push, to: pull.endpoint, options: client(known))
        try push.push([1])
        #expect(try pull.socket.next() == [1])
        #expect(try !plain.send([2]))
    }

    @Test func `Sockets with CURVE of one process have peers of their own`() async throws {
        let (first, second) = (Users(), Users())
        first.permit(known, as: "operator")
        second.permit(stranger, as: "guest")
        let one = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(first))
        let two = try Bound(.pull, at: "tcp://127.0.0.1:*", options: serving(second))
        let right = try connected(.push, to: one.endpoint, options: client(known))
        let wrong = try connected(.push, to: two.endpoint, options: client(known))
        try right.push([1])
        #expect(try one.socket.next() == [1])
        try await second.wait(for: known, times: 3)
        #expect(try !wrong.send([2]))
    }

    @Test func `Sockets with CURVE have a domain that no other socket has`() throws {
        let name = "test-\(UInt64.random(in: .min ... .max))"
        do {
            let domain = try AuthenticationHandler.add(name) { _ in nil }
            #expect(code { _ = try AuthenticationHandler.add(name) { _ in nil } } == .addressInUse)
            #expect(domain.name == name)
        }
        #expect(code { _ = try AuthenticationHandler.add(name) { _ in nil } } == nil)
    }

    @Test func `Sockets with CURVE belong to the context of their domain`() throws {
        let options = try serving(Users())
        #expect(code { _ = try Socket(.pull, options: options, in: Context()) } == .invalidOption)
    }

    @Test func `Sockets with CURVE have no domain without a name`() {
        #expect(code { _ = try AuthenticationHandler.add("") { _ in nil } } == .invalidOption)
    }

    private func next(andCloses socket: consuming Socket) throws -> [UInt8] { try socket.next() }

    /// A port is free a moment after its socket was closed.
    private func bound(_ kind: SocketKind, at endpoint: Endpoint, options: SocketOptions) throws -> Socket {
        let socket = try Socket(kind, options: options)
        var failure = code { _ = try socket.bind(endpoint) }
        while failure == .addressInUse {
            Threads.yield()
            failure = code { _ = try socket.bind(endpoint) }
        }
        #expect(failure == nil)
        return socket
    }
}

@Suite struct `A CURVE key pair` {
    @Test func `A CURVE key pair is made again from its secret key`() throws {
        let keys = CurveKeyPair.generate()
        let again = keys.withSecretText { CurveKeyPair(secretText: $0.dropLast()) }
        #expect(again == keys)
        #expect(CurvePublicKey(keys.publicKey.description) == keys.publicKey)
    }

    /// The keys of the test server in ZeroMQ's own tests.
    @Test func `A CURVE key pair has the public key that libzmq's documentation names`() {
        let keys = CurveKeyPair(secretText: Array("JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6".utf8))
        #expect(keys?.publicKey.description == "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")
    }

    @Test func `A CURVE key pair shows its secret nowhere`() {
        let keys = CurveKeyPair.generate()
        let secret = keys.withSecretText { String(decoding: $0.dropLast(), as: UTF8.self) }
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped] {
            #expect(!text.contains(secret))
            #expect(text.contains(keys.publicKey.description))
        }
    }

    @Test(
        arguments: [
            "", "short", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh\n", String(repeating: "\u{E9}", count: 20),
            String(repeating: "#", count: 40),
        ]
    )
    func `A CURVE key pair is not made from other texts`(text: String) {
        #expect(CurveKeyPair(secretText: Array(text.utf8)) == nil)
        #expect(CurvePublicKey(text) == nil)
    }
}
