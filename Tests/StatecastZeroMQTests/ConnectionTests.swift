import Foundation
import StatecastThreading
import StatecastZeroMQ
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Connections of a bound socket` {
    private static let server = CurveKeyPair.generate()
    private static let known = CurveKeyPair.generate()
    private static let stranger = CurveKeyPair.generate()

    /// The reports of a socket.
    private final class Tally: Sendable {
        struct Counts {
            var accepted = 0
            var ended = 0
            var open: Int { accepted - ended }
        }

        private let counts = Monitor(Counts())

        func add(_ accepted: Int, _ ended: Int) {
            counts.change { counts in
                counts.accepted += accepted
                counts.ended += ended
            }
        }

        var value: Counts { counts.value }

        /// Returns once the counts meet a condition.
        @discardableResult
        func waits(until condition: @escaping @Sendable (Counts) -> Bool) async throws -> Counts {
            try await counts.wait { condition($0) ? $0 : nil }
        }
    }

    /// A bound socket that reports to a tally.
    private struct Counted: ~Copyable {
        let socket: Socket
        let endpoint: Endpoint

        init(_ tally: Tally, _ options: SocketOptions = SocketOptions(), in context: Context = .shared) throws {
            let socket = try Socket(.pull, options: options, in: context)
            try socket.reportConnections(to: tally.add)
            endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
            self.socket = socket
        }
    }

    /// With a domain that permits the known key only.
    private func serving() throws -> SocketOptions {
        let domain = try AuthenticationHandler.add("test-\(UInt64.random(in: .min ... .max))") { key in
            key == Self.known.publicKey ? "operator" : nil
        }
        return .with {
            $0.security = .server(Self.server, domain)
            $0.handshakeInterval = .milliseconds(500)
        }
    }

    private func client(_ keys: CurveKeyPair, of server: CurvePublicKey = server.publicKey) -> SocketOptions {
        .with {
            $0.security = .client(keys, server: server)
            $0.reconnectInterval = .milliseconds(10)
            $0.handshakeInterval = .seconds(1)
        }
    }

    @Test(arguments: [false, true])
    func `Connections of a bound socket are reported when they begin and when they end`(hasKeys: Bool) async throws {
        let tally = Tally()
        let pull = try Counted(tally, hasKeys ? try serving() : SocketOptions())
        let options = hasKeys ? client(Self.known) : SocketOptions()
        let first = try connected(.push, to: pull.endpoint, options: options)
        try first.push([1])
        #expect(try pull.socket.next() == [1])
        do {
            let second = try connected(.push, to: pull.endpoint, options: options)
            try second.push([2])
            #expect(try pull.socket.next() == [2])
            try await tally.waits { $0.open == 2 }
        }
        try await tally.waits { $0.ended == 1 }
        #expect(tally.value.accepted == 2)
        try await end(first)
        try await tally.waits { $0.open == 0 }
        #expect(tally.value.accepted == 2)
    }

    private func end(_ socket: consuming Socket) async throws {}

    /// How a connection fails before the end of its handshake.
    enum Flaw: CaseIterable {
        case unknownKey, wrongServer, noKey
    }

    @Test(arguments: Flaw.allCases)
    func `Connections of a bound socket that a server refuses end, too`(flaw: Flaw) async throws {
        let tally = Tally()
        let pull = try Counted(tally, try serving())
        let options =
            switch flaw {
            case .unknownKey: client(Self.stranger)
            case .wrongServer: client(Self.known, of: Self.stranger.publicKey)
            case .noKey: SocketOptions.with { $0.reconnectInterval = .milliseconds(10) }
            }
        do {
            let refused = try connected(.push, to: pull.endpoint, options: options)
            // The client of libzmq gives up if the server has another mechanism.
            try await tally.waits { $0.ended >= (flaw == .unknownKey ? 3 : 1) }
            withExtendedLifetime(refused) {}
        }
        try await tally.waits { $0.open == 0 }
        withExtendedLifetime(pull) {}
    }

    @Test(arguments: [[], Array("GET / HTTP/1.1\r\n\r\n".utf8), [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3]])
    func `Connections without a handshake are reported, and end with the handshake interval`(
        bytes: [UInt8]
    ) async throws {
        for options in [try serving(), .with { $0.handshakeInterval = .milliseconds(500) }] {
            let tally = Tally()
            let pull = try Counted(tally, options)
            let silent = try RawStream(to: pull.endpoint)
            try silent.write(bytes)
            try await tally.waits { $0.accepted == 1 }
            try await tally.waits { $0.ended == 1 }
            withExtendedLifetime(pull) {}
        }
    }

    @Test func `Connections of a bound socket end with their socket`() async throws {
        let tally = Tally()
        var silent: [StreamHolder] = []
        try await closesSocket(tally, &silent)
        try await tally.waits { $0.open == 0 }
        #expect(tally.value.accepted == 3)
        #expect(silent.count == 3)
    }

    /// Keeps a connection open.
    private final class StreamHolder {
        private let stream: RawStream

        init(to endpoint: Endpoint) throws { stream = try RawStream(to: endpoint) }
    }

    private func closesSocket(_ tally: Tally, _ silent: inout [StreamHolder]) async throws {
        let pull = try Counted(tally)
        for _ in 0..<3 { silent.append(try StreamHolder(to: pull.endpoint)) }
        try await tally.waits { $0.open == 3 }
        withExtendedLifetime(pull) {}
    }

    @Test func `Connections of a bound socket of a context that is shut down end`() async throws {
        let (tally, context) = (Tally(), Context())
        let pull = try Counted(tally, in: context)
        let silent = try RawStream(to: pull.endpoint)
        try await tally.waits { $0.open == 1 }
        context.shutdown()
        try await tally.waits { $0.open == 0 }
        withExtendedLifetime(pull) {}
        withExtendedLifetime(silent) {}
    }

    /// A context ends after its last socket.
    @Test(arguments: [false, true])
    func `Connections of a bound socket are monitored until their socket is closed`(isBound: Bool) async throws {
        weak var context: Context?
        do {
            let own = Context()
            context = own
            let socket = try Socket(.pull, in: own)
            try socket.reportConnections { _, _ in }
            if isBound { _ = try socket.bind(Endpoint("tcp://127.0.0.1:*")) }
        }
        while context != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// libzmq's thread blocks if a queue of events is full: with its usual limit, after 1,000 connections.
    @Test func `Connections of a bound socket may come and go while no report is processed`() async {
        await #expect(processExitsWith: .success) {
            let (tally, gate) = (Tally(), DispatchSemaphore(value: 0))
            let socket = try Socket(.pull)
            try socket.reportConnections { accepted, ended in
                gate.wait()
                gate.signal()
                tally.add(accepted, ended)
            }
            let endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
            for _ in 0..<5000 {
                let stream = try RawStream(to: endpoint)
                // libzmq's thread sends it.
                try stream.read(10)
                stream.reset()
            }
            let push = try connected(.push, to: endpoint)
            try push.push([1])
            #expect(try socket.next() == [1])
            #expect(tally.value.accepted == 0)
            gate.signal()
            try await tally.waits { $0.open == 1 && $0.accepted == 5001 }
            let next = try connected(.push, to: endpoint)
            try next.push([2])
            #expect(try socket.next() == [2])
            withExtendedLifetime(push) {}
            withExtendedLifetime(next) {}
        }
    }
}
